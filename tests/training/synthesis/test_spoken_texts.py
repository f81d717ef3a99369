"""Whole recordings in drawn voices and accents: what is drawn, and a step that learns from them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.content import word_code_encoder
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.nets.words.whisper.whisper_decoding import Writing
from voicenym.resynthesis.pipeline import assembly
from voicenym.resynthesis.pipeline.synthesis_settings import Settings
from voicenym.training.run.machine import Machine
from voicenym.training.speech.speech_cache import Utterance
from voicenym.training.synthesis import train_synthesizer
from voicenym.training.synthesis.decoder_loss import DecoderLoss
from voicenym.training.synthesis.drawn_voices import DrawnVoices
from voicenym.training.synthesis.spoken_texts import SpokenText, SpokenTexts, spoken_texts
from voicenym.training.synthesis.synthesis_dataset import SynthesisCrop
from voicenym.training.synthesis.synthesizer_step import Adversarial, SynthesizerConfig

SETTINGS, EVERY = Settings(scale="root"), 4
LENGTHS = (20, 31)


@pytest.fixture(scope="module")
def pipeline():
    return assembly.opened(assembly.BUNDLED / "ssl", natives=("drawn",))


@pytest.fixture(scope="module")
def voices():
    return DrawnVoices(assembly.BUNDLED / "ssl")


@pytest.fixture
def texts(tmp_path, pipeline):
    draws = np.random.default_rng(2)
    found = []
    for number, length in enumerate(LENGTHS):
        path = tmp_path / f"{number}.npy"
        np.save(path, draws.normal(size=(length, 64)).astype(np.float16))
        found.append(SpokenText(path, [number + 1] * (number + 2)))
    return SpokenTexts(found, pipeline.content, pipeline.natives["drawn"])


def drawn(texts, voices, rows=6, seed=0):
    return texts.drawn(rows, voices, SETTINGS, EVERY, torch.Generator().manual_seed(seed))


def test_content_is_of_the_codebook_and_voices_are_drawn(texts, voices, pipeline):
    made, frames, written = drawn(texts, voices)
    assert made.content.shape == (6, max(LENGTHS) * EVERY, 64)
    assert made.f0.shape == made.content.shape[:2]
    for row, text in enumerate(written):
        assert int(frames[row]) == LENGTHS[text[0] - 1] * EVERY
        assert len(text) == text[0] + 1
    codes = pipeline.content.codes
    numbers = torch.arange(codes.sizes.entries)
    book = codes.quantizer.looked_up(numbers[None, None])[0].T
    found = made.content.flatten(0, 1)
    distance = (found[:, None] - book).abs().amax(2).min(1).values
    assert float(distance.max()) < 1e-5
    assert len({tuple(vector.tolist()) for vector in made.vector}) == 6


def test_a_recording_has_another_accent_each_time(texts, voices):
    made, frames, written = drawn(texts, voices, rows=8)
    of_one = [made.content[i, : int(frames[i])] for i in range(8) if written[i][0] == 1]
    assert len(of_one) > 1
    assert not torch.equal(of_one[0], of_one[1])


def test_draws_depend_on_the_generator_alone(texts, voices):
    (one, _, words), (same, _, again) = (drawn(texts, voices) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert words == again
    assert not torch.equal(one.vector, drawn(texts, voices, seed=1)[0].vector)


def test_without_texts_or_accents_it_says_so(pipeline):
    with pytest.raises(CorpusError, match="text"):
        SpokenTexts([], pipeline.content, pipeline.natives["drawn"])
    plain = word_code_encoder.load(assembly.part(assembly.BUNDLED / "ssl", "native"))
    with pytest.raises(VoicenymError, match="draws no accents"):
        SpokenTexts([SpokenText(Path("none"), [1])], pipeline.content, plain)


def tone(seconds):
    time = np.arange(round(16_000 * seconds)) / 16_000
    return np.sin(900 * time + 3 * np.sin(20 * time))


class _Words:
    """Tokens by the letters of a text."""

    def __init__(self, path):
        del path

    def encode(self, text):
        return [ord(letter) % 20 for letter in text]


def test_vectors_are_those_of_the_pipeline(tmp_path, pipeline, monkeypatch):
    monkeypatch.setattr("voicenym.training.synthesis.spoken_texts.Tokenizer", _Words)
    speech = []
    for name, text, seconds in (("a", "ONE TWO", 1.0), ("b", "", 1.0), ("c", "LONG", 9.0)):
        samples = (9000 * tone(seconds)).astype(np.int16)
        samples.tofile(tmp_path / f"{name}.i16")
        recording = Recording(name, "s", tmp_path / f"{name}.wav", text=text)
        speech.append(Utterance(recording, tmp_path / f"{name}.i16", len(samples)))
    content, native = pipeline.content, pipeline.natives["drawn"]
    found = spoken_texts(speech, content, native, Path("none"), tmp_path / "vectors")
    assert [one.tokens for one in found] == [_Words(None).encode("One two.")]
    vectors = torch.from_numpy(np.load(found[0].vectors)).float()[None]
    wanted = content.native(torch.from_numpy(speech[0].samples())[None], "drawn", None, True)
    same = (content.spoken(vectors, native)[0] - wanted).abs().amax(2) < 1e-4
    assert float(same.float().mean()) > 0.95


def test_a_step_adds_the_texts(texts, voices, whisper):
    writing = Writing(begin=(17, 18), end=19, words=17)
    torch.manual_seed(1)
    network = IstftVocoder(64, 192, width=16, inner=16, blocks=1, speaker_width=4)
    draws = torch.Generator().manual_seed(3)
    crop = SynthesisCrop(
        0.1 * torch.randn((3, 16_000), generator=draws),
        torch.randn((3, 100, 64), generator=draws),
        torch.full((3, 100), 120.0),
        SETTINGS.scaled(torch.randn((3, 192), generator=draws)),
    )
    config = SynthesizerConfig(
        synthesizer="istft-vocoder", adversarial=1.0, settings=SETTINGS, text_rows=2
    )
    reader = DecoderLoss(whisper, writing, texts.tokens)
    losses = []
    for weight in (0.0, 1.0, 2.0):
        recipe = dataclasses.replace(config, texts=weight)
        module = Adversarial(network, recipe, None, voices, EVERY, (texts, reader))
        losses.append(float(module.training_step(crop, 0).detach()))
    assert losses[1] - losses[0] > 0.1
    assert losses[2] - losses[0] == pytest.approx(2 * (losses[1] - losses[0]), rel=1e-3)


def test_texts_without_a_reader_are_refused(tmp_path):
    network = IstftVocoder(64, 192, width=16, inner=16, blocks=1, speaker_width=4)
    config = SynthesizerConfig(synthesizer="istft-vocoder", texts=1.0)
    with pytest.raises(VoicenymError, match=r"--whisper and --voices"):
        train_synthesizer.train(network, [], [], config, tmp_path, machine=Machine("cpu"))
