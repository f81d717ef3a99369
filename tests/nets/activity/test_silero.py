"""Silero's detector: the published network's probabilities, and independence of block sizes."""

import numpy as np
import pytest
import soundfile
import torch

from voicenym.nets.activity.silero import CHUNK, SpeechProbabilities, bundled

PUBLISHED = (0.0089, 0.5598, 0.9998, 0.9999, 1.0, 0.9999, 1.0, 1.0, 0.9999, 0.9997, 1.0, 0.9999)
"""Of every sixth chunk of samples/sample.wav, by the package silero-vad 6.2.3."""


@pytest.fixture(scope="module")
def signal(sample):
    return torch.from_numpy(soundfile.read(sample, dtype="float32")[0])


def probabilities(signal, sizes=()):
    detector = SpeechProbabilities()
    for part in signal.split(list(sizes)) if sizes else [signal]:
        detector.push(part)
    return detector.result().numpy()


def test_probabilities_are_those_of_the_published_network(signal):
    found = probabilities(signal)
    assert np.abs(found[: 6 * len(PUBLISHED) : 6] - PUBLISHED).max() < 0.005


def test_blocks_of_any_size_give_the_same(signal):
    signal = signal[:30_000]
    whole = probabilities(signal)
    assert len(whole) == -(-30_000 // 512)
    for sizes in ([1, 0, 511, 513, 7000, 21_975], [100] * 300):
        assert np.abs(probabilities(signal, sizes) - whole).max() < 1e-5


def test_blocks_of_many_lengths_have_few_shapes(monkeypatch):
    """Of each shape, oneDNN keeps its primitives: an hour of stretches took 60 MB."""
    network, shapes = bundled(), set()
    forward = type(network).forward

    def seen(self, chunks, state=None):
        shapes.add(len(chunks))
        return forward(self, chunks, state)

    monkeypatch.setattr(type(network), "forward", seen)
    noise = 0.05 * torch.randn(1_100 * CHUNK, generator=torch.Generator().manual_seed(0))
    for count in (*range(1, 50), *range(50, 1_100, 31)):
        assert len(probabilities(noise[: count * CHUNK])) == count
    assert len(shapes) <= 31 + 6


def test_silence_and_noise_are_no_speech():
    assert not len(probabilities(torch.zeros(0)))
    noise = 0.05 * torch.randn(32_000, generator=torch.Generator().manual_seed(0))
    assert probabilities(noise)[10:].max() < 0.5
