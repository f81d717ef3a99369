"""``voicenym train synthesizer``: from a folder of speakers to a pipeline."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.errors import VoicenymError

pytest.importorskip("lightning")

CONFIG = """
synthesizer: istft-vocoder
options: {width: 16, inner: 24, blocks: 1, speaker_width: 8}
settings: {tracker: live, highest: 350.0, scale: root}
seconds: 0.2
batch: 2
every: 2
adversarial: 0.5
judges: {period: {channels: [4, 8]}, scale: {scales: 1, width: 16}}
"""


@pytest.fixture(scope="module")
def buzzers(tmp_path_factory, buzz):
    """Four speakers who buzz at pitches of their own."""
    root = tmp_path_factory.mktemp("speech")
    buzz(root / "train", speakers=4, time=9_600)
    (root / "tiny.yaml").write_text(CONFIG)
    return root


def run(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(done.exception, VoicenymError):
        return str(done.exception)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def train(buzzers, small_parts, monkeypatch):
    """The command on these voices, encoders and sizes, two steps; arguments are added."""
    own = small_parts["ssl"]
    # processes that start take longer than decoding four recordings
    monkeypatch.setattr("voicenym.training.speech.preparation.cores", lambda: 1)

    def given(output, *more, data=buzzers / "train", content=None, speaker=None):
        return run(
            "train", "synthesizer", "-d", data, "-c", buzzers / "tiny.yaml", "-o", output,
            "--content", content or own["content"], "--speaker", speaker or own["speaker"],
            "--steps", 2, "--accelerator", "cpu", "-j", 0, *more,
        )  # fmt: skip

    return given


def test_what_is_trained_drops_into_a_pipeline(train, buzzers, small_parts, tmp_path):
    from voicenym.resynthesis.pipeline import assembly
    from voicenym.resynthesis.pipeline.synthesis_settings import Settings

    own, out = small_parts["ssl"], tmp_path / "synthesizer"
    assert "mel distance" in train(out, "--half")
    done = json.loads((out / "config.json").read_text("utf-8"))
    assert (done["kind"], done["options"]["content"]) == ("istft-vocoder", 10)
    assert len(done["sha256"]) == 64
    assert done["card"]["speakers"] == 3
    assert done["card"]["mel distance on speakers kept out"] > 0
    for name in ("last.ckpt", "best.ckpt", "curve.jsonl"):
        assert (out / name).is_file(), name
    assert (out / "speech").stat().st_mode & 0o077 == 0
    parts = [text for name in ("content", "speaker", "loh") for text in (f"--{name}", own[name])]
    done = run("models", "assemble", *parts, "--synthesizer", out, "-o", tmp_path / "ssl")
    assert "hubert-soft, ecapa, istft-vocoder; loh" in done
    used = assembly.opened(tmp_path / "ssl").settings
    assert used == Settings("live", 60.0, 350.0, "root")
    run(
        "anonymize", buzzers / "train" / "s0" / "0.wav", "-s", "ssl-loh",
        "--weights", tmp_path / "ssl", "-o", tmp_path / "0.wav",
    )  # fmt: skip
    samples, rate = soundfile.read(tmp_path / "0.wav")
    assert (rate, len(samples)) == (16_000, 9_600)
    assert np.abs(samples).max() > 0.01
    (buzzers / "f0.yaml").write_text("options: {width: 8, inner: 8, blocks: 1}\nseconds: 0.3\n")
    done = run(
        "train", "f0-predictor", "-d", buzzers / "train", "-c", buzzers / "f0.yaml",
        "--pipeline", tmp_path / "ssl", "-o", tmp_path / "f0",
        "--steps", 2, "--accelerator", "cpu", "-j", 0,
    )  # fmt: skip
    assert "assemble --f0" in done
    more = ("--f0", tmp_path / "f0", "--register", own["register"])
    run("models", "assemble", *more, "-o", tmp_path / "ssl")
    run(
        "anonymize", buzzers / "train" / "s0" / "0.wav", "-s", "ssl-loh", "--set", "f0=predicted",
        "--weights", tmp_path / "ssl", "-o", tmp_path / "predicted.wav",
    )  # fmt: skip
    assert len(soundfile.read(tmp_path / "predicted.wav")[0]) == 9_600


def test_it_goes_on_under_other_content_and_keeps_integers(train, small_parts, tmp_path):
    ssl, b1 = small_parts["ssl"], small_parts["b1a"]
    train(tmp_path / "former")
    former = ("--from", tmp_path / "former", "--former-content", ssl["content"])
    said = train(tmp_path / "new", *former, "--bits", 8, content=b1["content"])
    assert "% of what the former content gave is fitted" in said
    done = json.loads((tmp_path / "new" / "config.json").read_text("utf-8"))
    assert done["options"]["content"] == 8
    assert done["card"]["from"] == "former"
    sizes = [(tmp_path / n / "model.safetensors").stat().st_size for n in ("former", "new")]
    assert sizes[1] < 0.6 * sizes[0]
    parts = ("--content", b1["content"], "--speaker", ssl["speaker"])
    done = run(
        "models", "assemble", *parts, "--synthesizer", tmp_path / "new", "-o", tmp_path / "w"
    )
    assert "tdnnf, ecapa, istft-vocoder" in done
    assert "for --from" in train(tmp_path / "x", "--former-content", ssl["content"])
    assert "--bits is 2 to 8" in train(tmp_path / "x", "--bits", 9)


def test_mistakes_are_one_line(train, small_parts, buzzers, tmp_path):
    out = tmp_path / "out"
    b1, ssl = small_parts["b1a"], small_parts["ssl"]
    assert "nowhere" in train(out, speaker=tmp_path / "nowhere")
    assert "holds no content encoder" in train(out, content=ssl["speaker"])
    assert "holds no speaker encoder" in train(out, speaker=ssl["content"])
    assert "hubert-base: not here yet" in train(out, content="hubert-base")
    assert "holds no synthesizer" in train(out, "--from", ssl["content"])
    assert not out.exists()
    (tmp_path / "empty").mkdir()
    assert "no recordings" in train(out, data=tmp_path / "empty")
    (out / "last.ckpt").touch()
    assert "started with content" in train(out, content=b1["content"])


def test_a_speaker_encoder_is_named_as_a_verifier_is(tmp_path):
    import torch

    from voicenym.nets.encoder_folders import folder_of
    from voicenym.nets.speakers.speaker_encoders import SMALL, load, make, save

    assert folder_of("speaker", "ecapa-small") == SMALL
    options = {"channels": 16, "size": 12, "attention": 8, "squeeze": 8}
    network = make("ecapa", options).eval()
    save(network, tmp_path)
    place = folder_of("speaker", f"ecapa:{tmp_path}")
    assert torch.equal(load(place).fc.conv.weight, network.fc.conv.weight)
    assert folder_of("content", str(tmp_path)) == tmp_path
