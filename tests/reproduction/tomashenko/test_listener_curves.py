"""What listeners detect, from answers whose error rates are known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reproduction.conftest import TINY

from voicenym.reproduction.bench import Bench
from voicenym.reproduction.paper_list import run, tables
from voicenym.reproduction.tomashenko.listener_curves import TASKS, tasks

HEAD = "listener\titem\tsystem\tquestion\tkind\tscore"


def rows(extra="", listeners="abcdef"):
    """Listeners: originals are natural, ``good`` is so as often as not, ``bad`` never."""
    found = []
    for listener in listeners:
        for item in range(4):
            half = 9 if item % 2 else 2
            for question, scores in (
                ("naturalness", {"original": 9, "good": half, "bad": 1}),
                ("intelligibility", {"original": 9, "good": 9, "bad": 1}),
            ):
                for system, score in scores.items():
                    found.append((listener, item, system, question, "", score))
            for system, same, different in (("original", 9, 2), ("bad", 2, 9)):
                found.append((listener, item, system, "similarity", "same", same))
                found.append((listener, item, system, "similarity", "different", different))
    return ["\t".join(map(str, row)) + extra for row in found]


def bench(tmp_path, lines, head=HEAD):
    file = tmp_path / "answers.tsv"
    file.write_text("\n".join([head, *lines]) + "\n")
    return Bench(TINY, answers=file)


def rates(panel):
    return {row.label: [f.value for f in row.figures] for row in panel.rows}


def test_rates_of_tasks_are_those_of_the_answers(tmp_path):
    (table,) = tables("tomashenko-2022", "figure-25")
    outcome = run(table, bench(tmp_path, rows()))
    found = rates(outcome.panels[0])
    assert outcome.panels[0].columns == TASKS
    # `bad` is told from originals always; `good` by half of its items
    assert found["listeners, bad"][:2] == [0.0, 0.0]
    assert found["listeners, good"][0] == pytest.approx(100.0 / 3.0)
    assert found["listeners, good"][1] == pytest.approx(50.0)
    # originals have the best curves; pairs of `bad` mislead as often as they can
    assert found["listeners, original"][2:] == [0.0, 0.0]
    assert found["listeners, bad"][2:] == [pytest.approx(50.0)] * 2
    assert list(outcome.drawings) == ["listeners.svg"]


def test_a_claim_that_listeners_tell_originals_needs_every_system(tmp_path):
    (table,) = tables("tomashenko-2022", "figure-25")
    natural, clear = run(table, bench(tmp_path, rows(listeners=range(40)))).findings
    assert natural.holds is True
    assert clear.holds is None  # `good` is as intelligible as originals
    (tmp_path / "six").mkdir()
    natural, _ = run(table, bench(tmp_path / "six", rows())).findings
    assert natural.holds is None  # six listeners do not decide it


def test_originals_are_no_system_of_their_own_tasks():
    assert tasks([]) == {task: {} for task in TASKS}


def test_sets_are_separate(tmp_path):
    (table,) = tables("tomashenko-2022", "figure-26")
    both = bench(tmp_path, rows("\tone") + rows("\ttwo"), f"{HEAD}\tset")
    outcome = run(table, both)
    assert [panel.title for panel in outcome.panels] == [
        "EER of listeners, %, one",
        "EER of listeners, %, two",
    ]
    assert rates(outcome.panels[0]) == rates(outcome.panels[1])
    assert len(outcome.drawings) == 2
    plain = run(table, replace(both, answers=None))
    assert "--answers" in plain.panels[0].rows[0].figures[0].missing


def test_answers_without_sets_say_so(tmp_path):
    (table,) = tables("tomashenko-2022", "figure-26")
    outcome = run(table, bench(tmp_path, rows()))
    assert outcome.panels[0].rows[0].figures[0].missing == "the answers have no column 'set'"
