"""A killed run resumes with the same figures as an uninterrupted one."""

import dataclasses

import numpy as np
import pytest
import torch

from voicenym.attack.attacker_resources import AttackerTraining
from voicenym.attack.attackers import Denoising, Ignorant, LazyInformed
from voicenym.attack.trained.trained_attackers import SemiInformedVerifier
from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import LeftOut
from voicenym.corpus.transforms import Voices
from voicenym.errors import AudioError, VoicenymError
from voicenym.evaluation.evaluation_plan import Plan
from voicenym.evaluation.measurements import finished_parts, protection, utility
from voicenym.evaluation.measurements.finished_parts import FinishedParts, digest, forget
from voicenym.evaluation.measurements.utility import Utility
from voicenym.evaluation.protocol import evaluate
from voicenym.evaluation.results import Measured
from voicenym.evaluation.trial_plans.trials import build
from voicenym.metrics.metric_inputs import Tally
from voicenym.nets import checkpoint
from voicenym.registry import Entry
from voicenym.verification import verifiers


@pytest.fixture
def plan(corpus, spectrum, monkeypatch):
    monkeypatch.setitem(verifiers.VERIFIERS.own, "resemblyzer", Entry(lambda: spectrum))
    trials = build(corpus[:16], enrolment=1, trials=1, same_sex=False)
    systems = (("vtln", {}), ("pv-tsm", {"low": 3.0}))
    only = ("ignorant", "lazy", "key-holder")
    return Plan("speech", trials, systems=systems, only=only, sample=2, replicates=20, keys=4)


def test_a_file_whose_pages_are_damaged_is_named(tmp_path):
    path = tmp_path / "cache.sqlite"
    parts = FinishedParts(path, None, print)
    for number in range(50):
        parts.control("a", number, lambda: (None, "x" * 5000))
    parts.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + bytes([7]) * (len(whole) - 8192))
    again = FinishedParts(path, None, print)
    with pytest.raises(VoicenymError, match="cannot be used as cache"):
        [again.control("a", number, lambda: (None, "")) for number in range(50)]
    again.close()


class Counting:
    """What is computed, and a kill after some of it."""

    def __init__(self, monkeypatch):
        self.done, self.left = [], None
        attack, measure = protection.attack, utility.measure

        def attacking(attackers, scenario, *more, **options):
            self._count((scenario.protection.system, attackers[0].name))
            return attack(attackers, scenario, *more, **options)

        def measuring(recordings, transform, *more, **options):
            self._count(("utility", transform.description))
            return measure(recordings, transform, *more, **options)

        monkeypatch.setattr(protection, "attack", attacking)
        monkeypatch.setattr(utility, "measure", measuring)

    def _count(self, what):
        if self.left is not None:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
        self.done.append(what)


def test_a_killed_run_goes_on_and_finds_the_same(plan, tmp_path, monkeypatch, brief):
    counting, cache = Counting(monkeypatch), tmp_path / "cache.sqlite"
    whole, evidence = evaluate(plan, tmp_path / "other.sqlite")
    every, counting.done = counting.done, []
    assert len(every) == len(set(every))
    counting.left = len(every) - 3
    with pytest.raises(KeyboardInterrupt):
        evaluate(plan, cache)
    before, counting.done, counting.left = counting.done, [], None
    lines = []
    again, found = evaluate(plan, cache, say=lines.append)
    assert before + counting.done == every, "each part is computed once"
    kept = [line for line in lines if line.endswith("from the run that was interrupted")]
    assert len(kept) == len(before) + 1, "and the voice statistics of originals"
    assert "vtln: utility: from the run that was interrupted" in kept
    assert again.unprotected == whole.unprotected
    for one, other in zip(again.systems, whole.systems, strict=True):
        assert one.attacks == other.attacks
        assert one.exposed == other.exposed
        assert one.notes == other.notes
        assert one.utility.keys() == other.utility.keys()
        for metric in one.utility.keys() - {"RTF"}:  # which is a time
            assert repr(one.utility[metric]) == repr(other.utility[metric])
    for name, scores in evidence.scores.items():
        for attacker, values in scores.items():
            np.testing.assert_array_equal(found.scores[name][attacker], values)

    counting.done = []
    other = dataclasses.replace(plan, systems=plan.systems[:1], only=("ignorant",))
    evaluate(other, cache)
    assert counting.done == [], "another choice of systems and attackers needs nothing more"


def test_a_resumed_run_names_what_was_left_out_before(plan, tmp_path, monkeypatch, brief):
    """An attacker's enrolment lacks a recording: the killed run met it, the next one says so."""
    bad = plan.trials.models[0].recordings[0].name
    plan = dataclasses.replace(plan, systems=plan.systems[:1], only=("key search",), keys=2)
    change = Voices.__call__

    def failing(self, samples, recording):
        if recording.name == bad:
            raise AudioError(f"{bad}: no voice")
        return change(self, samples, recording)

    monkeypatch.setattr(Voices, "__call__", failing)
    cache, measure = tmp_path / "cache.sqlite", utility.measure

    def killed(recordings, transform, *more, **options):
        if transform.steps:
            raise KeyboardInterrupt
        return measure(recordings, transform, *more, **options)

    monkeypatch.setattr(utility, "measure", killed)
    first = LeftOut()
    with pytest.raises(KeyboardInterrupt):
        evaluate(plan, cache, left_out=first)
    assert [(one.name, one.step) for one in first] == [(bad, "vtln")]
    monkeypatch.setattr(utility, "measure", measure)
    lines = []
    again, _ = evaluate(plan, cache, say=lines.append, left_out=LeftOut())
    assert any("key search" in x and x.endswith("run that was interrupted") for x in lines)
    assert [(one.name, one.reason, one.step) for one in again.left_out] == [
        (one.name, one.reason, one.step) for one in first
    ]


def test_other_code_or_sound_finds_nothing_again(plan, tmp_path, monkeypatch):
    recording = plan.trials.recordings[0]
    assert digest(recording) == digest(dataclasses.replace(recording))
    assert digest(recording) != digest(dataclasses.replace(recording, text="else"))
    changed = tmp_path / "changed.wav"
    changed.write_bytes(recording.path.read_bytes() + b"\0\0")
    assert digest(recording) != digest(dataclasses.replace(recording, path=changed))
    moved = tmp_path / "moved.wav"
    moved.write_bytes(recording.path.read_bytes())
    assert digest(recording) == digest(dataclasses.replace(recording, path=moved))
    first = FinishedParts(tmp_path / "a.sqlite", plan, print)
    monkeypatch.setattr(finished_parts, "source", lambda: b"another release")
    other = FinishedParts(tmp_path / "a.sqlite", plan, print)
    found = [Utility({"WER": Measured(float(n))}, ()) for n in range(2)]
    assert first.utility("x", "x", lambda: found[0]) == found[0]
    assert other.utility("x", "x", lambda: found[1]) == found[1]
    monkeypatch.undo()
    same = FinishedParts(tmp_path / "a.sqlite", dataclasses.replace(plan, only=()), print)
    assert same.utility("x", "x", lambda: found[1]) == found[0]
    more = FinishedParts(tmp_path / "a.sqlite", dataclasses.replace(plan, replicates=30), print)
    assert more.utility("x", "x", lambda: found[1]) == found[1]
    forget(tmp_path / "a.sqlite")
    assert same.utility("x", "x", lambda: found[1]) == found[1]


def test_digests_distinguish_attackers_and_values():
    values = [
        Ignorant(), LazyInformed(), Denoising("mean"), Denoising("median"),
        1, 1.0, "1", (1, 2), ((1,), 2), {"a": 1}, {"a": 2}, None, Recording,
        np.zeros(2), np.zeros((1, 2)), np.zeros(2, dtype=np.float32),
    ]  # fmt: skip
    assert len({digest(value) for value in values}) == len(values)
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest(Denoising("mean")) == digest(Denoising("mean"))


def test_other_weights_under_one_name_find_nothing_again(plan, tmp_path):
    class Judge:
        name = "judge"

        def __init__(self, identity):
            self.identity = identity

    parts = [
        FinishedParts(tmp_path / "a.sqlite", dataclasses.replace(plan, **{field: given}), print)
        for field in ("recogniser", "phones", "retrained")
        for weights in ("1", "2", "1")
        for given in [{"vtln": Judge(weights)} if field == "retrained" else Judge(weights)]
    ]
    found = [
        one.utility("x", "x", lambda n=n: Utility({"WER": Measured(float(n))}, ())).figures["WER"]
        for n, one in enumerate(parts)
    ]
    assert [one.value for one in found] == [0, 1, 0, 3, 4, 3, 6, 7, 6]

    folder = tmp_path / "verifier"
    checkpoint.write(folder, {"w": torch.zeros(2)}, {"kind": "x"})
    training = AttackerTraining(tmp_path, 60.0, str(folder), pretrained=folder)
    before = digest(training), SemiInformedVerifier(training).settings()
    assert before == (digest(training), SemiInformedVerifier(training).settings())
    checkpoint.write(folder, {"w": torch.ones(2)}, {"kind": "x"})
    assert digest(training) != before[0]
    assert SemiInformedVerifier(training).settings() != before[1]

    recipe = tmp_path / "recipe.yaml"
    found = []
    for steps in (10, 20, 10):
        recipe.write_text(f"steps: {steps}\n")
        own = dataclasses.replace(training, config=str(recipe))
        found.append(SemiInformedVerifier(own).settings())
    assert found[0] != found[1], "a verifier of the former recipe is not used again"
    assert found[0] == found[2]


def test_utility_comes_back_as_it_was(plan, tmp_path):
    parts = FinishedParts(tmp_path / "a.sqlite", plan, print)
    tally = Tally(np.array([1.0, 0.0]), np.array([4.0, 3.0]), ("u1", "u2"), ("s1", "s2"))
    figures = {"WER": Measured(40.0, 30.0, 50.0, "%"), "G_VD": Measured(float("-inf"))}
    made = Utility(figures, ("a note",), {"WER": tally})
    parts.utility("x", "x", lambda: made)
    again = parts.utility("x", "x", lambda: pytest.fail("computed again"))
    assert again.figures == made.figures
    assert again.notes == made.notes
    found = again.tallies["WER"]
    assert (found.names, found.speakers) == (tally.names, tally.speakers)
    np.testing.assert_array_equal(found.above, tally.above)
    np.testing.assert_array_equal(found.below, tally.below)
    nothing = FinishedParts(None, plan, print)
    assert nothing.utility("x", "x", lambda: made) is made
