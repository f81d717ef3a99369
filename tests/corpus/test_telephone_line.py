"""All recordings of an evaluation with a telephone line pass the line."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym import Key
from voicenym.attack.scenario import Protection
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import RATE
from voicenym.corpus.telephone_line import TelephoneLine
from voicenym.corpus.transforms import Transform
from voicenym.errors import VoicenymError
from voicenym.evaluation.evaluation_plan import Plan
from voicenym.evaluation.measurements import utility
from voicenym.evaluation.protocol import evaluate
from voicenym.evaluation.trial_plans.trials import build
from voicenym.registry import Entry
from voicenym.verification import verifiers


def share_above(samples, hertz):
    power = np.abs(np.fft.rfft(samples * np.hanning(len(samples)))) ** 2
    frequencies = np.fft.rfftfreq(len(samples), 1 / RATE)
    return power[frequencies > hertz].sum() / power.sum()


def test_nothing_above_four_kilohertz_is_left_and_speech_is(corpus):
    rng = np.random.default_rng(0)
    noise = (0.1 * rng.standard_normal(2 * RATE)).astype(np.float32)
    found = TelephoneLine("g711")(noise, corpus[0])
    assert found.shape == noise.shape
    assert share_above(noise, 4000) == pytest.approx(0.5, abs=0.02)
    assert share_above(found, 4100) < 1e-5
    time = np.arange(2 * RATE) / RATE
    tone = (0.2 * np.sin(2 * np.pi * 1000 * time)).astype(np.float32)
    received = TelephoneLine("g711")(tone, corpus[0])
    inner = slice(500, -500)
    noise_power = np.mean((received - tone)[inner] ** 2)
    assert 10 * np.log10(np.mean(tone[inner] ** 2) / noise_power) > 33.0


def test_caches_distinguish_lines_and_check_them():
    one, other = Transform((TelephoneLine("g711"),)), Transform((TelephoneLine("gsm"),))
    assert one.description == "line g711"
    assert one.steps[0].identity(None) != other.steps[0].identity(None)
    with pytest.raises(VoicenymError, match=r"--line isdn: no such line; there are: g711, g711-m"):
        TelephoneLine("isdn")


def test_a_system_comes_before_the_line_under_every_key(corpus):
    line = (TelephoneLine("g711"),)
    protection = Protection.by("vtln", Key(bytes(32)), line=line)
    for transform in (protection.transform, protection.with_key(Key(bytes(range(32))), "speaker")):
        assert [step.description for step in transform.steps] == ["vtln", "line g711"]
        assert share_above(transform(corpus[0]), 4100) < 1e-4
    assert protection.original == Transform(line)
    assert protection.protects
    assert not Protection.nothing(line).protects


def test_all_that_attackers_and_recognisers_get_has_passed_the_line(corpus, spectrum, monkeypatch):
    received = []

    class Narrow(type(spectrum)):
        def embed(self, recordings):
            received.extend(share_above(samples, 4100) for samples in recordings)
            return super().embed(recordings)

    monkeypatch.setitem(verifiers.VERIFIERS.own, "resemblyzer", Entry(lambda: Narrow()))
    line = (TelephoneLine("g711"),)
    plan = Plan(
        "corpus", build(corpus[:16], enrolment=2, trials=2), systems=(("vtln", {}),),
        verifiers=("resemblyzer",), keys=2, only=("lazy", "key search"), line=line,
        replicates=20, sample=1,
    )  # fmt: skip
    evaluation, _ = evaluate(plan)
    assert {a.attacker for a in evaluation.systems[0].attacks} == {"lazy-informed", "key search"}
    assert len(received) >= 16 + 8 + 8 + 2 * 8, (
        "originals, trials, enrolment, and two keys searched"
    )
    assert max(received) < 1e-3
    # the tables of originals are of originals over the line
    sample = utility._pairs(corpus[:1], plan_transform(line), line, {"replicates": 20})
    assert share_above(sample.original[0], 4100) < 1e-4
    with Embedder() as embedder:
        narrow = embedder(spectrum, corpus[:1], Transform(line))
        assert np.linalg.norm(narrow - embedder(spectrum, corpus[:1])) > 1.0


def plan_transform(line):
    return Protection.by("vtln", Key(bytes(32)), line=line).transform
