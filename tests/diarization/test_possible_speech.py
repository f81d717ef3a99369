"""Possible speech: what stands out, whatever the detector of speech says."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from voicenym.diarization.possible_speech import (
    ABOVE_FLOOR,
    SILENT,
    SoundDetector,
    SoundLevels,
    possible_speech,
    seconds_outside,
    standing_out,
)
from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.diarization.speech_regions import ANY_SPEECH, speech_regions
from voicenym.nets.activity.silero import CHUNK, RATE, SpeechProbabilities


def noise(seconds, level=0.003, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return level * torch.randn(round(seconds * RATE), generator=generator)


def syllables(seconds, seed=1):
    """Noise of a telephone's band with syllables: no speech for the detector."""
    wave = noise(seconds, 1.0, seed)
    spectrum = torch.fft.rfft(wave)
    hertz = torch.fft.rfftfreq(len(wave), 1 / RATE)
    wave = torch.fft.irfft(spectrum * ((hertz > 300) & (hertz < 3000)), len(wave))
    time = torch.arange(len(wave)) / RATE
    return 0.1 * wave * (0.5 - 0.5 * torch.cos(2 * torch.pi * 4 * time))


def found(signal, blocks=4_000):
    detector = SoundDetector()
    for block in signal.split(blocks):
        detector.push(block)
    return possible_speech([detector], len(signal) / RATE)


def test_what_the_detector_misses_is_found():
    signal = noise(12.0)
    signal[3 * RATE : 6 * RATE] += syllables(3.0)
    detector = SpeechProbabilities()
    detector.push(signal)
    alone = speech_regions(detector.result().numpy(), 12.0, ANY_SPEECH)
    assert np.diff(alone).sum() < 1.5, "the detector takes it for speech: no test of the rest"
    (region,) = found(signal).tolist()
    assert region[0] < 3.05 < 5.9 < region[1]
    assert region[0] > 2.5
    assert region[1] < 6.5


@pytest.mark.parametrize("level", [0.0, 1e-5, 0.003, 0.3])
def test_steady_noise_is_background(level):
    assert len(found(noise(12.0, level))) == 0


def test_a_click_does_not_stand_out_and_digital_silence_tells_nothing():
    levels = np.full(400, -50.0)
    levels[200] = -6.0
    assert not standing_out(levels).any()
    levels[:150] = -120.0
    levels[300:] = -120.0
    assert not standing_out(levels).any(), "noise that begins and ends is no speech"


@given(gain=st.floats(0.02, 4.0), blocks=st.integers(100, 60_000))
def test_level_and_blocks_do_not_matter(gain, blocks):
    signal = noise(8.0)
    signal[2 * RATE : 5 * RATE] += syllables(3.0)

    def outstanding(wave, size):
        levels = SoundLevels()
        for block in wave.split(size):
            levels.push(block)
        return standing_out(levels.result())

    plain = outstanding(signal, len(signal))
    assert 20 < plain.sum() < 80
    assert (outstanding(gain * signal, blocks) != plain).mean() < 0.02  # rounding at the threshold


@given(st.lists(st.floats(-120.0, 0.0), max_size=700))
def test_chunks_stand_out_from_quieter_ones(levels):
    out = standing_out(np.array(levels))
    assert len(out) == len(levels)
    heard = [level for level in levels if level > SILENT]
    if out.any():
        assert np.array(levels)[out].min() > min(heard) + ABOVE_FLOOR - 1e-9


def test_seconds_outside_are_those_of_nobodys_turn():
    signal = noise(12.0)
    signal[3 * RATE : 6 * RATE] += syllables(3.0)

    def outside(*turns):
        return seconds_outside(signal.split(RATE), Diarization([*turns]))

    all_of_it = outside(Turn(10.0, 11.0, "a"))
    assert 1.0 < all_of_it < 3.0  # between syllables nothing stands out
    assert outside(Turn(2.9, 6.1, "a")) == 0.0
    assert outside(Turn(3.3, 5.7, "a")) == 0.0, "onset and decay belong to a turn"
    assert outside(Turn(2.9, 4.2, "a")) == pytest.approx(all_of_it / 2, abs=0.2)


def test_the_end_counts_too():
    signal = noise(6.0)
    signal[-(RATE // 4) :] += syllables(0.25) * 3.0
    assert len(signal) % CHUNK
    (region,) = found(signal).tolist()
    assert region[1] == pytest.approx(6.0, abs=0.01)
