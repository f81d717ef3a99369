"""Cepstra against a plain computation, frame by frame in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.fft
import torch

from voicenym.dsp.features import mfcc
from voicenym.dsp.features.mfcc import MFCC, mel, normalised, triangles, with_slopes


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    return 0.1 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def plain_mfcc(signal: np.ndarray, coefficients: int, bands: int, low: float, high: float):
    """The definition: 25 ms every 10 ms, one frame and one band at a time."""
    x = signal.astype(np.float64) * 32768
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 399)) ** 0.85
    to_mel = lambda f: 1127 * math.log(1 + f / 700)  # noqa: E731
    step = (to_mel(high) - to_mel(low)) / (bands + 1)
    rows = []
    for t in range((len(x) + 80) // 160):
        frame = np.empty(400)
        for i in range(400):
            place = 160 * t + 80 - 200 + i
            while not 0 <= place < len(x):
                place = -place - 1 if place < 0 else 2 * len(x) - 1 - place
            frame[i] = x[place]
        frame -= frame.mean()
        energy = math.log(np.square(frame).sum())
        emphasised = frame - 0.97 * np.concatenate([frame[:1], frame[:-1]])
        power = np.abs(np.fft.rfft(emphasised * window, 512)) ** 2
        levels = []
        for band in range(bands):
            left = to_mel(low) + band * step
            total = 0.0
            for k in range(257):
                along = (to_mel(k * 16000 / 512) - left) / step
                total += power[k] * max(0.0, min(along, 2 - along))
            levels.append(math.log(total))
        cepstrum = scipy.fft.dct(levels, type=2, norm="ortho")[:coefficients]
        cepstrum *= 1 + 11 * np.sin(np.pi * np.arange(coefficients) / 22)
        rows.append([energy, *cepstrum[1:]])
    return np.array(rows)


@pytest.mark.parametrize("samples", [200, 1000, 1679, 1680])
def test_equals_the_definition(samples):
    signal = noise(samples, seed=samples) + 0.05
    found = MFCC(13, 23, 20.0, 7800.0)(signal).numpy()
    expected = plain_mfcc(signal.numpy(), 13, 23, 20.0, 7800.0)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-3)


def test_a_batch_is_its_rows_and_level_moves_the_energy_alone():
    signals = noise(3, 8000)
    cepstra = MFCC()
    together = cepstra(signals)
    assert together.shape == (3, 50, 24)
    for signal, row in zip(signals, together, strict=True):
        torch.testing.assert_close(cepstra(signal), row, atol=1e-3, rtol=1e-5)
    louder = cepstra(4 * signals) - together
    torch.testing.assert_close(louder[..., 0], torch.full((3, 50), 2 * math.log(4)))
    torch.testing.assert_close(louder[..., 1:], torch.zeros(3, 50, 23), atol=2e-3, rtol=0)


def test_small_blocks_give_the_same(monkeypatch):
    signals = noise(2, 8000)
    whole = MFCC()(signals)
    monkeypatch.setattr(mfcc, "BLOCK_FRAMES", 14)
    torch.testing.assert_close(MFCC()(signals), whole, atol=1e-4, rtol=1e-5)


def test_silence_is_finite_and_a_click_has_no_frame():
    assert torch.isfinite(MFCC()(torch.zeros(4000))).all()
    assert MFCC()(torch.zeros(2, 199)).shape == (2, 0, 24)
    assert with_slopes(torch.zeros(2, 0, 24)).shape == (2, 0, 72)
    assert normalised(torch.zeros(0, 24)).shape == (0, 24)


def test_neighbouring_triangles_add_up_to_one():
    bank = triangles(30, 20.0, 7600.0)
    corners = torch.linspace(*mel(torch.tensor([20.0, 7600.0])).tolist(), 32)
    bins = mel(torch.linspace(0, 8000, 257))
    inside = (bins >= corners[1]) & (bins <= corners[-2])
    torch.testing.assert_close(bank.sum(0)[inside], torch.ones(int(inside.sum())).double())


def test_slopes_are_those_of_a_parabola():
    time = torch.arange(40, dtype=torch.float64)
    parabola = 2.0 + 3.0 * time + 0.5 * time**2
    found = with_slopes(parabola[:, None], order=2, reach=3)
    assert found.shape == (40, 3)
    inner = slice(6, -6)
    torch.testing.assert_close(found[inner, 0], parabola[inner])
    torch.testing.assert_close(found[inner, 1], 3.0 + time[inner])
    torch.testing.assert_close(found[inner, 2], torch.ones(28, dtype=torch.float64))


def test_slopes_go_on_beyond_the_ends_with_the_last_value():
    x = noise(9, 2).double()
    found = with_slopes(x, order=1, reach=2)[:, 2:]
    for t in range(9):
        steps = [(j, x[min(max(t + j, 0), 8)]) for j in range(-2, 3)]
        torch.testing.assert_close(found[t], sum(j * value for j, value in steps) / 10)


@pytest.mark.parametrize("frames", [4, 5, 23])
def test_the_sliding_window_keeps_its_length_at_the_ends(frames):
    x, window = noise(frames, 3, seed=2), 5
    found = normalised(x, window, variance=True)
    for t in range(frames):
        start = min(max(t - window // 2, 0), max(0, frames - window))
        part = x[start : start + window].double()
        expected = (x[t] - part.mean(0)) / part.std(0, correction=0)
        torch.testing.assert_close(found[t].double(), expected, atol=1e-4, rtol=1e-4)


def test_the_mean_of_an_utterance_is_taken_out_whatever_the_channel():
    x = noise(50, 4)
    torch.testing.assert_close(normalised(x + 7.0, None), normalised(x, None), atol=1e-5, rtol=0)
    assert normalised(x, None).mean(0).abs().max() < 1e-6


def test_means_over_windows_are_computed_once_where_variances_are_not_wanted(monkeypatch):
    calls = []
    sliding_mean = mfcc._sliding_mean

    def counted(values, window):
        calls.append(1)
        return sliding_mean(values, window)

    monkeypatch.setattr(mfcc, "_sliding_mean", counted)
    normalised(noise(40, 3), 10)
    assert len(calls) == 1
    normalised(noise(40, 3), 10, variance=True)
    assert len(calls) == 3
