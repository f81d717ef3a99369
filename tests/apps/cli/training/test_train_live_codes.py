"""``voicenym train live-codes``: from speech to an encoder of live streams."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

pytest.importorskip("lightning")
pytest.importorskip("safetensors")

from voicenym.apps.cli import app
from voicenym.nets.words.whisper.whisper import Whisper, Writing
from voicenym.nets.words.whisper.whisper_published import Published, save_published
from voicenym.nets.words.word_codes import live_word_codes

pytestmark = pytest.mark.slow

TINY = """
options: {rank: 2, past: 40, left: 8, period: 100}
aheads: [2, 4]
paces: [1.0, 1.25]
seconds: 0.8
batch: 2
every: 2
held_out: 0.4
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "tiny.yaml").write_text(TINY)
    time = np.arange(12_000) / 16_000
    for number, speaker in enumerate("pqr"):
        for i in range(2):
            pitch = 120 + 40 * number + 10 * i
            wave = sum(np.sin(2 * np.pi * pitch * k * time) / k for k in range(1, 12))
            path = folder / "speech" / speaker / f"{speaker}{i}.wav"
            path.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(path, 0.1 * wave * np.sin(2 * np.pi * 3 * time) ** 2, 16_000)
    return folder


@pytest.fixture
def run(corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    monkeypatch.setattr("voicenym.training.speech.preparation.cores", lambda: 1)

    def invoke(*arguments: object):
        given = ["train", "live-codes", "--data", "speech", "-c", "./tiny.yaml", "--cache", "cache"]
        return CliRunner().invoke(app, [*given, "--accelerator", "cpu", *map(str, arguments)])

    return invoke


def test_a_live_encoder_is_trained_and_goes_on(run, corpus):
    done = run("-o", "live", "--steps", 4)
    assert done.exit_code == 0, done.output
    assert "4 steps" in done.output
    assert "error of vectors 0." in done.output
    network = live_word_codes.load(corpus / "live")
    assert network.teacher
    assert network.sizes.period == 100
    assert any(value.any() for value in network.of_encoder.up.values())
    assert any(value.any() for value in network.of_head.up.values())
    card = json.loads((corpus / "live" / "config.json").read_text())["card"]
    assert card["error of vectors on held-out speakers"] > 0
    vectors = list((corpus / "cache" / "vectors").rglob("*.npy"))
    assert len(vectors) == 2 * 3 + 4 * 1  # at two paces, but for speakers kept out
    assert {np.load(path).shape for path in vectors} == {(19, 64), (15, 64)}
    done = run("-o", "more", "--from", "live", "--steps", 2)
    assert done.exit_code == 0, done.output


def test_a_decoder_reads_the_words_where_they_have_a_weight(run, corpus):
    tokenizers = pytest.importorskip("tokenizers")
    letters = {letter: number for number, letter in enumerate(" ab")}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=letters, merges=[]))
    (corpus / "tokenizer.json").write_text(made.to_str())
    network = Whisper(width=384, heads=6, layers=1, tokens=8, positions=30)
    writing = Writing(begin=(5, 6), end=4, words=3)
    save_published(Published(network, writing, corpus / "tokenizer.json"), corpus / "whisper", {})
    small = Whisper(width=32, heads=1, layers=1, tokens=8, positions=30)
    save_published(Published(small, writing, corpus / "tokenizer.json"), corpus / "small", {})
    for path in (corpus / "speech").rglob("*.wav"):
        path.with_suffix(".txt").write_text("ab ba")
    (corpus / "words.yaml").write_text(TINY + "words: 0.5\ndelays: [[2, 2], [4, 4]]\n")
    done = run("-o", "words", "-c", "./words.yaml", "--whisper", "./whisper", "--steps", 3)
    assert done.exit_code == 0, done.output
    assert "train/words" in done.output
    done = run("-o", "never", "-c", "./words.yaml", "--whisper", "./small", "--steps", 3)
    assert done.exit_code == 1
    assert "codes of another Whisper's states" in str(done.exception)


def test_a_pipeline_without_word_codes_is_refused(run, pipelines):
    done = run("-o", "never", "--pipeline", pipelines / "ssl")
    assert done.exit_code == 1
    assert "needs a pipeline with word codes and drawn accents" in str(done.exception)
