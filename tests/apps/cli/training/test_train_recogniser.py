"""``voicenym train recogniser``: from a folder of speakers to a recogniser of an evaluation."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

pytest.importorskip("lightning")
pytest.importorskip("jiwer")
pytest.importorskip("safetensors")

from voicenym.apps.cli import app
from voicenym.apps.cli.commands import train
from voicenym.errors import VoicenymError
from voicenym.recognition import recogniser

CONFIG = """
net: conformer
options: {size: 16, layers: 1, heads: 2, kernel: 3, channels: 4}
batch: 2
every: 2
"""
HERTZ = {"a": 400.0, "b": 900.0, " ": 0.0}


@pytest.fixture
def corpus(tmp_path):
    """Speakers who say letters as tones."""
    (tmp_path / "tiny.yaml").write_text(CONFIG)
    time = np.arange(4_000) / 16_000
    for folder, speakers in (("train", "pqrs"), ("test", "xy")):
        for speaker in speakers:
            for i, text in enumerate(("ab b", "ba a")):
                place = tmp_path / folder / speaker
                place.mkdir(parents=True, exist_ok=True)
                signal = np.concatenate([0.2 * np.sin(2 * np.pi * HERTZ[c] * time) for c in text])
                noise = np.random.default_rng(i).standard_normal(len(signal))
                soundfile.write(place / f"{speaker}{i}.wav", signal + 0.01 * noise, 16_000)
                (place / f"{speaker}{i}.txt").write_text(text)
    return tmp_path


TRAIN = ("recogniser", "--data", "train", "--config", "./tiny.yaml", "--accelerator", "cpu")


@pytest.fixture
def run(corpus, monkeypatch):
    """A command within this process: libraries that train take seconds to be imported."""
    monkeypatch.chdir(corpus)
    # Threads wait on a busy machine.
    monkeypatch.setattr("voicenym.training.speech.preparation.cores", lambda: 1)

    def invoke(app, *arguments: object):
        return CliRunner().invoke(app, list(map(str, arguments)))

    return invoke


def test_it_trains_goes_on_and_hears(run, corpus):
    done = run(train.app, *TRAIN, "--steps", 2, "--test", "test", "-o", "asr")
    assert done.exit_code == 0, done.output
    assert "WER %" in done.output
    config = json.loads((corpus / "asr" / "config.json").read_text())
    assert config["alphabet"] == " ab"
    assert config["training"]["speakers"] == 3
    assert config["training"]["anonymized by"] == ""
    assert config["decoding"]["language_model"] == "words.arpa"
    assert "test" in config["measured"]
    again = run(train.app, *TRAIN, "--steps", 4, "-o", "asr", "--order", 0)
    assert again.exit_code == 0, again.output
    assert "4 steps" in again.output
    with recogniser("ctc", weights=corpus / "asr") as listener:
        assert len(listener.transcribe([np.zeros(16_000, np.float32)])) == 1


def test_it_learns_from_what_a_system_made(run, corpus):
    done = run(train.app, *TRAIN, "--steps", 1, "-o", "anon", "-s", "mcadams", "--order", 0)
    assert done.exit_code == 0, done.output
    with recogniser("ctc", weights=corpus / "anon") as listener:
        assert listener.anonymized_by == "mcadams"
    wrong = run(
        app, "evaluate", "test", "-s", "vtln", "-o", "report", "--any-sex", "--recogniser", "none",
        "--recogniser-anonymized", "vtln=anon",
    )  # fmt: skip
    assert isinstance(wrong.exception, VoicenymError)
    assert "trained on output of mcadams, not on output of vtln" in str(wrong.exception)


@pytest.mark.parametrize(
    ("more", "signal"),
    [
        (("--test", "train"), "both in the data and in the test"),
        (("--from", "nowhere"), "cannot be read"),
        (("--config", "huge"), "recogniser-small"),
    ],
)
def test_what_cannot_be_trained_is_reported(run, corpus, more, signal):
    done = run(train.app, *TRAIN, "-o", "asr", *more)
    assert isinstance(done.exception, VoicenymError)
    assert signal in str(done.exception)
    assert not (corpus / "asr" / "config.json").exists()


def test_the_command_is_there():
    done = CliRunner().invoke(app, ["train", "--help"])
    assert "recogniser" in done.output
