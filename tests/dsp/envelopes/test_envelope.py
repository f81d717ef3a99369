from __future__ import annotations

import math

import torch

from voicenym.dsp.envelopes import envelope


def test_envelope_of_a_smooth_spectrum_is_itself():
    omega = torch.linspace(0, math.pi, 257, dtype=torch.float64)
    smooth = 1.0 + 0.8 * torch.cos(omega) - 0.3 * torch.cos(3 * omega)
    cepstrum = envelope.cepstral_envelope(smooth[None], 10)
    torch.testing.assert_close(envelope.log_envelope(cepstrum, 512)[0], smooth)


def test_true_envelope_runs_over_the_harmonics():
    omega = torch.linspace(0, math.pi, 257, dtype=torch.float64)
    peaks = torch.where(torch.arange(257) % 8 == 0, torch.cos(omega), -8.0)
    once = envelope.log_envelope(envelope.cepstral_envelope(peaks[None], 12, steps=1), 512)[0]
    often = envelope.log_envelope(envelope.cepstral_envelope(peaks[None], 12, steps=20), 512)[0]
    error_once = (once[::8] - torch.cos(omega)[::8]).abs().mean()
    error_often = (often[::8] - torch.cos(omega)[::8]).abs().mean()
    assert error_often < 0.25 * error_once


def test_warp_reads_between_bins_and_holds_the_edges():
    values = torch.arange(5.0).reshape(1, 1, 5)
    positions = torch.tensor([[0.5, 1.0, 3.25, -2.0, 9.0]])
    assert torch.allclose(
        envelope.warp_bins(values, positions), torch.tensor([[[0.5, 1.0, 3.25, 0.0, 4.0]]])
    )


def test_keep_energy_keeps_energy_and_silence():
    generator = torch.Generator().manual_seed(0)
    original = torch.randn(3, 4, 64, generator=generator)
    original[1, 2] = 0
    changed = torch.randn(3, 4, 64, generator=generator) * 7
    kept = envelope.keep_energy(changed, original)
    torch.testing.assert_close(kept.square().sum(-1), original.square().sum(-1))
    assert not kept[1, 2].any()
