"""``voicenym train ubm`` and ``ivector``: from a folder of speakers to a verifier."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.errors import VoicenymError
from voicenym.verification.plda import PLDA
from voicenym.verification.verifiers import verifier

CONFIG = """
components: 4
cepstra: {coefficients: 6, bands: 16, slopes: 0, window: 0}
"""


@pytest.fixture(scope="module")
def voices(tmp_path_factory):
    """Five speakers with noises of their own, three recordings each."""
    root = tmp_path_factory.mktemp("speech")
    for speaker in range(5):
        for take in range(3):
            rng = np.random.default_rng([speaker, take])
            noise = rng.standard_normal(9_600)
            sound = noise.copy()
            for lag in (1 + speaker, 7):
                sound[lag:] += 0.7 * noise[:-lag] * np.sin(np.arange(9_600 - lag) / 900)
            place = root / "train" / f"s{speaker}" / f"{take}.wav"
            place.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(place, 0.05 * sound, 16_000)
    (root / "tiny.yaml").write_text(CONFIG)
    return root


def run(*arguments: object):
    return CliRunner().invoke(app, ["train", *map(str, arguments)])


def test_a_background_model_is_trained_and_verifies_speakers(voices, tmp_path):
    done = run("ubm", "-d", voices / "train", "-c", voices / "tiny.yaml", "-o", tmp_path, "-j", 1)
    assert done.exit_code == 0, done.output
    assert "15 recordings" in done.output
    vectors = verifier(f"gmm-ubm:{tmp_path}").embed([np.zeros(400, np.float32)])
    assert vectors.shape == (1, 24)


@pytest.mark.parametrize("system", [None, pytest.param("vtln", marks=pytest.mark.slow)])
def test_ivectors_are_trained_on_speech_as_it_is_or_anonymized(voices, tmp_path, system):
    anonymized = [] if system is None else ["--system", system]
    done = run(
        "ivector", "-d", voices / "train", "-c", voices / "tiny.yaml", "-o", tmp_path, "-j", 1,
        "--quiet", *anonymized,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert (tmp_path / "speech").exists() == bool(system)
    found = verifier(f"ivector:{tmp_path}")
    assert found.version in done.output
    assert isinstance(found.backend(), PLDA)
    noise = np.random.default_rng(0).standard_normal(8_000).astype(np.float32)
    assert np.linalg.norm(found.embed([noise])) == pytest.approx(1.0, abs=1e-5)


def test_mistakes_get_a_message(voices, tmp_path):
    done = run("ivector", "-d", voices / "train" / "s0", "-o", tmp_path / "out")
    assert isinstance(done.exception, VoicenymError)
    (tmp_path / "odd.yaml").write_text("gaussians: 4")
    done = run("ubm", "-d", voices / "train", "-c", tmp_path / "odd.yaml", "-o", tmp_path / "out")
    assert "no field 'gaussians'" in str(done.exception)
    with pytest.raises(VoicenymError, match="gmm-ubm:FOLDER and ivector:FOLDER"):
        verifier("no-such")
