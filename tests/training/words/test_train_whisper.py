"""Fine-tuning of a tiny Whisper: tones become letters, and only the chosen layers learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiny_whisper as tiny
import torch

pytest.importorskip("lightning")
pytest.importorskip("tokenizers")

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.words.whisper.whisper_vocabulary import Vocabulary
from voicenym.training.run.config import load
from voicenym.training.run.machine import Machine
from voicenym.training.speech.speech_cache import SpeechCache
from voicenym.training.words.train_whisper import (
    FineTuning,
    WhisperConfig,
    chosen,
    most_tokens,
    train,
)
from voicenym.training.words.whisper_dataset import (
    NONE,
    Windows,
    collated,
    framed,
    sentence,
    spoken,
)

HERTZ = {"a": 400.0, "b": 1_500.0}
WINDOW = 50 * 320


class Tones:
    def identity(self, recording):
        return recording.name

    def __call__(self, recording):
        rng = np.random.default_rng(int(recording.name))
        time = np.arange(3_200) / 16_000
        tone = 0.2 * np.sin(2 * np.pi * HERTZ[recording.text[0]] * time)
        return (tone + 0.003 * rng.standard_normal(len(tone))).astype(np.float32)


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "tokenizer.json"
    path.write_text(tiny.tokenizer_text())
    return Vocabulary(path)


@pytest.fixture(scope="module")
def speech(tmp_path_factory, known):
    recordings = [
        Recording(str(n), f"s{n % 4}", Path(f"{n}.wav"), text="ab"[n % 2] * 2 + ".")
        for n in range(16)
    ]
    cache = SpeechCache(tmp_path_factory.mktemp("cache"))
    return spoken(cache.fill(recordings, Tones()), known, WINDOW, 40)[0]


def test_a_vocabulary_writes_what_it_reads(known):
    assert known.decode(known.encode("naïve 1")) == "naïve 1"
    assert known.decode(known.encode("a")[:1]) == ""


def test_texts_of_one_case_become_sentences():
    assert sentence("WHAT  I'M SAYING") == "What I'm saying."
    assert sentence("is it so?") == "Is it so?"
    assert sentence("As Written, here") == "As Written, here"
    assert sentence(" ") == ""


def test_windows_are_the_same_in_every_run_and_fit(speech):
    windows = Windows(speech, tiny.WRITING, WINDOW, 20, 8, seed=3)
    first = [windows[i] for i in range(8)]
    for window, again in zip(first, [windows[i] for i in range(8)], strict=True):
        np.testing.assert_array_equal(window.samples, again.samples)
        assert len(window.samples) <= WINDOW
        assert len(window.tokens) <= 20 + 5
        assert window.tokens[-1] == tiny.WRITING.end
    windows.advance(1)
    assert any(len(windows[i].samples) != len(first[i].samples) for i in range(8))


def test_the_prefix_and_the_padding_are_no_targets():
    batch = collated(
        [
            framed(np.zeros(10, np.float32), [5, 6, 7], tiny.WRITING),
            framed(np.ones(20, np.float32), [8], tiny.WRITING),
        ],
        prefix=4,
    )
    assert batch.samples.shape == (2, 20)
    assert batch.tokens[0].tolist() == [*tiny.WRITING.begin, 5, 6, 7]
    assert batch.wanted.tolist() == [
        [NONE, NONE, NONE, 5, 6, 7, 256],
        [NONE, NONE, NONE, 8, 256, NONE, NONE],
    ]


def test_only_the_chosen_layers_learn():
    made = tiny.network(layers=2)
    FineTuning(made, WhisperConfig(parts="decoder", layers=1))
    learning = {name for name, value in made.named_parameters() if value.requires_grad}
    assert learning
    assert all(name.startswith(("decoder.layers.1.", "decoder.norm.")) for name in learning)
    every = {id(value) for value in chosen(made, WhisperConfig())}
    assert id(made.decoder.tokens.weight) not in every
    assert {id(p) for p in made.encoder.layers.parameters()} <= every
    with pytest.raises(VoicenymError, match="layers: 3; the encoder has 2"):
        chosen(made, WhisperConfig(layers=3))


def test_tones_become_letters(speech, known, tmp_path):
    made = tiny.network(1)
    with torch.no_grad():
        made.decoder.norm.weight.fill_(1.0)
        made.encoder.norm.weight.fill_(1.0)
        made.decoder.tokens.weight.mul_(3.0)
    config = WhisperConfig(batch=4, rate=1e-2, steps=60, every=20, shortest=0.05)
    writing = tiny.WRITING
    before = FineTuning(made, config)
    batch = collated([framed(s.utterance.samples(), s.tokens, writing) for s in speech[:4]], 4)
    with torch.inference_mode():
        nats = float(before.missed(batch))
    outcome = train(
        made, writing, speech[:12], speech[12:], config, tmp_path / "run",
        machine=Machine("cpu", workers=0),
    )  # fmt: skip
    assert outcome.steps == 60
    assert outcome.best < 0.5 * nats
    assert most_tokens(made, writing) == 59


def test_speech_without_text_is_refused(known):
    with pytest.raises(CorpusError, match="none given"):
        spoken([], known, WINDOW, 40)


def test_the_bundled_configuration_is_read():
    assert load("whisper", WhisperConfig).parts == "all"
