"""Linear prediction, vectorised over frames.

Arrays are laid out ``[lag or time, frame]``: the recursions run over the first axis and every step
of them is one vector operation over all frames.
"""

from __future__ import annotations

import math

import torch

WHITE_NOISE = 1e-9
"""Share of the energy added to lag 0 (-90 dB), which bounds the condition of the equations."""

TRANSFORMED = 128
"""Frames transformed at once: their spectra fit the second-level cache."""

GRID = 2.0**32
"""Normalised autocorrelations are rounded to this grid. McAdams' angles jump where two real poles
meet; without a grid the last bit of a sum, which differs with the number of frames, may decide."""


def autocorrelation(frames: torch.Tensor, order: int) -> torch.Tensor:
    """Autocorrelation of windowed frames.

    Args:
        frames: ``[time, frame]``, already windowed.
        order: highest lag.

    Returns:
        ``[order + 1, frame]`` float64: r_k = sum_n x_n x_(n+k), divided by r_0; zeros for silence.
    """
    if not frames.shape[1]:
        return frames.new_zeros(order + 1, 0, dtype=torch.float64)
    # The autocorrelation is computed from the power spectrum, and only these lags are transformed
    # back: less work than one pass over the samples for every lag. Room for ``order`` zeros keeps
    # lags from wrapping round.
    size = -(-(frames.shape[0] + order) // 32) * 32
    bins = torch.arange(size // 2 + 1, dtype=torch.float64, device=frames.device)
    lags = torch.arange(order + 1, dtype=torch.float64, device=frames.device)
    back = torch.cos(2.0 * math.pi / size * lags[:, None] * bins) * (2.0 / size)
    back[:, 0] *= 0.5
    back[:, -1] *= 0.5
    back = back.repeat_interleave(2, 1)  # for real and imaginary parts
    r = []
    for part in frames.T.split(TRANSFORMED):
        spectrum = torch.view_as_real(torch.fft.rfft(part.double(), size)).flatten(1)
        r.append(back @ spectrum.square_().T)
    lag = torch.cat(r, dim=1)
    energy = torch.where(lag[0] > 0, lag[0], 1.0)
    return torch.round(lag / energy * GRID) / GRID


def levinson(r: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Predictor polynomials by the Levinson-Durbin recursion.

    Args:
        r: ``[order + 1, frame]``, normalised autocorrelation; all-zero frames are allowed.

    Returns:
        ``a`` of shape ``[order + 1, frame]`` with a_0 = 1, A(z) = sum_k a_k z^-k, all roots within
        the unit circle, and the prediction error energy ``[frame]``.
    """
    # Schur's form: nothing is summed up, so that a frame's result does not depend on the number of
    # frames. Row n of ``forward`` is a_n up to the degree m reached, and sum_j a_j r_(n-j) above;
    # ``backward``, which moves up by a row a step, is the same of the reversed polynomial, whose
    # sum at m is the error E. k_m = -forward_m / E.
    order, count = r.shape[0] - 1, r.shape[1]
    tiny = torch.finfo(r.dtype).tiny ** 0.5
    forward = r.clone()
    forward[0] = 1.0
    rows = r.new_empty(2 * order + 1, count)
    rows[order:] = r
    error = rows[order].mul_(1.0 + WHITE_NOISE).add_(tiny)
    above, products = forward[1:], r.new_empty(order, count)
    coefficients, first = forward.unbind(0), rows.unbind(0)
    for m in range(1, order + 1):
        backward = rows[order + 1 - m : 2 * order + 1 - m]
        minus_k = coefficients[m] / error
        torch.mul(above, minus_k, out=products)
        above.addcmul_(backward, minus_k, value=-1.0)
        backward.sub_(products)
        torch.neg(minus_k, out=coefficients[m])
        first[order - m].copy_(coefficients[m])
    return forward, error


def whiten(frames: torch.Tensor, a: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Prediction residual: e_n = sum_k a_k x_(n-k), samples before the frame being zero.

    Args:
        frames: ``[time, frame]``.
        a: ``[order + 1, frame]``.
        out: where to write it.
    """
    length = frames.shape[0]
    residual = torch.mul(frames, a[0], out=out)
    for k in range(1, a.shape[0]):
        residual[k:].addcmul_(frames[: length - k], a[k])
    return residual


def synthesize(residual: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """All-pole filter 1 / A(z), the inverse of :func:`whiten`.

    Args:
        residual: ``[time, frame]``.
        a: ``[order + 1, frame]`` with a_0 = 1.
    """
    return synthesize_(residual.clone(), a)


def synthesize_(residual: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """In-place form of :func:`synthesize`."""
    # Forward substitution: once a sample is known, its share of the next ones is subtracted. One
    # operation over all frames a sample, where summing up the past would take three.
    length, order = residual.shape[0], a.shape[0] - 1
    minus_a = -a[1:]
    behind_one = minus_a.mT
    whole = max(0, length - order)  # samples with ``order`` others behind them
    if whole:
        # All views at once: slices made one by one cost as much as the arithmetic.
        behind = residual[1:].unfold(0, order, 1).unbind(0)  # [frame, order]
        sample = residual[:whole, :, None].unbind(0)
        for n in range(whole):
            behind[n].addcmul_(behind_one, sample[n])
    for n in range(whole, length - 1):
        ahead = residual[n + 1 :]
        ahead.addcmul_(minus_a[: len(ahead)], residual[n])
    return residual
