"""``voicenym train synthesizer`` with texts: a recogniser reads whole recordings of a pipeline."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile
import torch
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.errors import VoicenymError
from voicenym.nets.content.word_code_bottleneck import BUNDLED as CODES
from voicenym.nets.words.whisper.whisper import Whisper, Writing
from voicenym.nets.words.whisper.whisper_published import Published, save_published

pytest.importorskip("lightning")
tokenizers = pytest.importorskip("tokenizers")

CONFIG = """
synthesizer: istft-vocoder
options: {width: 16, inner: 24, blocks: 1, speaker_width: 8}
settings: {tracker: live, scale: root}
seconds: 0.2
batch: 2
every: 2
adversarial: 1.0
texts: 2.0
text_rows: 1
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The command on speakers who say letters as tones, with a Whisper of these letters."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("voicenym.training.speech.preparation.cores", lambda: 1)
    (tmp_path / "tiny.yaml").write_text(CONFIG)
    time = np.arange(9_600) / 16_000
    for number in range(3):
        place = tmp_path / "speech" / f"s{number}"
        place.mkdir(parents=True)
        sound = sum(np.sin(2 * np.pi * k * (110 + 20 * number) * time) / k for k in range(1, 9))
        soundfile.write(place / "0.wav", 0.1 * sound, 16_000)
        (place / "0.txt").write_text("ab" if number else "b")
    letters = {letter: number for number, letter in enumerate(" ab")}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=letters, merges=[]))
    (tmp_path / "tokenizer.json").write_text(made.to_str())
    torch.manual_seed(0)
    network = Whisper(width=32, heads=1, layers=1, states=200, tokens=8, positions=30)
    writing = Writing(begin=(5, 6), end=4, words=3)
    save_published(Published(network, writing, tmp_path / "tokenizer.json"), tmp_path / "w", {})

    def given(*more):
        done = CliRunner().invoke(
            app,
            [
                "train", "synthesizer", "-d", "speech", "-c", "./tiny.yaml", "-o", "out",
                "--content", str(CODES), "--speaker", "ecapa-small", "--steps", "2",
                "--accelerator", "cpu", "-j", "0", *more,
            ],
        )  # fmt: skip
        if isinstance(done.exception, VoicenymError):
            return str(done.exception)
        assert done.exit_code == 0, done.output
        return done.output

    return given


def test_it_learns_texts_in_drawn_voices_and_accents(run, tmp_path):
    run("--whisper", "./w", "--voices", "ssl")
    rows = [json.loads(line) for line in (tmp_path / "out/curve.jsonl").read_text().splitlines()]
    assert rows[-1]["train/texts"] > 0
    vectors = list((tmp_path / "out").rglob("vectors/*/*.npy"))
    assert len(vectors) == 2  # of the speakers to learn from
    assert all(path.parents[1].stat().st_mode & 0o077 == 0 for path in vectors)


def test_without_reader_or_voices_it_says_what_is_missing(run):
    assert "--whisper and --voices" in run("--whisper", "./w")
    assert "--whisper and --voices" in run("--voices", "ssl")
