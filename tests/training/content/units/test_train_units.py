"""Training of units: clusters are found; feature extraction resumes, and ends in time."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("sklearn")

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.content.content_encoder import Content
from voicenym.training.content.units.train_units import UnitsConfig, labels, train
from voicenym.training.speech.speech_cache import SpeechCache, Utterance

SEED = 3
TRUE = torch.tensor([[0.0, 0.0], [0.5, 0.0], [0.0, 0.5], [0.5, 0.5]])
QUICK = UnitsConfig(units=4, frames=4_000, batch=500)
SOURCE = {"features": "pairs"}


class Pairs(Content):
    """Two samples of a frame as its features; counts what it hears."""

    kind = "pairs"
    size = 2

    def __init__(self):
        super().__init__()
        self.received = 0

    def encode(self, waveforms, lengths=None):
        self.received += 1
        return waveforms.unflatten(1, (-1, self.hop))[:, :, :2]

    def config(self):
        return {}


class Clusters:
    """Frames whose first two samples are near one of four points."""

    def identity(self, recording: Recording) -> str:
        return recording.name

    def __call__(self, recording: Recording) -> np.ndarray:
        rng = np.random.default_rng(int(recording.name))
        frames = np.zeros((50, 320), np.float32)
        frames[:, :2] = TRUE.numpy()[rng.integers(4, size=50)] + 0.02 * rng.standard_normal((50, 2))
        return frames.reshape(-1)


@pytest.fixture
def speech(tmp_path) -> list[Utterance]:
    recordings = [Recording(str(i), f"s{i}", Path("none.wav")) for i in range(20)]
    return SpeechCache(tmp_path / "cache").fill(recordings, Clusters())


def test_clusters_are_found(tmp_path, speech):
    found = train(Pairs(), SOURCE, speech, QUICK, tmp_path / "run")
    near = torch.cdist(TRUE, found.units.centres).min(1).values
    assert float(near.max()) < 0.02
    assert found.units.source == SOURCE
    assert (found.frames, found.utterances) == (1_000, 20)
    # of the variance of a frame, 2 / 16, what is within is 2 * 0.02^2
    assert found.explained == pytest.approx(1.0 - 0.0008 / 0.1258, abs=0.003)
    assert found.perplexity == pytest.approx(4.0, abs=0.05)
    again = train(Pairs(), SOURCE, speech, QUICK, tmp_path / "other")
    assert torch.equal(again.units.centres, found.units.centres)


def test_no_recording_is_processed_twice(tmp_path, speech):
    features = Pairs()
    ticks = itertools.count()
    say: list[str] = []
    first = train(
        features, SOURCE, speech, QUICK, tmp_path / "run",
        seconds=6.5, clock=lambda: float(next(ticks)), say=say.append,
    )  # fmt: skip
    assert first.utterances == features.received == 7
    assert "7 of 20 utterances" in say[0]
    whole = train(features, SOURCE, speech, QUICK, tmp_path / "run")
    assert whole.utterances == features.received == 20
    straight = train(Pairs(), SOURCE, speech, QUICK, tmp_path / "straight")
    assert torch.equal(straight.units.centres, whole.units.centres)
    train(features, {"features": "others"}, speech, QUICK, tmp_path / "run")
    assert features.received == 40


def test_some_frames_of_each_are_kept(tmp_path, speech):
    few = dataclasses.replace(QUICK, frames=200)
    assert train(Pairs(), SOURCE, speech, few, tmp_path / "run").frames == 200
    with pytest.raises(CorpusError, match="too few for 4 units"):
        train(Pairs(), SOURCE, speech[:1], dataclasses.replace(QUICK, frames=10), tmp_path / "few")
    kept = next((tmp_path / "run" / "frames").rglob("*.npy"))
    assert kept.parent.stat().st_mode & 0o077 == 0


def test_labels_are_the_nearest_units(tmp_path, speech):
    features = Pairs()
    found = train(features, SOURCE, speech, QUICK, tmp_path / "run")
    features.received = 0
    numbers = labels(features, found.units, speech[0], tmp_path / "labels")
    expected = torch.cdist(
        torch.from_numpy(speech[0].samples()).reshape(50, 320)[:, :2], found.units.centres
    )
    assert numbers.tolist() == expected.argmin(1).tolist()
    again = labels(features, found.units, speech[0], tmp_path / "labels")
    assert features.received == 1
    np.testing.assert_array_equal(again, numbers)
    features.size = 3
    with pytest.raises(VoicenymError, match="clusters of 2 numbers, and pairs gives 3"):
        labels(features, found.units, speech[0], tmp_path / "labels")
