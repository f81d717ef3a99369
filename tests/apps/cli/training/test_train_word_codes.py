"""``voicenym train word-codes``: from speech with texts to codes, with a Whisper in a folder."""

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
from voicenym.nets.content import content_encoders, word_code_bottleneck
from voicenym.nets.words.whisper.whisper import Whisper, Writing
from voicenym.nets.words.whisper.whisper_published import Published, save_published

TINY = """
options: {width: 16, inner: 16, code: 8, entries: 8, kernel: 3}
cut: {shortest: 1, longest: 3.5}
disguised: 1
seconds: 4
every: 4
held_out: 0.2
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Speakers who say letters as tones, and a Whisper of letters."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "tiny.yaml").write_text(TINY)
    time = np.arange(8_000) / 16_000
    for number, speaker in enumerate("pqrst"):
        for i, text in enumerate(("ab", "ba", "bb")):
            place = folder / "speech" / speaker
            place.mkdir(parents=True, exist_ok=True)
            rows_read = [
                np.sin(2 * np.pi * (300 + 50 * number + 400 * (c == "b")) * time) for c in text
            ]
            noise = np.random.default_rng(i).standard_normal(16_000)
            soundfile.write(
                place / f"{speaker}{i}.wav", 0.2 * np.concatenate(rows_read) + 0.01 * noise, 16_000
            )
            (place / f"{speaker}{i}.txt").write_text(text)
    import tokenizers

    letters = {letter: number for number, letter in enumerate(" ab")}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=letters, merges=[]))
    (folder / "tokenizer.json").write_text(made.to_str())
    torch.manual_seed(0)
    network = Whisper(width=32, heads=1, layers=1, states=200, tokens=8, positions=30)
    writing = Writing(begin=(5, 6), end=4, words=3)
    save_published(Published(network, writing, folder / "tokenizer.json"), folder / "whisper", {})
    return folder


@pytest.fixture
def run(corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    monkeypatch.setattr("voicenym.training.speech.preparation.cores", lambda: 1)

    def invoke(*arguments: object):
        given = ["train", "word-codes", "--data", "speech", "-c", "./tiny.yaml", "--whisper"]
        return CliRunner().invoke(
            app, [*given, "./whisper", "--accelerator", "cpu", *map(str, arguments)]
        )

    return invoke


def test_codes_are_trained_kept_and_gone_on_from(run, corpus):
    done = run("-o", "codes", "--states", "states", "--shelf", "cache", "--prepare")
    assert done.exit_code == 0, done.output
    assert "to watch by" in done.output
    before = sorted((corpus / "states").iterdir())
    assert before
    done = run("-o", "codes", "--states", "states", "--shelf", "cache", "--steps", 8)
    assert done.exit_code == 0, done.output
    assert "8 steps" in done.output
    assert sorted((corpus / "states").iterdir()) == before
    found = word_code_bottleneck.load(corpus / "codes")
    assert found.initialised
    assert found.sizes.states == 32
    card = json.loads((corpus / "codes" / "config.json").read_text())["card"]
    assert card["recordings"] == 12
    content = content_encoders.load(corpus / "codes" / "content")
    with torch.inference_mode():
        frames = content(0.1 * torch.randn(1, 16_000))
    assert frames.shape == (1, 25, 8)
    torch.testing.assert_close(
        content.codes.quantizer.books[0](frames[0])[1], frames[0], atol=1e-3, rtol=1e-3
    )
    given = ("models", "word-codes", "--whisper", "./whisper")
    done = CliRunner().invoke(app, [*given, "--codes", "codes", "-o", "content"])
    assert done.exit_code == 0, done.output
    assert "word-codes, 25 codes of 8 a second" in done.output
    again = content_encoders.load(corpus / "content")
    with torch.inference_mode():
        torch.testing.assert_close(again(torch.ones(1, 9_600)), content(torch.ones(1, 9_600)))
    more = ("--from", "codes", "-o", "more", "--states", "states", "--shelf", "cache")
    done = run(*more, "--steps", 4)
    assert done.exit_code == 0, done.output


def test_the_bundled_codes_are_of_tiny_en(corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    codes = word_code_bottleneck.load(word_code_bottleneck.BUNDLED)
    assert codes.initialised
    assert (codes.sizes.states, codes.sizes.window, codes.rate) == (384, 1500, 25.0)
    used = codes.codes(torch.randn(1500, 384, generator=torch.Generator().manual_seed(0)))
    assert len(used.unique()) > 50
    given = ("models", "word-codes", "--whisper", "./whisper", "-o", "none")
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 1
    assert "not the Whisper of these codes" in str(done.exception)


def test_codes_of_another_whisper_are_refused(run, corpus):
    other = word_code_bottleneck.WordCodes(
        states=16, window=40, width=8, inner=8, code=4, entries=4
    )
    word_code_bottleneck.save(other, corpus / "other")
    done = run("--from", "other", "-o", "never")
    assert done.exit_code == 1
    assert "codes of another Whisper" in str(done.exception)
