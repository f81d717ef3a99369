"""Training of an F0 regression on recordings."""

import pytest
import torch

from voicenym.dsp.pitch.trackers import tracker
from voicenym.errors import CorpusError
from voicenym.training.identity.train_f0_regression import train


def test_speakers_pitch_is_predicted_from_their_vectors(buzzes, small_parts):
    place = small_parts["ssl"]["speaker"]
    found, left = train(buzzes, place, tracker("yaapt"))
    assert found.size == 12
    assert len(found.version) == 16
    assert 0.0 <= left < 1.0
    from voicenym.nets.speakers.speaker_encoders import load

    encoder = load(place)
    ends = [torch.from_numpy(buzzes[i].samples()) for i in (0, -1)]
    mean, _ = found(encoder.embed(ends))
    assert float(mean[0]) < float(mean[1])


def test_few_speakers_are_refused(buzzes, small_parts):
    with pytest.raises(CorpusError, match="8"):
        train(buzzes[:3], small_parts["ssl"]["speaker"], tracker("yaapt"))
