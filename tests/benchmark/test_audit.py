"""The audit finds what went wrong with one recording, and never calls a voice anonymous."""

import numpy as np
import pytest
import soundfile

from voicenym.attack.interface import Verifier
from voicenym.benchmark.audit import Audit, Sight, audit, copied, tags
from voicenym.errors import VoicenymError

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
    with pytest.raises(VoicenymError, match="ear: what its scores mean is unknown"):
        audit(write("a.wav", 0.1), write("b.wav", 0.1), [ear])


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
