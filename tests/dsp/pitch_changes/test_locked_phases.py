"""Phases locked to peaks, against equations computed bin by bin in double precision."""

from __future__ import annotations

import math

import pytest
import torch

from voicenym.dsp.pitch_changes.locked_phases import BESIDE, LockedPhases, regions

SIZE, ANALYSIS, SYNTHESIS = 64, 8, 11
BINS = SIZE // 2 + 1


def spectra(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    parts = torch.randn(2, count, BINS, dtype=torch.float64, generator=generator)
    return torch.complex(parts[0], parts[1]).to(torch.complex64)


def padded(power):
    return torch.nn.functional.pad(power, (BESIDE, BESIDE), value=-1.0).contiguous()


def power_of(given):
    return padded(given.real.square() + given.imag.square())


def peaks_of(values):
    """Bins above two on either side, one by one; bin 0 if there is none."""
    found = [
        k
        for k, value in enumerate(values)
        if all(value > other for other in values[max(0, k - 2) : k] + values[k + 1 : k + 3])
    ]
    return found or [0]


def turned(given, analysis, synthesis):
    """What :class:`LockedPhases` computes, by angles of every peak of every frame."""
    before, rotation = torch.zeros(BINS, dtype=torch.complex128), [0.0] * BINS
    out = []
    for now in given.to(torch.complex128):
        peaks = peaks_of((now.real.square() + now.imag.square()).float().tolist())
        turns = {}
        for k in peaks:
            omega = 2.0 * math.pi * k / SIZE
            advance = 0.0
            if now[k] != 0.0 and before[k] != 0.0:
                advance = float(now[k].angle() - before[k].angle())
            else:  # nothing is known: the bin's own frequency
                advance = analysis * omega
            deviation = math.remainder(advance - analysis * omega, 2.0 * math.pi)
            frequency = omega + deviation / analysis
            turns[k] = rotation[k] + synthesis * frequency - (analysis * omega + deviation)
        rotation = [turns[min(peaks, key=lambda peak: abs(peak - k))] for k in range(BINS)]
        out.append(now * torch.polar(torch.ones(BINS).double(), torch.tensor(rotation).double()))
        before = now
    return torch.stack(out)


@pytest.mark.parametrize("synthesis", [6, 8, 11])
def test_spectra_are_turned_as_the_equations_say(synthesis):
    given = spectra(60)
    given[20:23] = 0.0  # silence, and what follows it
    expected = turned(given, ANALYSIS, synthesis)
    LockedPhases(SIZE, ANALYSIS, synthesis).turn(given, power_of(given), None)
    torch.testing.assert_close(given, expected.to(torch.complex64), atol=2e-4, rtol=0)


def test_spectra_at_once_or_one_by_one_have_the_same_bits():
    given = spectra(40)
    gain = torch.linspace(0.5, 2.0, 40)
    whole, parts = given.clone(), given.clone()
    LockedPhases(SIZE, ANALYSIS, SYNTHESIS).turn(whole, power_of(given), gain)
    phases = LockedPhases(SIZE, ANALYSIS, SYNTHESIS)
    for part, weight in zip(parts.split([1, 7, 2, 30]), gain.split([1, 7, 2, 30]), strict=True):
        phases.turn(part, power_of(part), weight)
    assert torch.equal(whole, parts)
    torch.testing.assert_close(whole.abs(), given.abs() * gain[:, None], atol=1e-5, rtol=0)


def test_every_bin_has_its_nearest_peak():
    power = torch.rand(6, 12, generator=torch.Generator().manual_seed(0))
    power[0] = torch.tensor([0.0, 1, 9, 1, 0, 0, 1, 7, 1, 0, 0, 0])
    power[1] = 1.0  # no peak
    power[2, 0], power[3, -1] = 2.0, 2.0  # at the edges
    power[4, 4:8] = torch.tensor([2.0, 3.0, 3.0, 2.0])  # two as large
    found = regions(padded(power))
    expected = [peaks_of(row) for row in power.tolist()]
    assert expected[:2] == [[2, 7], [0]]
    assert 0 in expected[2]
    assert 11 in expected[3]
    assert found.counts.tolist() == [len(row) for row in expected]
    assert found.bins.tolist() == [k for row in expected for k in row]
    assert (found.peaks // 12).tolist() == [n for n, row in enumerate(expected) for _ in row]
    nearest = [min(row, key=lambda peak: abs(peak - k)) for row in expected for k in range(12)]
    assert found.bins[found.owner].tolist() == nearest
