"""Recordings that a system fails on, and those of which it leaves silence."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("scipy")

from voicenym.corpus.embedder import SILENT
from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import LeftOut
from voicenym.corpus.transforms import Transform
from voicenym.evaluation.evaluation_plan import Plan
from voicenym.evaluation.trial_plans.trials import build
from voicenym.evaluation.usable_recordings import sound

HIDDEN, OTHER = Transform(), Transform()


class Failing:
    """An embedder that fails on recordings of a transform, by their names."""

    def __init__(self, why):
        self.left_out, self._why = LeftOut(), why

    def failing(self, verifier, recordings, transform):
        own = next((why for which, why in self._why if which is transform), {})
        return {one.name: own[one.name] for one in recordings if one.name in own}


@pytest.fixture
def plan():
    people = [Recording(f"{s}{u}", s, Path("x"), "f", "word") for s in "abcd" for u in range(7)]
    return Plan("x", build(people), sample=100)


def test_words_that_a_system_leaves_silent_are_lost_and_not_left_out(plan):
    tried = [recording.name for recording in plan.trials.recordings]
    silent, broken, both = tried[0], tried[4], tried[8]
    why = [
        (HIDDEN, {silent: f"x: {SILENT}", both: f"x: {SILENT}", broken: "x: no pitch"}),
        (OTHER, {both: "x: no pitch"}),
    ]
    targets = {"hidden": HIDDEN, "other": OTHER}
    usable = sound(plan, targets, ["verifier"], "statistics", Failing(why))
    left = {recording.name for recording in usable.plan.trials.recordings}
    assert left == set(tried) - {silent, broken, both}
    sampled = [recording.name for recording in usable.plan.sampled()]
    assert sorted(sampled) == sorted(set(tried) - {broken, both})
    assert usable.failed == {"hidden": 3, "other": 1}
    note = usable.notes["hidden"]
    assert "no figure counts them, except that the 2 silent ones" in note
    assert "words lost" in note
    assert "0 in rho_F0" in note
    assert "DNSMOS cannot rate silence" in note
    assert "silent ones" not in usable.notes["other"]


def test_without_failures_what_is_tried_is_measured(plan):
    usable = sound(plan, {"hidden": HIDDEN}, ["verifier"], "statistics", Failing([]))
    assert usable.plan.sampled() == plan.sampled()
    assert not usable.notes
