import math

import pytest
import torch

from voicenym.dsp.pitch.frame_voicing import FrameVoicing

RATES = [8_000, 16_000, 48_000]


def frames_of(signal, rate):
    """Frames ``[1, frame, 20 ms]`` every 10 ms."""
    return signal[None].unfold(1, round(0.02 * rate), round(0.01 * rate))


def voicing(rate, rows=1):
    return FrameVoicing(rows, round(0.02 * rate), round(0.01 * rate), rate)


def vowel(rate, f0=120.0, seconds=1.0):
    """Harmonics up to 3.5 kHz that fall by 6 dB an octave."""
    time = torch.arange(round(seconds * rate), dtype=torch.float64) / rate
    parts = [torch.cos(2 * math.pi * k * f0 * time + k * k) / k for k in range(1, int(3500 / f0))]
    return 0.1 * torch.stack(parts).sum(0).float()


def hiss(rate, seconds=1.0):
    """Noise whose spectrum rises by 6 dB an octave."""
    generator = torch.Generator().manual_seed(1)
    return 0.02 * torch.randn(round(seconds * rate) + 1, generator=generator).diff()


def decided(signal, rate, late=0.0):
    frames = frames_of(signal, rate)
    return voicing(rate)(frames, torch.full(frames.shape[:2], late))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("f0", "late"), [(90.0, 1.0), (120.0, 0.0), (240.0, 0.0)])
def test_a_vowel_is_voiced_and_high_ones_before_the_tracker_says_so(rate, f0, late):
    assert decided(vowel(rate, f0), rate, late).min() > 0.95


@pytest.mark.parametrize("rate", RATES)
def test_a_hiss_is_not_and_silence_neither_though_the_tracker_still_says_so(rate):
    assert decided(hiss(rate), rate, late=float(rate > 8000)).max() < 0.05
    assert decided(torch.zeros(rate), rate, late=1.0).max() == 0.0


def test_the_level_of_a_recording_does_not_count_but_its_course_does():
    signal = vowel(16_000)
    usual, loud, faint = (decided(gain * signal, 16_000) for gain in (1.0, 8.0, 0.02))
    torch.testing.assert_close(usual, loud, atol=1e-3, rtol=0)
    torch.testing.assert_close(usual, faint, atol=1e-3, rtol=0)
    falling = torch.cat([signal, 0.002 * signal])  # 54 dB below
    assert decided(falling, 16_000)[0, -20:].max() < 0.05


def test_parts_give_what_the_whole_gives():
    signal = torch.cat([vowel(16_000), hiss(16_000), 0.1 * vowel(16_000)])
    frames = frames_of(signal, 16_000)
    late = torch.zeros(frames.shape[:2])
    whole = voicing(16_000)(frames, late)
    stream = voicing(16_000)
    parts = [stream(part, late[:, : part.shape[1]]) for part in frames.split([1, 30, 2, 266], 1)]
    torch.testing.assert_close(torch.cat(parts, 1), whole, atol=1e-5, rtol=0)
