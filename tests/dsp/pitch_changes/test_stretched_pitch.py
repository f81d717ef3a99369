"""Stretching and resampling, against a plain program in double precision."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
import torch

from voicenym.dsp.pitch_changes import stretched_pitch
from voicenym.dsp.pitch_changes.locked_phases import BESIDE, LockedPhases
from voicenym.dsp.pitch_changes.stretched_pitch import StretchedPitch, hops, interpolation

HOP, SIZE = 64, 512
LOWEST = 2 ** (-5 / 12)
RATIOS = [2 ** (n / 12) for n in (-4.7, -2.1, 0.0, 2.6, 4.9)]


def voice(seconds=2.0, rate=8_000):
    n = torch.arange(round(seconds * rate), dtype=torch.float64) / rate
    phase = 2 * math.pi * (140.0 + 40.0 * torch.sin(2 * math.pi * n)).cumsum(0) / rate
    noise = torch.randn(len(n), dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    signal = sum(torch.cos(k * phase) / k for k in range(1, 18)) + 0.05 * noise
    return (0.05 * signal * (torch.sin(2 * math.pi * n / 0.7) > -0.6)).float()


def plain(signal, ratio, hop, size):
    """The definition: frames stretched one by one, then sinc interpolation of the whole."""
    analysis, synthesis = hops(ratio, hop)
    before = size + 9 * analysis  # silent frames, whose windows count
    count = -(-(len(signal) + 4 * size) // analysis)
    padded = torch.nn.functional.pad(signal.double(), (before, count * analysis + size))
    window = torch.hann_window(size, periodic=True, dtype=torch.float64)
    phases = LockedPhases(size, analysis, synthesis)
    stretched = torch.zeros(count * synthesis + size, dtype=torch.float64)
    weight = torch.zeros_like(stretched)
    place = torch.arange(size // 2 + 1).double() * synthesis / analysis / (size // 2)
    fade = ((1.0 - place) / stretched_pitch.TAPER).clamp(0.0, 1.0)
    fade = 0.5 - 0.5 * torch.cos(math.pi * fade) if synthesis > analysis else torch.ones(len(place))
    for m in range(count):
        spectrum = torch.fft.rfft(padded[m * analysis : m * analysis + size] * window)
        single = torch.fft.rfft(padded[m * analysis : m * analysis + size].float() * window.float())
        given = single[None].clone()
        power = given.real.square() + given.imag.square()
        power = torch.nn.functional.pad(power, (BESIDE, BESIDE), value=-1.0).contiguous()
        phases.turn(given, power, None)
        turn = torch.where(single.abs() > 0, given[0].to(torch.complex128) / single, 1.0)
        kept = spectrum * fade
        scale = torch.ones(len(place)).double() * 2.0
        scale[0] = scale[-1] = 1.0
        energy = [(scale * one.abs().square()).sum() for one in (spectrum, kept)]
        gain = (energy[0] / energy[1]).sqrt() if energy[1] > 0 else 0.0
        frame = torch.fft.irfft(kept * turn * gain, n=size) * window
        stretched[m * synthesis : m * synthesis + size] += frame
        weight[m * synthesis : m * synthesis + size] += window.square()
    stretched /= weight.clamp_min(1e-3)
    # sample n lies at the middle of a frame that begins at n - size / 2
    taps = stretched_pitch.TAPS
    places = (torch.arange(len(signal)).double() + before - size / 2) * synthesis / analysis
    places += size / 2
    at = places.floor().long()[:, None] + torch.arange(-taps // 2 - 1, taps // 2 + 2)
    distance = at - places[:, None]
    inside = (1.0 - (distance / (taps / 2)).square()).clamp_min(0.0)
    kernel = torch.sinc(distance) * torch.special.i0(stretched_pitch.KAISER * inside.sqrt())
    kernel *= inside > 0.0
    values = stretched[at.clamp(0, len(stretched) - 1)] * (at >= 0)
    return ((values * kernel).sum(1) / kernel.sum(1)).float()


def made(signal, ratios, split=None, hop=HOP, size=SIZE):
    core = StretchedPitch(ratios, hop, size, LOWEST)
    rows = signal.expand(len(ratios), -1)
    parts = [core.push(part) for part in rows.split(split, dim=1)] if split else []
    last = core.flush() if split else core.finish(rows)
    return torch.cat([*parts, last], dim=1)


@pytest.mark.parametrize("ratio", RATIOS)
def test_it_is_what_its_definition_gives(ratio):
    signal = voice()
    expected = plain(signal, ratio, HOP, SIZE)
    torch.testing.assert_close(made(signal, [ratio])[0], expected, atol=2e-6, rtol=0)


@pytest.mark.skipif("VOICENYM_SPEECH" not in os.environ, reason="needs real speech")
@pytest.mark.parametrize(("rate", "hop"), [(8_000, 64), (11_025, 88), (16_000, 128)])
def test_it_is_what_its_definition_gives_on_real_speech(rate, hop):
    soundfile = pytest.importorskip("soundfile")
    soxr = pytest.importorskip("soxr")
    files = sorted(Path(os.environ["VOICENYM_SPEECH"]).glob("librispeech/*/*.opus"))
    for file, ratio in zip(files[:300:60], RATIOS, strict=True):
        samples, given = soundfile.read(file, dtype="float32", frames=3 * 48_000)
        signal = torch.from_numpy(soxr.resample(samples, given, rate))[: 3 * rate]
        expected = plain(signal, ratio, hop, 8 * hop)
        found = made(signal, [ratio], hop=hop, size=8 * hop)[0]
        torch.testing.assert_close(found, expected, atol=5e-6, rtol=0)


@pytest.mark.parametrize("split", [37, 64, 1000])
def test_blocks_equal_the_whole_and_are_as_soon_as_stated(split):
    signal = voice()
    whole = made(signal, RATIOS)
    torch.testing.assert_close(made(signal, RATIOS, split), whole, atol=1e-6, rtol=0)
    core = StretchedPitch(RATIOS, HOP, SIZE, LOWEST)
    given = got = 0
    for part in signal.expand(len(RATIOS), -1).split(split, dim=1):
        given, got = given + part.shape[1], got + core.push(part).shape[1]
        assert got == max(0, given - core.latency)
    assert whole.shape == (len(RATIOS), len(signal))


def test_the_latency_does_not_tell_the_ratio():
    assert len({StretchedPitch([r], HOP, SIZE, LOWEST).latency for r in RATIOS}) == 1


@pytest.mark.parametrize(("hop", "cents"), [(64, 4.2), (88, 2.9), (128, 2.1)])
def test_hops_have_the_ratio(hop, cents):
    for n in (*range(-500, -199), *range(200, 501)):
        analysis, synthesis = hops(2 ** (n / 1200), hop)
        assert abs(analysis - hop) <= hop / 8
        assert abs(1200 * math.log2(synthesis / analysis) - n) < cents


@pytest.mark.parametrize(("analysis", "synthesis"), [(64, 48), (64, 64), (67, 89)])
def test_sines_below_the_edge_are_interpolated_exactly(analysis, synthesis):
    matrix = interpolation(analysis, synthesis, SIZE)
    assert matrix.shape == (stretched_pitch.TAPS + synthesis, analysis)
    n = torch.arange(len(matrix)).double()
    ratio = synthesis / analysis
    reach = (stretched_pitch.TAPS + SIZE) // 2
    delay = reach * analysis // synthesis - SIZE // 2
    places = SIZE // 2 + stretched_pitch.TAPS - ratio * (delay + SIZE // 2)
    for omega in (0.0, 0.3, 1.5, 2.8):
        expected = torch.cos(omega * (places + ratio * torch.arange(analysis).double()))
        found = torch.cos(omega * n) @ matrix.double()
        torch.testing.assert_close(found, expected, atol=1e-3, rtol=0)


def test_a_constant_offset_stays_beside_speech():
    for ratio in RATIOS:
        shifted = made(voice() + 0.1, [ratio])[0]
        assert float(shifted[4000:12_000].mean()) == pytest.approx(0.1, abs=0.01)
