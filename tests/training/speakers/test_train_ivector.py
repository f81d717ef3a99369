"""Training of i-vectors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from voicenym.dsp.features.cepstra import Cepstra
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import read
from voicenym.nets.statistics.background_model import Background
from voicenym.training.run.config import build
from voicenym.training.speakers.train_ivector import IVectorConfig, cut, rank_for, train
from voicenym.training.speakers.train_ubm import SpeechRows

CEPSTRA = Cepstra(coefficients=5, bands=15, slopes=0)
CONFIG = IVectorConfig(CEPSTRA, components=4, covariances="full", rank=5)


def test_rank_follows_the_data():
    assert rank_for(100_000) == 400
    assert rank_for(2_751) == 171
    assert rank_for(3) == 2


def test_trains_and_saves_what_extracts_the_same_vectors(corpus, tmp_path):
    messages = []
    learnt = train(corpus, tmp_path, CONFIG, messages.append)
    assert learnt.vectors.shape == (24, 5)
    assert learnt.speakers == tuple(recording.speaker for recording in corpus)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["config.json", "model.safetensors"]
    loaded = Background.of(*read(tmp_path))
    found = loaded.ivectors([torch.from_numpy(recording.samples()) for recording in corpus])
    np.testing.assert_allclose(found, learnt.vectors, atol=1e-3)
    # minimum divergence keeps their mean near 0
    assert np.abs(learnt.vectors.mean(0)).max() < 0.1
    assert any("nats a recording" in text for text in messages)


def test_long_recordings_are_cut(corpus, tmp_path):
    assert cut(SpeechRows("a", 10, 309), 100) == [
        SpeechRows("a", 10, 159),
        SpeechRows("a", 159, 309),
    ]
    assert cut(SpeechRows("a", 0, 99), 100) == [SpeechRows("a", 0, 99)]
    assert cut(SpeechRows("a", 0, 99), 0) == [SpeechRows("a", 0, 99)]
    config = IVectorConfig(CEPSTRA, components=2, rank=2, piece=0.1)
    speakers = train([corpus[0], corpus[4]], tmp_path, config).speakers
    assert set(speakers) == {"s0", "s1"}
    assert len(speakers) > 2


def test_is_configured_by_a_file():
    values = {"components": 8, "piece": 3, "cepstra": {"coefficients": 20, "window": 0}}
    config = build(IVectorConfig, values, "a.yaml")
    assert config == IVectorConfig(Cepstra(20, window=0), components=8, piece=3.0)


def test_says_what_is_wrong(corpus, tmp_path):
    with pytest.raises(VoicenymError, match="one recording"):
        train(corpus[:1], tmp_path, CONFIG)
    with pytest.raises(VoicenymError, match="rank"):
        IVectorConfig(rank=-1)
