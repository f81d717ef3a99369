"""Warps of the frequency axis: bilinear, quadratic, and with smooth bends."""

from __future__ import annotations

import math

import torch


def bilinear(omega: torch.Tensor, alpha: float | torch.Tensor) -> torch.Tensor:
    """Bilinear warp f_alpha(w) = w + 2 atan(alpha sin w / (1 - alpha cos w)), on [0, pi]."""
    return omega + 2.0 * torch.atan2(alpha * omega.sin(), 1.0 - alpha * omega.cos())


def quadratic(omega: torch.Tensor, beta: float) -> torch.Tensor:
    """Quadratic warp g_beta(w) = w + beta (w / pi - (w / pi)^2), on [0, pi]."""
    x = omega / math.pi
    return omega + beta * (x - x * x)


def bent_bins(change: torch.Tensor, bends: torch.Tensor, top: float, bins: int) -> torch.Tensor:
    """Source bin ``[row, frame, bin]`` that each output bin is read from.

    A bilinear warp whose slope at 0 is ``exp(-change)``, limited to 0.25, plus bends ``a_k sin(k
    w)``; made monotonic.

    Args:
        change: of log formant frequency, ``[row, frame]``.
        bends: ``[row, order]``, in radians.
        top: frequency of the last bin, in radians.
        bins: their number.
    """
    omega = torch.linspace(0.0, top, bins, device=change.device)
    slope = (-change.clamp(-0.25, 0.25)).exp()[..., None]
    h = bilinear(omega, (slope - 1.0) / (slope + 1.0))
    order = torch.arange(1, bends.shape[1] + 1, device=h.device)
    h = h + (bends @ torch.sin(order[:, None] * omega))[:, None]
    return h.cummax(dim=-1).values / top * (bins - 1)
