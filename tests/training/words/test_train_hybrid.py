"""Training of phone networks: tones are classified frame by frame after a few steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("lightning")
pytest.importorskip("jiwer")

from voicenym.corpus.recording import Recording
from voicenym.nets.words.phone_states.phone_model import PhoneModel
from voicenym.nets.words.phone_states.phones import SILENCE, Phone, States
from voicenym.training.run.config import load
from voicenym.training.run.machine import Machine
from voicenym.training.speech.aligned_dataset import NONE, aligned, shares
from voicenym.training.speech.augmentation import SpecAugment, Surroundings
from voicenym.training.speech.speech_cache import SpeechCache
from voicenym.training.words.train_hybrid import FrameTraining, HybridConfig, train

STATES = States(("A", "B", "C"))
HERTZ = {"A": (300.0, 900.0), "B": (500.0, 2_000.0), "C": (1_400.0, 3_000.0)}
QUICK = HybridConfig(
    options={"width": 32, "gaps": (1,), "dropout": 0.0},
    batch=4,
    speeds=(1.0,),
    rate=1e-2,
    surroundings=Surroundings(noise=0.0, babble=0.0, room=0.0, band=0.0),
    blanks=SpecAugment(0, 0),
    every=20,
    steps=60,
)


def phones(recording: Recording) -> list[Phone]:
    """Pauses of 0.2 s, then 0.15 s for each letter."""
    edges = 0.2 + 0.15 * np.arange(len(recording.text) + 1)
    phones_of = [Phone(n, *e) for n, *e in zip(recording.text, edges[:-1], edges[1:], strict=True)]
    return [Phone(SILENCE, 0.0, 0.2), *phones_of, Phone(SILENCE, edges[-1], edges[-1] + 0.2)]


class Tones:
    def identity(self, recording):
        return recording.name

    def __call__(self, recording):
        rng = np.random.default_rng(int(recording.name))
        parts = []
        for name, start, end in phones(recording):
            time = np.arange(round((end - start) * 16_000)) / 16_000
            parts.append(sum((np.sin(2 * np.pi * f * time) for f in HERTZ.get(name, ())), 0 * time))
        phones_of = 0.2 * np.concatenate(parts)
        return (phones_of + 0.003 * rng.standard_normal(len(phones_of))).astype(np.float32)


def test_tones_are_learnt_frame_by_frame(tmp_path):
    rng = np.random.default_rng(0)
    recordings = [
        Recording(str(i), f"s{i}", Path("none.wav"), text="".join(rng.choice(list("ABC"), 6)))
        for i in range(16)
    ]
    utterances = SpeechCache(tmp_path / "cache").fill(recordings, Tones())
    speech, left = aligned(utterances, [phones(r) for r in recordings], 20.0)
    assert not left
    model = PhoneModel.make(STATES, QUICK.options, shares(speech, STATES))
    messages = []
    outcome = train(
        model,
        speech[:12],
        speech[12:],
        QUICK,
        tmp_path / "asr",
        machine=Machine("cpu", workers=0),
        say=messages.append,
    )
    assert outcome.best < 0.5
    assert outcome.steps == 60
    assert outcome.curve[-1]["frames right %"] > 85.0
    assert len(messages) == 3


def test_frames_that_there_are_not_do_not_count():
    logits = torch.randn(2, 5, 7)
    labels = torch.randint(7, (2, 6))
    labels[1, 3:] = NONE
    logs = logits.log_softmax(-1)
    known = [(0, i) for i in range(5)] + [(1, i) for i in range(3)]
    expected = -torch.stack([logs[i, j, labels[i, j]] for i, j in known]).mean()
    torch.testing.assert_close(FrameTraining.missed(logits, labels), expected)


def test_the_bundled_recipe_is_one():
    assert load("recogniser-hybrid", HybridConfig).net == "frames"


def test_the_recipe_of_phones_alone_fits_into_the_package():
    config = load("recogniser-phones", HybridConfig)
    model = PhoneModel.make(States(tuple(f"P{i}" for i in range(39))), config.options)
    weights = sum(value.numel() for value in model.net.state_dict().values())
    assert 2 * weights < 1_500_000  # bytes in half precision
