"""Audit of a recording: detects failures, and never calls a voice anonymous."""

import numpy as np
import pytest
import soundfile
from scipy.signal import istft, stft

from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import EVERYBODY, Anonymize
from voicenym.errors import VoicenymError
from voicenym.evaluation.recording_audit import Audit, Sight, audit, calibrated, copied, tags
from voicenym.metrics import cllr
from voicenym.pseudonym import Key
from voicenym.verification.verifier import Verifier

RATE = 16_000


class Ear(Verifier):
    """A verifier that hears a recording's first sample, as an angle."""

    name, version, calibration = "ear", "1", (35.0, -25.8)

    def embed(self, recordings):
        angles = np.array([float(x[0]) for x in recordings])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.fixture
def write(tmp_path):
    def make(name, first, seed=0):
        rng = np.random.default_rng(seed)
        samples = (0.1 * rng.standard_normal(RATE)).astype(np.float32)
        samples[0] = first
        path = tmp_path / name
        soundfile.write(path, samples, RATE, "FLOAT")
        return path

    return make


def test_a_copy_is_called_what_it_is(write):
    found = audit(write("a.wav", 0.1), write("b.wav", 0.1), [Ear()])
    assert found.copied == pytest.approx(1.0, abs=1e-3)
    assert "original waveform is still there" in found.verdict


def patterned(seed, seconds=6):
    """Noise in bands that come and go, as those of speech do."""
    rng = np.random.default_rng(seed)
    waves, _, _ = stft(rng.standard_normal(seconds * RATE), RATE, nperseg=512)[::-1]
    bands = np.exp(2.0 * rng.standard_normal((17, waves.shape[1] // 4 + 1)))
    gains = bands.repeat(4, 1)[:, : waves.shape[1]].repeat(16, 0)[: len(waves)]
    sound = istft(waves * gains, RATE, nperseg=512)[1][: seconds * RATE]
    return (0.1 * sound / np.abs(sound).max()).astype(np.float32)


def test_passages_of_the_original_are_found(tmp_path):
    """Half of the output is the original, which neither the verifier nor the correlation shows."""
    one, other = patterned(0), patterned(1)
    one[0], other[0] = 0.9, -0.9
    mixed = np.concatenate([other[: 3 * RATE], one[3 * RATE :]])
    for name, samples in (("a", one), ("b", other), ("c", mixed)):
        soundfile.write(tmp_path / f"{name}.wav", samples, RATE, "FLOAT")
    apart, leaking = (
        audit(tmp_path / "a.wav", tmp_path / f"{name}.wav", [Ear()]) for name in ("b", "c")
    )
    assert not apart.is_copy
    assert leaking.copied < 0.9
    assert leaking.is_copy
    assert "passages of the original are still there" in leaking.verdict


def test_a_score_that_is_no_number_is_an_error(write):
    class Deaf(Ear):
        def score(self, models, trials):
            return np.full((len(models), len(trials)), np.nan)

    with pytest.raises(VoicenymError, match="ear: its score of the recordings is not a number"):
        audit(write("a.wav", 0.1), write("b.wav", 0.1, seed=1), [Deaf()])


def test_the_strongest_attacker_comes_first_and_names_itself(write):
    found = audit(write("a.wav", 0.1), write("b.wav", 0.1, seed=1), [Ear()])
    assert found.copied < 0.2
    assert [s.llr for s in found.sights] == sorted((s.llr for s in found.sights), reverse=True)
    assert found.verdict.startswith("NOT PROTECTED: to the ")
    assert len(found.sights) == 7


def test_a_pair_that_is_not_recognised_is_not_called_anonymous(write):
    far = audit(write("a.wav", 0.9), write("b.wav", -0.9, seed=1), [Ear()])
    assert far.sights[0].llr < 0
    assert "proves no protection" in far.verdict
    assert "anonym" not in far.verdict.lower()
    assert "no more often than by chance (once in 1,000) with this recording" in far.searched()
    assert "at worst" not in far.searched(), "ten recordings were not tried"
    assert "who train on anonymized speech, were not tried" in far.searched()


def test_who_knows_the_system_sees_at_least_as_well(write):
    pair = write("a.wav", 0.5), write("b.wav", 0.0, seed=1)
    names = {s.attacker for s in audit(*pair, [Ear()], "mcadams").sights}
    assert {"key search", "inversion", "ignorant"} <= names


def test_ratios_in_words():
    assert Sight("x", np.log(5.0)).words == "5.0 times likelier if it is the same speaker"
    assert Sight("x", -np.log(50.0)).words == "50 times likelier if it is two different speakers"
    assert "over 1000" in Sight("x", 100.0).words
    silent = Audit((Sight("x", 2.0),), 0.0, (None, None), (), (1.0, 1.0))
    assert silent.verdict.startswith("HARDLY PROTECTED")


def test_a_verifier_whose_scores_have_no_known_meaning_is_refused(write):
    ear = Ear()
    ear.calibration = (float("nan"), 0.0)
    with pytest.raises(VoicenymError, match=r"ear: its scores are not calibrated.*--pool"):
        audit(write("a.wav", 0.1), write("b.wav", 0.1), [ear])


def test_what_scores_mean_is_learnt_from_a_pool(write):
    """Of people who speak at angles of their own, more alike is likelier the same."""
    ear = Ear()
    ear.calibration = (float("nan"), 0.0)
    rng = np.random.default_rng(0)
    angles = rng.uniform(0.0, 0.9, 8)
    pool = [
        Recording(f"{s}-{u}", f"s{s}", write(f"{s}-{u}.wav", angles[s] + 0.05 * rng.normal()), sex)
        for s, sex in enumerate("ffffmmmm")
        for u in range(3)
    ]
    slope, offset = calibrated(ear, pool)
    assert slope > 0 > offset
    vectors = ear.embed([r.samples() for r in pool])
    pairs = [(i, j) for i in range(24) for j in range(i) if pool[i].sex == pool[j].sex]
    same = np.array([pool[i].speaker == pool[j].speaker for i, j in pairs])
    ratios = slope * np.array([vectors[i] @ vectors[j] for i, j in pairs]) + offset
    assert cllr(ratios[same], ratios[~same], replicates=2).value < 0.9
    near, far = (
        audit(write("a.wav", 0.4), write(name, angle, seed=1), [ear], pool=pool).sights
        for name, angle in (("b.wav", 0.4), ("c.wav", -0.9))
    )
    assert near[0].llr > 0 > far[0].llr
    with pytest.raises(VoicenymError, match="two speakers of one sex"):
        calibrated(ear, pool[:1] + pool[12:13])


def test_of_two_verifiers_the_one_that_sees_more_counts(write):
    pair = write("a.wav", 0.9), write("b.wav", -0.9, seed=1)
    deaf = Ear()
    deaf.calibration = (0.0, -5.0)
    both = {s.attacker: s.llr for s in audit(*pair, [Ear(), deaf]).sights}
    one, other = ({s.attacker: s.llr for s in audit(*pair, [ear]).sights} for ear in (Ear(), deaf))
    assert both == {name: max(one[name], other[name]) for name in one}


def test_a_shifted_copy_is_found_and_noise_is_not():
    rng = np.random.default_rng(0)
    signal = rng.standard_normal(8000)
    assert copied(signal, -0.3 * np.roll(signal, 500)) > 0.9
    assert copied(signal, rng.standard_normal(8000)) < 0.1


def test_tags_that_name_somebody_are_shown(tmp_path):
    import subprocess

    path = tmp_path / "tagged.mp3"
    command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=1"]
    try:
        subprocess.run([*command, "-metadata", "artist=Jane Roe", path], check=True)
    except FileNotFoundError:
        pytest.skip("ffmpeg is not installed: make system")
    assert tags(path) == ("artist: Jane Roe",)


class Wave(Verifier):
    """A verifier that recognises a waveform itself."""

    name, version, calibration = "wave", "1", (35.0, -25.8)

    def embed(self, recordings):
        parts = np.stack([x[:RATE] for x in recordings])
        return (parts / np.linalg.norm(parts, axis=1, keepdims=True)).astype(np.float32)


def test_attackers_use_the_settings_that_were_used(write, tmp_path):
    """With fixed alpha every key gives the published waveform; with others hardly one does."""
    original, published = write("a.wav", 0.5), tmp_path / "b.wav"
    settings = {"high": 0.7, "low": 0.7}
    before = Recording("original", "speaker", original)
    step = Anonymize("mcadams", Key(bytes(32)), EVERYBODY, tuple(settings.items()))
    soundfile.write(published, step(before.samples(), before), RATE, "FLOAT")

    def found(parameters):
        sights = audit(original, published, [Wave()], "mcadams", parameters).sights
        return {sight.attacker: sight.llr for sight in sights}

    known, other = found(settings), found({"high": 0.9, "low": 0.9})
    assert known["key search"] == pytest.approx(35.0 - 25.8, abs=0.01)
    assert other["key search"] < known["key search"] - 1.0
    assert other["inversion"] < known["inversion"]
