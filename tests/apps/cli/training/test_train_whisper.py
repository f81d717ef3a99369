"""``voicenym train whisper``: a tiny Whisper is fine-tuned on a system's output and evaluated."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile
import tiny_whisper as tiny
from typer.testing import CliRunner

pytest.importorskip("lightning")
pytest.importorskip("safetensors")
pytest.importorskip("tokenizers")

from voicenym.apps.cli.commands import train
from voicenym.apps.cli.options.recogniser_options import retrained_of
from voicenym.errors import VoicenymError
from voicenym.recognition import of_folder

CONFIG = "{parts: decoder, layers: 1, batch: 2, every: 2, rate: 1.0e-3}"


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Four speakers who buzz, with a text each, and a Whisper of random weights."""
    monkeypatch.chdir(tmp_path)
    # Threads wait on a busy machine.
    monkeypatch.setattr("voicenym.training.speech.preparation.cores", lambda: 1)
    (tmp_path / "tiny.yaml").write_text(CONFIG)
    tiny.write(tiny.network(), tmp_path / "published")
    time = np.arange(6_000) / 16_000
    for number, speaker in enumerate("pqrs"):
        for i in range(2):
            place = tmp_path / "speech" / speaker
            place.mkdir(parents=True, exist_ok=True)
            tone = 0.1 * np.sign(np.sin(2 * np.pi * (100 + 20 * number) * time))
            noise = 0.01 * np.random.default_rng(i).standard_normal(len(time))
            soundfile.write(place / f"{speaker}{i}.wav", tone + noise, 16_000)
            (place / f"{speaker}{i}.txt").write_text("A B")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(train.app, list(map(str, arguments)))


TRAIN = (
    "whisper", "--data", "speech", "--config", "./tiny.yaml", "--from", "./published",
    "--accelerator", "cpu", "--steps", 2, "--workers", 0,
)  # fmt: skip


def test_a_system_s_recogniser_is_fine_tuned_and_taken_by_evaluate(desk):
    done = run(*TRAIN, "--system", "mcadams", "-o", "anonymized")
    assert done.exit_code == 0, done.output
    assert "2 steps" in done.output
    card = json.loads((desk / "anonymized" / "config.json").read_text())["card"]
    assert card["anonymized by"] == "mcadams"
    assert card["from"] == "published"
    assert card["speakers"] == 3
    found = retrained_of(["mcadams=anonymized"], ["mcadams"])["mcadams"]
    assert found.name == "anonymized"
    samples, _ = soundfile.read(desk / "speech" / "p" / "p0.wav", dtype="float32")
    assert isinstance(found.transcribe([samples])[0], str)
    before = of_folder(desk / "published")._network.state_dict()
    after = found._network.state_dict()
    moved = {n for n in before if not np.allclose(before[n], after[n], atol=2e-3, rtol=1e-3)}
    assert all(name.startswith("decoder.") for name in moved)
    with pytest.raises(VoicenymError, match="output of mcadams, not on output of vtln"):
        retrained_of(["vtln=anonymized"], ["vtln"])


def test_a_recogniser_of_originals_says_so(desk):
    assert run(*TRAIN, "-o", "plain").exit_code == 0
    assert of_folder(desk / "plain").anonymized_by == ""
    with pytest.raises(VoicenymError, match="was trained on originals"):
        retrained_of(["mcadams=plain"], ["mcadams"])
