"""Prosody trajectories: the measures, their independence of the voice, and speakers found."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from voicenym import Key, read
from voicenym.anonymizer import load
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import read as read_folder
from voicenym.nets.checkpoint import write
from voicenym.training.speakers.verifier_training import train_verifier
from voicenym.verification.prosody import (
    NAMES,
    OF_PITCH,
    ProsodyVerifier,
    _of_pitch,
    levels,
    measure,
)

RATE = 16_000
NUMBER = {name: place for place, name in enumerate(NAMES)}


def bursts(seconds: float, a_second: float, floor: float, seed: int = 0) -> np.ndarray:
    """Noise that is loud half of the time, and ``floor`` dB fainter between."""
    time = np.arange(round(seconds * RATE)) / RATE
    loud = (time * a_second) % 1.0 < 0.5
    noise = np.random.default_rng(seed).normal(size=len(time))
    return (0.1 * np.where(loud, 1.0, 10.0 ** (floor / 20.0)) * noise).astype(np.float32)


def tone(f0: np.ndarray) -> np.ndarray:
    """A voice of this pitch at every sample, its harmonics falling by 6 dB an octave."""
    phase = 2.0 * np.pi * np.cumsum(f0) / RATE
    return (0.2 * sum(np.sin(k * phase) / k for k in range(1, 8))).astype(np.float32)


def test_levels_of_bursts_are_those_they_were_made_with():
    numbers = measure([bursts(8.0, 2.0, -40.0)])[0]
    low, high = (NUMBER[f"level that {q} % stay below, dB from the mean"] for q in (20, 80))
    assert numbers[high] - numbers[low] == pytest.approx(40.0, abs=1.5)
    assert numbers[NUMBER["share of time spoken"]] == pytest.approx(0.5, abs=0.02)
    assert numbers[NUMBER["beginnings of speech a second"]] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(("hertz", "band"), [(0.7, "0.3 to 1"), (3.0, "2 to 4"), (6.0, "4 to 8")])
def test_level_moves_where_it_was_moved(hertz, band):
    time = np.arange(10 * RATE) / RATE
    noise = np.random.default_rng(1).normal(size=len(time))
    swinging = 0.1 * 10.0 ** (0.5 * np.sin(2.0 * np.pi * hertz * time)) * noise
    numbers = measure([swinging.astype(np.float32)])[0]
    named = {name: place for name, place in NUMBER.items() if "movements" in name}
    strongest = max(named, key=lambda name: numbers[named[name]])
    assert f", {band} Hz" in strongest


def test_pitch_is_described_whatever_its_register():
    time = np.arange(4 * RATE) / RATE
    shape = np.exp(-0.1 * time + 0.1 * np.sin(2.0 * np.pi * time))
    low, high = measure([tone(110.0 * shape), tone(190.0 * shape)])
    fall, spread = NUMBER["fall of log F0 a second"], NUMBER["log spread of log F0"]
    assert low[fall] == pytest.approx(-0.1, abs=0.03)
    expected = np.std(np.log(shape))
    assert np.exp(low[spread]) - 0.01 == pytest.approx(expected, rel=0.1)
    # of bands without movement nothing is left but rounding
    np.testing.assert_allclose(low[-OF_PITCH:], high[-OF_PITCH:], atol=0.15)


def test_no_gain_changes_it():
    speech = bursts(4.0, 3.0, -30.0)
    np.testing.assert_allclose(measure([speech]), measure([0.25 * speech]), atol=1e-2)


def test_another_voice_leaves_it_alone(sample):
    audio = read(sample)
    other = load("vtln")(audio, Key(bytes(32)).pseudonym("a"))
    original, changed = (np.asarray(one.samples).reshape(-1) for one in (audio, other))
    before, after = measure([original, changed])
    names = ("share of time spoken", "beginnings of speech a second", "log spread of log F0")
    for place in (NUMBER[name] for name in names):
        assert after[place] == pytest.approx(before[place], rel=0.15)
    loud = levels(original) > -20.0
    assert np.abs(levels(changed) - levels(original))[loud].mean() < 2.0


def test_what_cannot_be_measured_is_distinguished():
    numbers = measure(
        [np.zeros(RATE, np.float32), bursts(0.2, 2.0, -20.0), bursts(2.0, 2.0, -20.0)]
    )
    assert np.isnan(numbers[:2]).all()
    assert np.isfinite(numbers[2, :-OF_PITCH]).all()
    assert np.isnan(numbers[2, -OF_PITCH:]).all()  # noise has no pitch


def test_a_tracker_that_jumps_between_two_registers_is_not_believed():
    f0 = np.repeat([90.0, 0.0, 420.0], 20)
    assert np.isnan(_of_pitch(f0, np.zeros(len(f0)))).all()


def test_weights_of_another_kind_are_refused(verifier, tmp_path):
    config, tensors = read_folder(verifier.folder)
    write(tmp_path, {"scale": tensors["scale"]}, config)
    with pytest.raises(VoicenymError, match="holds no prosody model"):
        ProsodyVerifier(tmp_path).backend()


@dataclass(frozen=True)
class Knocking:
    """Somebody with a rhythm and a room of his own."""

    number: int
    take: int

    @property
    def speaker(self) -> str:
        return f"s{self.number}"

    def samples(self) -> np.ndarray:
        own = np.random.default_rng(self.number)
        take = np.random.default_rng((self.number, self.take))
        rhythm = own.uniform(1.5, 5.0) * np.exp(0.05 * take.normal())
        floor = own.uniform(-45.0, -20.0) + take.normal()
        return bursts(3.0, rhythm, floor, int(take.integers(2**31)))


@pytest.fixture(scope="module")
def verifier(tmp_path_factory):
    people = [Knocking(s, take) for s in range(30) for take in range(5)]
    return train_verifier(ProsodyVerifier, people, tmp_path_factory.mktemp("prosody")).verifier


def test_finds_people_that_it_did_not_learn_from(verifier):
    vectors = verifier.embed([Knocking(s, t).samples() for s in range(50, 60) for t in range(4)])
    scores = verifier.backend().score(
        [vectors[4 * s : 4 * s + 3] for s in range(10)], vectors[3::4]
    )
    assert (scores.argmax(0) == np.arange(10)).mean() >= 0.8
    # log-likelihood ratios: the right ones speak for, most of the others against
    own = np.eye(10, dtype=bool)
    assert np.median(scores[own]) > 0.0 > np.median(scores[~own])


def test_silence_is_the_mean(verifier):
    assert not verifier.embed([np.zeros(RATE, np.float32)]).any()


def test_is_pickled_and_read_again(verifier):
    samples = [Knocking(3, 9).samples()]
    for other in (pickle.loads(pickle.dumps(verifier)), ProsodyVerifier(verifier.folder)):
        assert other.version == verifier.version
        np.testing.assert_array_equal(other.embed(samples), verifier.embed(samples))


@dataclass(frozen=True)
class Nothing:
    speaker: str = "n"

    def samples(self) -> np.ndarray:
        return np.zeros(RATE, np.float32)


def test_silence_and_one_speaker_teach_nothing(tmp_path):
    with pytest.raises(VoicenymError, match="silence"):
        train_verifier(ProsodyVerifier, [Nothing(), Nothing("m")], tmp_path)
    with pytest.raises(VoicenymError, match="speaker"):
        train_verifier(ProsodyVerifier, [Knocking(0, take) for take in range(4)], tmp_path)
