"""``voicenym train native-codes``: from speech and readings of its texts to an encoder of codes."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile
import torch
from typer.testing import CliRunner

pytest.importorskip("lightning")
pytest.importorskip("safetensors")
pytest.importorskip("tokenizers")

from voicenym.apps.cli import app
from voicenym.nets.content import word_code_bottleneck, word_code_encoder
from voicenym.nets.words.whisper.whisper import Whisper, Writing
from voicenym.nets.words.whisper.whisper_published import Published, save_published
from voicenym.training.content.native_codes import accent_directions

TINY = """
before: 2
cut: {shortest: 1, longest: 3.5}
varied: 1
limit: 2
others: 0.3
seconds: 8
every: 4
held_out: 0.2
"""
TEXTS = ("ab", "ba", "bb")


def tones(path, text, number):
    """Letters as tones of a speaker."""
    time = np.arange(8_000) / 16_000
    spoken = [np.sin(2 * np.pi * (300 + 50 * number + 400 * (c == "b")) * time) for c in text]
    noise = np.random.default_rng(number).standard_normal(8_000 * len(text))
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, 0.2 * np.concatenate(spoken) + 0.01 * noise, 16_000)
    path.with_suffix(".txt").write_text(text)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Speakers who say letters, a voice that reads them, a Whisper of letters, and its codes."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "tiny.yaml").write_text(TINY)
    for number, speaker in enumerate("pqrst"):
        for i, text in enumerate(TEXTS):
            tones(folder / "speech" / speaker / f"{speaker}{i}.wav", text, number)
    for i in range(4):
        tones(folder / "speech" / "native" / f"n{i}.wav", "abab", 6)
    for i, text in enumerate(TEXTS):
        tones(folder / "aloud" / "joe" / f"{i}.wav", text.upper() + ".", 8)
        tones(folder / "other" / "joe" / f"{i}.wav", "aabb", 8)
    import tokenizers

    letters = {letter: number for number, letter in enumerate(" ab")}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=letters, merges=[]))
    (folder / "tokenizer.json").write_text(made.to_str())
    torch.manual_seed(0)
    network = Whisper(width=32, heads=1, layers=1, states=200, tokens=8, positions=30)
    with torch.no_grad():
        for value in network.parameters():
            value.copy_(0.3 * torch.randn(value.shape))
    writing = Writing(begin=(5, 6), end=4, words=3)
    save_published(Published(network, writing, folder / "tokenizer.json"), folder / "whisper", {})
    codes = word_code_bottleneck.WordCodes(
        states=32, window=200, width=16, inner=16, code=8, entries=8, kernel=3, after=1
    )
    codes.quantizer.books[0].steps.fill_(1)
    word_code_bottleneck.save(codes, folder / "codes")
    return folder


@pytest.fixture
def run(corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    monkeypatch.setattr("voicenym.training.speech.preparation.cores", lambda: 1)

    def invoke(*arguments: object):
        given = ["train", "native-codes", "--data", "speech", "-c", "./tiny.yaml", "--whisper"]
        more = ["./whisper", "--accelerator", "cpu", "--states", "states", "--cache", "cache"]
        return CliRunner().invoke(app, [*given, *more, *map(str, arguments)])

    return invoke


def test_an_encoder_is_trained_for_the_same_codebook(run, corpus, monkeypatch):
    monkeypatch.setattr(accent_directions, "PART", 8)  # the recordings are short
    given = ("--from", "codes", "--readings", "aloud", "-o", "native")
    done = run(*given, "--prepare")
    assert done.exit_code == 0, done.output
    assert "to watch by" in done.output
    before = sorted((corpus / "states").iterdir())
    assert len([path for path in before if path.name.endswith(".target.npz")]) == 15
    done = run(*given, "--steps", 8)
    assert done.exit_code == 0, done.output
    assert "8 steps" in done.output
    assert "loss of codes, words and moments" in done.output
    assert sorted((corpus / "states").iterdir()) == before
    found = word_code_encoder.load(corpus / "native")
    assert len(found.before) == 2
    card = json.loads((corpus / "native" / "config.json").read_text())["card"]
    assert card["recordings aligned with a reading"] == 12
    assert card["readings"] == "aloud"
    assert 0 <= card["code of silence"] < 8
    states, lengths = torch.randn(1, 20, 32), torch.tensor([20])
    with torch.inference_mode():
        assert found.encoded(states, lengths).shape == (1, 10, 8)
    done = run(*given, "--steps", 12, "--adversary", 0.2, "--accents", 2, "-o", "against")
    assert done.exit_code == 0, done.output
    assert word_code_encoder.load(corpus / "against").accents == 2


def test_readings_of_other_texts_are_refused(run):
    done = run("--from", "codes", "--readings", "other", "-o", "never")
    assert done.exit_code == 1
    assert "none of 19 recordings has the text of one of 1 readings" in str(done.exception)
    assert "give recordings with texts, and readings of these texts" in str(done.exception)


def test_readings_that_are_unlike_are_left_out(run, corpus):
    (corpus / "strict.yaml").write_text(TINY.replace("limit: 2", "limit: -1"))
    done = run("--from", "codes", "--readings", "aloud", "-o", "never", "-c", "./strict.yaml")
    assert done.exit_code == 1
    assert "15 of 15 recordings are too unlike their readings" in done.output
    assert "raise 'limit' in the configuration" in str(done.exception)


def test_codes_of_another_whisper_are_refused(run):
    done = run("--readings", "aloud", "-o", "never")
    assert done.exit_code == 1
    assert "bundled: codes of another Whisper" in str(done.exception)
