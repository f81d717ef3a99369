"""Training of an F0 regression on recordings."""

import pytest
import torch

from voicenym.corpus.recording import Recording
from voicenym.dsp.pitch.trackers import tracker
from voicenym.errors import CorpusError
from voicenym.training.identity.train_f0_regression import train


@pytest.fixture
def buzzes(tmp_path):
    """Ten speakers of two seconds, from 90 to 230 Hz."""
    import soundfile

    found = []
    for speaker in range(10):
        f0 = 90.0 * 1.11**speaker
        time = torch.arange(32_000) / 16_000
        phase = 2 * torch.pi * f0 * time + 0.8 * torch.sin(9 * time)
        signal = sum(torch.cos(k * phase) / k for k in range(1, int(4000 / f0)))
        path = tmp_path / f"s{speaker}.wav"
        soundfile.write(path, (0.1 * signal).numpy(), 16_000)
        found.append(Recording(f"u{speaker}", f"s{speaker}", path))
    return found


def test_speakers_pitch_is_predicted_from_their_vectors(buzzes, small_parts):
    place = small_parts["ssl"]["speaker"]
    found, left = train(buzzes, place, tracker("yaapt"))
    assert found.size == 12
    assert len(found.version) == 16
    assert 0.0 <= left < 1.0
    from voicenym.nets.speakers.speaker_encoders import load

    encoder = load(place)
    ends = [torch.from_numpy(buzzes[i].samples()) for i in (0, 9)]
    mean, _ = found(encoder.embed(ends))
    assert float(mean[0]) < float(mean[1])


def test_few_speakers_are_refused(buzzes, small_parts):
    with pytest.raises(CorpusError, match="8"):
        train(buzzes[:3], small_parts["ssl"]["speaker"], tracker("yaapt"))
