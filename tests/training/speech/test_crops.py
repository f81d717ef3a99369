import numpy as np
import pytest
import torch

from voicenym.errors import CorpusError
from voicenym.training.speech.crops import SpeakerCrops, resampled


def test_a_crop_depends_on_seed_epoch_and_index_alone(shelved):
    one, two = SpeakerCrops(shelved, 0.5, 20), SpeakerCrops(shelved, 0.5, 20)
    list(one)
    for a, b in zip(one, reversed([two[i] for i in reversed(range(20))]), strict=True):
        assert a[1] == b[1]
        assert torch.equal(a[0], b[0])
    two.advance(1)
    assert any(not torch.equal(one[i][0], two[i][0]) for i in range(20))


def test_every_speaker_at_every_speed_is_drawn_about_equally(shelved):
    crops = SpeakerCrops(shelved, 0.1, 3000, speeds=(1.0, 0.9, 1.1))
    count = np.bincount([label for _, label in crops], minlength=crops.classes)
    assert crops.classes == 30
    assert count.min() > 60
    assert count.max() < 145


def test_a_label_says_who_and_how_fast(shelved):
    crops = SpeakerCrops(shelved, 0.8, 200, speeds=(1.0, 0.8))
    for samples, label in crops:
        speaker, pace = divmod(label, 2)
        expected = 80.0 * 2 ** (int(crops.speakers[speaker][1:]) / 5.0) * (1.0, 0.8)[pace]
        x = samples.numpy()
        alike = np.correlate(x, x[:8_000], "valid")[: round(1.5 * 16_000 / expected)]
        lags = np.arange(len(alike)) * expected / 16_000
        # A period later the voice repeats itself, half a period later it does not.
        assert alike[np.abs(lags - 1) < 0.07].max() > 0.6 * alike[0]
        assert alike[np.abs(lags - 0.5) < 0.1].max() < 0.9 * alike[np.abs(lags - 1) < 0.07].max()


def test_a_short_utterance_is_repeated(shelved):
    crops = SpeakerCrops(shelved, 2.5, 5, speeds=(1.0,))
    for samples, _ in crops:
        assert len(samples) == 40_000
        assert torch.equal(samples[:16_000], samples[16_000:32_000])


def test_one_speaker_is_refused(shelved):
    with pytest.raises(CorpusError, match="at least two"):
        SpeakerCrops(shelved[:6])


@pytest.mark.parametrize("length", [900, 1_000, 1_100])
def test_resampling_keeps_a_tone(length):
    """A tone of five periods has five periods at any length, at the same height."""
    time = np.arange(1_000) / 1_000
    tone = np.sin(2 * np.pi * 5 * time).astype(np.float32)
    expected = np.sin(2 * np.pi * 5 * np.arange(length) / length)
    np.testing.assert_allclose(resampled(tone, length), expected, atol=1e-5)
