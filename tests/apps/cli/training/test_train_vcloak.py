"""``voicenym train vcloak``: from a folder of speakers to weights of ``vcloak``."""

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
net: {channels: [4, 6, 8], stride: 2}
seconds: 0.3
batch: 2
every: 2
unit: decibel
hop: 2048
"""


@pytest.fixture(scope="module")
def buzzers(tmp_path_factory):
    """Seven speakers who buzz at pitches of their own."""
    root = tmp_path_factory.mktemp("speech")
    time = np.arange(12_000) / 16_000
    for speaker in range(7):
        for take in range(2):
            pitch = 90.0 * 1.15**speaker * (1 + 0.01 * take)
            sound = sum(np.sin(2 * np.pi * k * pitch * time + k) / k for k in range(1, 9))
            place = root / "train" / f"s{speaker}" / f"{take}.wav"
            place.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(place, 0.1 * sound, 16_000)
    (root / "tiny.yaml").write_text(CONFIG)
    return root


def test_a_cloak_is_trained_kept_and_worn(buzzers, tmp_path, command):
    out = tmp_path / "cloak"
    done = command(
        "train", "vcloak", "-d", buzzers / "train", "-c", buzzers / "tiny.yaml", "-o", out,
        "--steps", "2", "--accelerator", "cpu", "--workers", "0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    config = json.loads((out / "config.json").read_text())
    assert config["verifiers"] == ["ecapa-small"]
    assert config["card"]["steps"] == 2
    assert config["card"]["words kept by"] == "levels of a filterbank"
    from voicenym.nets.cloak.cloak import Cloak

    cloak, _ = Cloak.load(out)
    assert cloak.config.channels == (4, 6, 8)


def test_phones_keep_the_words(buzzers, tmp_path, command):
    out = tmp_path / "cloak"
    done = command(
        "train", "vcloak", "-d", buzzers / "train", "-c", buzzers / "tiny.yaml", "-o", out,
        "--steps", "2", "--accelerator", "cpu", "--workers", "0", "--words", "phones-small",
        "--words-form", "transcript",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    card = json.loads((out / "config.json").read_text())["card"]
    assert card["words kept by"] == "transcript of phones-small"


def refused(*arguments):
    done = CliRunner().invoke(app, ["train", "vcloak", *map(str, arguments)])
    assert isinstance(done.exception, VoicenymError), done.output
    return str(done.exception)


def test_mistakes_are_one_line(buzzers, tmp_path):
    given = ["-d", buzzers / "train", "-c", buzzers / "tiny.yaml", "-o", tmp_path / "out"]
    assert "posteriorgram or transcript" in refused(*given, "--words-form", "sms")
    assert "no verifier 'nowhere'" in refused(*given, "--verifier", "nowhere")
    assert "vcloak-small" in refused(*given[:2], "-c", "nothing", *given[4:])
    (tmp_path / "words.pt").write_bytes(b"no checkpoint")
    command = f"voicenym models convert {tmp_path / 'words.pt'} --as deepspeech2 -o FOLDER"
    assert command in refused(*given, "--words", tmp_path / "words.pt")
