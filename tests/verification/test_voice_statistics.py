"""Voice statistics on voices of known pitch, formants and tilt."""

from __future__ import annotations

import csv
import pickle

import numpy as np
import pytest
import soundfile
from scipy.signal import lfilter

from voicenym.errors import VoicenymError
from voicenym.training.speakers.verifier_training import train_verifier
from voicenym.verification.voice_statistics import NAMES, RATE, Population, VoiceStatistics, measure

FORMANTS = (600.0, 1_500.0, 2_500.0, 3_500.0, 4_400.0)


class Said:
    """A recording of somebody."""

    def __init__(self, speaker, sound):
        self.speaker, self._sound = speaker, sound

    def samples(self):
        return self._sound


def vowel(f0=120.0, scale=1.0, seconds=1.0, swing=0.0, seed=0):
    """Pulses through five resonances; pitch swings by so many semitones either way."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * RATE)) / RATE
    track = f0 * 2.0 ** (swing / 12.0 * np.sin(2.0 * np.pi * 2.0 * t))
    phase = np.cumsum(track) / RATE
    pulses = np.diff(np.floor(phase), prepend=0.0) + 1e-3 * rng.normal(size=len(t))
    signal = lfilter([1.0], [1.0, -0.97], pulses)
    for formant in FORMANTS:
        radius = np.exp(-np.pi * 80.0 / RATE)
        angle = 2.0 * np.pi * formant * scale / RATE
        signal = lfilter([1.0], [1.0, -2.0 * radius * np.cos(angle), radius**2], signal)
    return (0.3 * signal / np.abs(signal).max()).astype(np.float32)


def number(name: str, samples: np.ndarray) -> float:
    return float(measure([samples])[0, NAMES.index(name)])


@pytest.mark.parametrize("f0", [90.0, 130.0, 220.0, 330.0])
def test_pitch_is_that_of_the_voice(f0):
    assert np.exp(number("log F0", vowel(f0))) == pytest.approx(f0, rel=0.01)


def test_spread_is_half_of_the_middle_two_thirds():
    # a sine lies between its 16th and 84th percentile in +-sin(0.68 pi / 2) of its swing
    spread = np.exp(number("log F0 spread", vowel(150.0, swing=3.0, seconds=2.0))) - 0.3
    assert spread == pytest.approx(3.0 * np.sin(0.68 * np.pi / 2.0), rel=0.1)
    assert number("log F0 spread", vowel(150.0)) == pytest.approx(np.log(0.3), abs=0.3)


@pytest.mark.parametrize("scale", [0.9, 1.0, 1.05])
def test_formants_are_those_of_the_voice(scale):
    found = np.exp(measure([vowel(110.0, scale)])[0, 2:6])
    np.testing.assert_allclose(found, np.array(FORMANTS[:4]) * scale, rtol=0.05)


def test_tilt_is_that_of_a_filter():
    x = vowel(110.0)
    steeper = lfilter([1.0], [1.0, -0.9], x).astype(np.float32)
    hertz = 100.0 * 2.0 ** np.arange(0.0, 5.3, 1.0 / 3.0)
    level = -20.0 * np.log10(np.abs(1.0 - 0.9 * np.exp(-2j * np.pi * hertz / RATE)))
    wanted = np.polyfit(np.log2(hertz), level, 1)[0]
    assert number("tilt", steeper) - number("tilt", x) == pytest.approx(wanted, abs=0.5)


def test_level_tells_nothing():
    x = vowel()
    np.testing.assert_allclose(measure([0.1 * x]), measure([x]), atol=0.02)


def test_alone_or_among_others():
    x = [vowel(90.0 + 7.0 * i, seconds=0.4 + 0.05 * i, seed=i) for i in range(20)]
    verifier = VoiceStatistics()
    alone = np.concatenate([verifier.embed([one]) for one in x])
    np.testing.assert_array_equal(verifier.embed(x), alone)
    assert alone.dtype == np.float32
    assert alone.shape == (20, len(NAMES))


@pytest.mark.parametrize("length", [1, 400, 1_600, 16_000])
def test_where_there_is_no_voice_all_is_usual(length):
    x = [np.zeros(length, np.float32), vowel()]
    found = VoiceStatistics().embed(x)
    assert (found[0] == 0.0).all()
    assert (found[1] != 0.0).any()
    assert VoiceStatistics().embed([]).shape == (0, len(NAMES))


def test_trained_features_are_standard_and_distinguish_voices(tmp_path):
    voices = [(100.0, 0.95), (115.0, 1.03), (180.0, 1.05), (230.0, 1.0), (140.0, 0.9)]
    x, speakers = [], []
    for who, (f0, scale) in enumerate(voices):
        for take in range(4):
            x.append(vowel(f0 * (1.0 + 0.01 * take), scale, 0.5, swing=0.5 + take, seed=take))
            speakers.append(f"s{who}")
    verifier = train_verifier(VoiceStatistics(), list(map(Said, speakers, x)), tmp_path).verifier
    vectors = verifier.embed(x).astype(float)
    assert np.abs(vectors.mean(0)).max() < 1e-5
    assert ((vectors.std(0) > 0.6) & (vectors.std(0) < 1.2)).all()
    for backend in (verifier, verifier.adapted(vectors, speakers)):
        scores = backend.score([vectors[4 * s : 4 * s + 3] for s in range(5)], vectors[3::4])
        assert scores.argmax(0).tolist() == [0, 1, 2, 3, 4]
        assert (np.diag(scores) > 0.0).all()


def test_it_travels_to_workers_and_names_its_version():
    verifier = VoiceStatistics()
    copy = pickle.loads(pickle.dumps(verifier))
    x = [vowel()]
    np.testing.assert_array_equal(copy.embed(x), verifier.embed(x))
    assert copy.version == verifier.version
    other = Population((0.0,) * 7, (1.0,) * 7, (0.5,) * 7)
    assert VoiceStatistics(other).version != verifier.version


def test_what_cannot_be_learnt_from_is_refused(tmp_path):
    with pytest.raises(VoicenymError, match="two speakers"):
        train_verifier(VoiceStatistics, [Said("a", vowel()), Said("a", vowel())], tmp_path)
    silent = [Said(who, np.zeros(RATE, np.float32)) for who in "aabb"]
    with pytest.raises(VoicenymError):
        train_verifier(VoiceStatistics, silent, tmp_path)


@pytest.mark.slow
def test_real_voices_are_distinguished_better_than_by_chance(speech_folder):
    """12 speakers of one sex; chance is 50 %, dev as a whole gave 15 %."""
    with (speech_folder / "manifest.tsv").open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["split"] == "dev" and row["gender"] == "f"
        ]
    speakers = sorted({row["speaker"] for row in rows})[:12]
    x = [
        soundfile.read(speech_folder / row["path"], dtype="float32")[0]
        for speaker in speakers
        for row in [r for r in rows if r["speaker"] == speaker][:10]
    ]
    verifier = VoiceStatistics()
    vectors = verifier.embed(x).reshape(12, 10, -1)
    trials = vectors[:, 8:].reshape(24, -1)
    scores = verifier.backend().score(list(vectors[:, :8]), trials)
    same = np.repeat(np.eye(12, dtype=bool), 2, axis=1)
    threshold = np.quantile(scores[~same], 0.7)
    assert (scores[same] < threshold).mean() < 0.3
