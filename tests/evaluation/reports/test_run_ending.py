"""The last lines of an evaluation, of results with known figures."""

import dataclasses
from pathlib import Path

from voicenym.evaluation.reports.run_ending import ending
from voicenym.evaluation.results import Measured


def test_each_system_has_its_figure_and_its_price(found):
    evaluation, _ = found
    bent, sturdy = evaluation.systems
    keys = tuple(dataclasses.replace(attack, holds_key=True) for attack in sturdy.attacks)
    changed = dataclasses.replace(
        evaluation,
        systems=(
            dataclasses.replace(bent, utility={"WER": Measured(40.0, 30.0, 50.0, "%")}),
            dataclasses.replace(sturdy, attacks=keys, utility={}),
        ),
        utility={"WER": Measured(8.04, None, None, "%")},
        recordings=72,
        speakers=6,
    )
    top = bent.strongest
    bare = min(attack.eer.value for attack in evaluation.unprotected)
    first, figure, price, unknown, last = ending(changed, Path("report/index.html"))
    assert first == "evaluated: 2 systems, 72 recordings of 6 speakers"
    assert figure.startswith(
        f"{bent.name}: strongest attacker {top.attacker}, EER {top.eer.value:.1f}"
    )
    assert figure.endswith(f" % ({bare:.1f} % without a system, 50 % is chance)")
    assert price == f"{bent.name}: price WER 40.0 % (8.0 before)"
    assert unknown.startswith(f"{sturdy.name}: no attacker without the key was tried")
    assert last == "written to: report/index.html"


def test_without_originals_they_are_not_mentioned(found):
    evaluation, _ = found
    alone = dataclasses.replace(
        evaluation, unprotected=(), utility={}, systems=evaluation.systems[:1]
    )
    lines = ending(alone, Path("index.html"))
    assert lines[0].startswith("evaluated: 1 system, ")
    assert "without a system" not in lines[1]
    assert "before" not in " ".join(lines)
