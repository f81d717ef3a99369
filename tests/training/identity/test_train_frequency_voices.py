"""Training of a map from formants and F0 to speaker vectors."""

import pytest
import torch

from voicenym.errors import CorpusError
from voicenym.training.identity.train_frequency_voices import LEAST_SPEAKERS, train


def test_vectors_follow_the_frequencies(buzzes, small_parts):
    place = small_parts["ssl"]["speaker"]
    found, near = train(buzzes, place)
    assert (found.size, found.formants, len(found.version)) == (12, 4, 16)
    assert -1.0 <= near <= 1.0
    from voicenym.nets.speakers.formant_pitch_encoder import Formants, octaves
    from voicenym.nets.speakers.speaker_encoders import load

    ends = [torch.from_numpy(buzzes[i].samples()) for i in (0, -1)]
    low, high = torch.nn.functional.normalize(load(place).embed(ends), dim=1)
    like_low, like_high = found(octaves(Formants().eval().embed(ends)))
    # each end's vector is nearer to its own speaker's than to that of the other end
    assert float((like_low - like_high) @ (low - high)) > 0.0


def test_few_speakers_are_refused(buzzes, small_parts):
    with pytest.raises(CorpusError, match=str(LEAST_SPEAKERS)):
        train(buzzes[:3], small_parts["ssl"]["speaker"])
