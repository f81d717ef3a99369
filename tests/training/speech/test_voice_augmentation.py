"""Voice augmentation: another voice, room or band, with the same words at the same times."""

from __future__ import annotations

import numpy as np
import soundfile

from voicenym.training.speech.augmentation import Surroundings
from voicenym.training.speech.voice_augmentation import VoiceAugmentation

CALM = Surroundings(noise=0.0, babble=0.0, room=0.0, band=0.0)


def test_length_and_draws_are_kept(sample):
    samples, rate = soundfile.read(sample, dtype="float32")
    assert rate == 16_000
    disguise = VoiceAugmentation()
    for seed in range(4):
        found = disguise(samples, np.random.default_rng(seed))
        assert found.shape == samples.shape
        assert found.dtype == np.float32
        assert np.isfinite(found).all()
        assert np.abs(found).max() <= 1.0
        np.testing.assert_array_equal(found, disguise(samples, np.random.default_rng(seed)))


def test_every_recording_has_another_voice_or_none(sample):
    samples, _ = soundfile.read(sample, dtype="float32")
    always = VoiceAugmentation(voice=1.0, around=CALM)
    first, second = (always(samples, np.random.default_rng(seed)) for seed in (1, 2))
    assert np.abs(first - samples).max() > 0.01
    assert np.abs(first - second).max() > 0.01
    never = VoiceAugmentation(voice=0.0, around=CALM)
    np.testing.assert_allclose(never(samples, np.random.default_rng(1)), samples, atol=1e-6)


def test_equal_names_mean_equal_changes():
    assert VoiceAugmentation().identity() == VoiceAugmentation().identity()
    assert VoiceAugmentation().identity() != VoiceAugmentation(voice=0.5).identity()
    assert VoiceAugmentation(around=CALM).identity() != VoiceAugmentation().identity()
