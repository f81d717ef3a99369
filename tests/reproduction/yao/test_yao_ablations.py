"""Ablations of MUSA: codecs by name, their rows, and what their trainings were."""

from __future__ import annotations

import dataclasses

from voicenym.reproduction.pages import command, needs
from voicenym.reproduction.paper_list import run, tables
from voicenym.reproduction.yao.yao_ablations import ablations
from voicenym.resynthesis.codec.codec_core import BUNDLED

(TABLE,) = tables("yao-2024", "table-6")


def test_without_codecs_the_bundled_one_has_a_row_and_others_say_what_to_give(bench):
    outcome = ablations(bench)
    (panel,) = outcome.panels
    assert [row.label for row in panel.rows] == [
        "ours MUSA", "ours without L_sem", "ours without L_spk",
    ]  # fmt: skip
    assert panel.rows[0].figures[0].known
    for row in panel.rows[1:]:
        assert all("--codec no-semantic=FOLDER" in figure.missing for figure in row.figures)
    assert not outcome.findings
    assert needs(TABLE).endswith("`--codec`")
    assert "--codec full=FOLDER --codec no-semantic=FOLDER" in command(TABLE)


def test_each_codec_has_a_row_of_its_own_figures(bench):
    given = {"full": BUNDLED, "no-semantic": BUNDLED, "no-speaker": BUNDLED}
    outcome = run(TABLE, dataclasses.replace(bench, codecs=given))
    (panel,) = outcome.panels
    (published,) = TABLE.published
    assert panel.columns == published.columns
    assert [row.beside for row in panel.rows] == list(published.labels)
    full, unspoken, single = (row.figures for row in panel.rows)
    assert full == unspoken, "the same codec"
    # without L_spk the codec decodes from its first codebook alone
    gains = [figures[published.columns.index("G_VD, dB")].value for figures in (full, single)]
    assert gains[0] != gains[1]
    claims = {finding.claim: finding.holds for finding in outcome.findings}
    assert len(claims) == 5
    assert claims["Without L_sem, attackers find more"] is None
    assert claims["Without L_spk, more words are lost"] is None, "there is no recogniser"
    (note,) = outcome.notes
    assert "without L_spk: 5968 steps, 2.68 h" in note
    assert str(BUNDLED) not in str(outcome.plain())
