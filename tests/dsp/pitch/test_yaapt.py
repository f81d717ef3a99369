import math
import os

import numpy
import pytest
import torch

from voicenym.dsp.pitch.yaapt import Yaapt

RATE = 16_000


def voice(hertz, without=0, noise=0.0, seed=0):
    """Pulses at a track of F0 ``[time]`` with the tilt and two formants of an open vowel."""
    hertz = torch.as_tensor(hertz, dtype=torch.float32)
    turns = torch.cumsum(hertz.double() / RATE, 0)
    generator = torch.Generator().manual_seed(seed)
    signal = noise * torch.randn(len(hertz), generator=generator)
    for k in range(1 + without, 40):
        gain = 0.05 + sum(1 / (1 + ((k * hertz - f) / 120) ** 2) for f in (500.0, 1300.0))
        there = (hertz > 0) & (k * hertz < RATE / 2)
        signal += 0.1 / k * there * gain * torch.cos(2 * math.pi * (k * turns % 1)).float()
    return signal


def steady(hertz, seconds=0.6, **options):
    return voice(torch.full((round(seconds * RATE),), float(hertz)), **options)


@pytest.mark.parametrize("hertz", [70.0, 110.0, 163.0, 225.0, 310.0, 390.0])
def test_a_steady_voice_has_its_pitch(hertz):
    f0, merit = Yaapt()(steady(hertz)[None], RATE)
    assert f0.shape == merit.shape == (1, 60)
    middle = f0[0, 3:-3]
    assert (middle / hertz - 1).abs().max() < 0.005
    assert merit[0, 3:-3].min() > 0.9


@pytest.mark.parametrize("hertz", [110.0, 163.0])
def test_the_square_brings_a_missing_fundamental_back(hertz):
    f0, _ = Yaapt()(steady(hertz, without=1)[None], RATE)
    assert (f0[0, 3:-3] / hertz - 1).abs().max() < 0.01


def test_a_glide_is_followed_and_pauses_are_unvoiced():
    time = torch.arange(2 * RATE) / RATE
    hertz = 140 * torch.exp2(0.5 * torch.sin(2 * math.pi * 0.8 * time))
    hertz[(time > 0.8) & (time < 1.2)] = 0
    f0, _ = Yaapt()(voice(hertz, noise=0.001)[None], RATE)
    asked = hertz[::160]
    pause = (torch.arange(200) > 84) & (torch.arange(200) < 116)
    assert (f0[0, pause] == 0).all()
    sung = (f0[0] > 0) & (asked > 0)
    assert sung.sum() > 0.9 * (asked > 0).sum()
    assert (f0[0, sung] / asked[sung] - 1).abs().quantile(0.95) < 0.02


def test_noise_bears_no_pitch_and_silence_neither():
    generator = torch.Generator().manual_seed(3)
    noise = 0.1 * torch.randn(1, 2 * RATE, generator=generator)
    assert (Yaapt()(noise, RATE)[0] > 0).float().mean() < 0.03
    f0, merit = Yaapt()(torch.zeros(2, RATE), RATE)
    assert (f0 == 0).all()
    assert merit.isfinite().all()


@pytest.mark.parametrize("samples", [0, 1, 159, 161, 800])
def test_short_recordings_have_a_value_for_each_frame(samples):
    f0, merit = Yaapt()(steady(150.0)[None, :samples], RATE)
    assert f0.shape == merit.shape == (1, -(-samples // 160))
    assert f0.isfinite().all()


def test_rows_do_not_touch_each_other_and_loudness_does_not_matter():
    rows = torch.stack([steady(120.0, noise=0.002), steady(240.0), torch.zeros(9600)])
    together, _ = Yaapt()(rows, RATE)
    for row in range(3):
        alone, _ = Yaapt()(rows[row : row + 1], RATE)
        torch.testing.assert_close(together[row : row + 1], alone, rtol=1e-4, atol=1e-3)
    quiet, _ = Yaapt()(0.05 * rows, RATE)
    torch.testing.assert_close(quiet, together, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("rate", [8_000, 44_100])
def test_other_rates_and_hops(rate):
    time = torch.arange(rate // 2) / rate
    signal = sum(torch.cos(2 * math.pi * 180 * k * time) for k in range(1, 8))
    f0, _ = Yaapt(hop=0.02)(0.05 * signal[None], rate)
    assert f0.shape == (1, 25)
    assert (f0[0, 2:-2] / 180 - 1).abs().max() < 0.01


def test_limits_are_kept():
    f0, _ = Yaapt(lowest=100.0, highest=200.0)(steady(240.0)[None], RATE)
    assert ((f0 == 0) | ((f0 > 99) & (f0 < 201))).all()


def test_agrees_with_praat_on_a_sentence(say):
    parselmouth = pytest.importorskip("parselmouth")
    import soundfile

    from voicenym.dsp.pitch.trackers import tracker

    samples, rate = soundfile.read(say("We were away a year ago.", "rms"), dtype="float32")
    signal = torch.from_numpy(samples)[None]
    ours, praats = tracker("yaapt")(signal, rate).f0[0], tracker("praat")(signal, rate).f0[0]
    assert parselmouth  # used by the tracker
    both = (ours > 0) & (praats > 0)
    assert both.float().mean() > 0.4
    assert ((ours / praats - 1).abs()[both] < 0.05).float().mean() > 0.9
    assert ((ours > 0) == (praats > 0)).float().mean() > 0.8


@pytest.mark.skipif("VOICENYM_SPEECH" not in os.environ, reason="needs real speech")
def test_agrees_with_praat_on_real_speech(speech_folder):
    pytest.importorskip("parselmouth")
    import soundfile

    from voicenym.dsp.pitch.trackers import tracker

    found = []
    for path in sorted((speech_folder / "librispeech").rglob("*.opus"))[:6]:
        samples, rate = soundfile.read(path, dtype="float32", frames=5 * RATE)
        signal = torch.from_numpy(samples)[None]
        ours, praats = tracker("yaapt")(signal, rate).f0[0], tracker("praat")(signal, rate).f0[0]
        both = (ours > 0) & (praats > 0)
        found.append(((ours / praats - 1).abs()[both] < 0.2).float().mean().item())
    assert numpy.mean(found) > 0.93
