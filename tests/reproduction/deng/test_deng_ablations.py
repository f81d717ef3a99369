"""Ablations of V-Cloak: cloaks by name, their rows, and what their trainings were."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from voicenym.errors import VoicenymError
from voicenym.reproduction.deng.deng_ablations import ABLATIONS, ablations
from voicenym.reproduction.named_folders import named_folders
from voicenym.reproduction.pages import command, needs
from voicenym.reproduction.paper_list import run, tables
from voicenym.systems.vcloak import BUNDLED, TARGETED

(TABLE,) = tables("deng-2023", "table-20")


def test_cloaks_are_named():
    assert named_folders(["full=a/b", "no-words=c=d"], "--cloak", ABLATIONS) == {
        "full": Path("a/b"),
        "no-words": Path("c=d"),
    }
    for wrong in ("full", "full=", "loud=a"):
        with pytest.raises(VoicenymError, match="one of full, no-words"):
            named_folders([wrong], "--cloak", ABLATIONS)


def test_without_cloaks_the_table_says_what_to_give(bench):
    (note,) = ablations(bench).notes
    assert "--cloak full=FOLDER" in note
    assert needs(TABLE) == "nothing; more with `--speech` and `--recogniser-weights` and `--cloak`"
    assert "--cloak full=FOLDER --cloak no-words=FOLDER" in command(TABLE)


def test_each_cloak_has_a_row_of_its_own_figures(bench):
    given = dataclasses.replace(bench, cloaks={"full": BUNDLED, "no-words": TARGETED})
    outcome = run(TABLE, given)
    shared, apart = outcome.panels
    (published,) = TABLE.published
    assert shared.title == published.title
    assert shared.columns == published.columns
    assert shared.rows[0].figures[0].missing == "no anonymization"
    assert shared.rows[0].figures[1].known
    labels = ["ours, originals", "ours, all losses", "ours, without L_ASR"]
    assert [row.label for row in shared.rows] == labels
    assert shared.rows[2].beside == published.labels[0]
    assert [row.label for row in apart.rows] == labels[1:]
    first, second = (row.figures[0].value for row in apart.rows)
    assert 0 < first < 30
    assert first != second
    assert all(row.figures[1].known for row in apart.rows)
    assert [finding.claim for finding in outcome.findings] == [
        "Without L_ASR, the EER is higher",
        "Without L_ASR, the MMR is higher",
        "Without L_ASR, more words are lost",
    ]
    same = dataclasses.replace(bench, cloaks={"full": BUNDLED, "no-words": BUNDLED})
    assert {finding.holds for finding in ablations(same).findings} == {None}
    assert outcome.findings[2].holds is None  # there is no recogniser
    assert f"{ABLATIONS['full']}: levels of a filterbank" in outcome.notes[0]
    assert str(BUNDLED) not in str(outcome.plain())
