"""Mel-frequency cepstral coefficients, deltas, and mean normalisation, as Kaldi computes them.

The steps of Kaldi's recipes for speaker verification (Povey et al., "The Kaldi speech recognition
toolkit", ASRU 2011): frames without their mean, pre-emphasis, Povey's window, a filterbank in mels,
logarithm, cosine transform, lifter; the first coefficient is the frame's log energy. No dither is
added: a recording has the same coefficients every time.
"""

from __future__ import annotations

import math

import torch

from voicenym.dsp.features.mel import squared_magnitudes

RATE = 16_000
WINDOW = 400
"""Samples of a frame, 25 ms."""
HOP = 160
TRANSFORM = 512
PREEMPHASIS = 0.97
POVEY_POWER = 0.85
LIFTER = 22.0
FULL_SCALE = 32_768.0
"""Kaldi's samples are 16-bit integers; energies are given on that scale."""
LEAST_POWER = 1e-7
SLOPE_REACH = 3
"""Frames to either side that a slope is fitted to: the i-vector recipes' window."""
MEAN_WINDOW = 300
"""Frames of the sliding mean, 3 s."""
LEAST_VARIANCE = 1e-10
BLOCK_FRAMES = 512
"""Frames transformed at once, few enough for the processor's cache."""


def mel(hertz: torch.Tensor) -> torch.Tensor:
    """Mel scale of Kaldi: 1127 ln(1 + f / 700)."""
    return 1127.0 * torch.log1p(hertz / 700.0)


def triangles(bands: int, low: float, high: float) -> torch.Tensor:
    """Triangular filters of height one, linear in mels, each ending at its neighbours' centres.

    Args:
        bands: number of triangles.
        low, high: lower corner of the first and upper corner of the last, in Hz.

    Returns:
        ``[bands, 257]`` float64, weights of power.
    """
    first, last = mel(torch.tensor([low, high], dtype=torch.float64)).tolist()
    corners = torch.linspace(first, last, bands + 2, dtype=torch.float64)
    bins = mel(torch.linspace(0.0, RATE / 2, TRANSFORM // 2 + 1, dtype=torch.float64))
    left, centre, right = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    rising = (bins - left) / (centre - left)
    falling = (right - bins) / (right - centre)
    return torch.minimum(rising, falling).clamp_min(0.0)


class MFCC(torch.nn.Module):
    """Mel-frequency cepstral coefficients; the first is the logarithm of the frame's energy.

    Args:
        coefficients: number of them; at most ``bands``.
        bands: of the filterbank.
        low, high: its limits in Hz.

    Example:
        >>> MFCC()(torch.zeros(2, 16_000)).shape
        torch.Size([2, 100, 24])
    """

    window: torch.Tensor
    bank: torch.Tensor
    transform: torch.Tensor

    def __init__(
        self, coefficients: int = 24, bands: int = 30, low: float = 20.0, high: float = 7600.0
    ) -> None:
        super().__init__()
        hann = torch.hann_window(WINDOW, periodic=False, dtype=torch.float64)
        order = torch.arange(coefficients, dtype=torch.float64)
        place = torch.arange(bands, dtype=torch.float64) + 0.5
        cosines = math.sqrt(2.0 / bands) * torch.cos(math.pi / bands * place[:, None] * order)
        cosines[:, 0] = math.sqrt(1.0 / bands)
        lifter = 1.0 + 0.5 * LIFTER * torch.sin(math.pi * order / LIFTER)
        tables = {
            "window": hann**POVEY_POWER,
            "bank": triangles(bands, low, high).T,
            "transform": cosines * lifter,
        }
        for name, table in tables.items():
            self.register_buffer(name, table.float(), persistent=False)

    def forward(self, signal: torch.Tensor) -> torch.Tensor:
        """``[..., time]`` at 16 kHz, in [-1, 1], to ``[..., frame, coefficient]``.

        There is a frame for every 10 ms, its middle in their middle; at the ends the signal is
        mirrored. Less than half a window (12.5 ms) has no frame.
        """
        frames = _frames(signal * FULL_SCALE)
        rows = max(1, frames.shape[:-2].numel())
        blocks = frames.split(max(1, BLOCK_FRAMES // rows), dim=-2)
        found = [self._cepstra(block) for block in blocks if block.numel()]
        empty = frames.new_zeros(*frames.shape[:-2], 0, self.transform.shape[1])
        return torch.cat(found, dim=-2) if found else empty

    def _cepstra(self, frames: torch.Tensor) -> torch.Tensor:
        """``[..., frame, 400]`` to ``[..., frame, coefficient]``."""
        frames = frames - frames.mean(-1, keepdim=True)
        energy = frames.square().sum(-1).clamp_min(LEAST_POWER).log()
        before = torch.cat([frames[..., :1], frames[..., :-1]], dim=-1)
        spectra = torch.fft.rfft((frames - PREEMPHASIS * before) * self.window, TRANSFORM)
        bands = (squared_magnitudes(spectra) @ self.bank).clamp_min(LEAST_POWER).log()
        cepstra = bands @ self.transform
        return torch.cat([energy[..., None], cepstra[..., 1:]], dim=-1)


def _frames(signal: torch.Tensor) -> torch.Tensor:
    """``[..., time]`` to ``[..., frame, 400]``, mirrored at both ends."""
    time = signal.shape[-1]
    if time < WINDOW // 2:
        return signal.new_zeros(*signal.shape[:-1], 0, WINDOW)
    count = (time + HOP // 2) // HOP
    before = WINDOW // 2 - HOP // 2
    after = max(0, (count - 1) * HOP + WINDOW - before - time)
    # the mirrored sample at the edge counts twice
    head, tail = signal[..., :before].flip(-1), signal[..., time - after :].flip(-1)
    return torch.cat([head, signal, tail], dim=-1).unfold(-1, WINDOW, HOP)[..., :count, :]


def with_slopes(features: torch.Tensor, order: int = 2, reach: int = SLOPE_REACH) -> torch.Tensor:
    """Features with deltas by linear regression, and delta-deltas.

    d_t = sum_j j x_(t+j) / sum_j j^2, j from -reach to reach; beyond the ends the features are
    constant.

    Args:
        features: ``[..., frame, d]``.
        order: of the last derivative; 0 changes nothing.
        reach: frames to either side.

    Returns:
        ``[..., frame, d (order + 1)]``: features, slopes, slopes of slopes.
    """
    if not features.shape[-2]:
        return features.repeat_interleave(order + 1, dim=-1)
    steps = torch.arange(-reach, reach + 1, dtype=features.dtype, device=features.device)
    slope = steps / steps.square().sum()
    kernel = torch.ones(1, dtype=features.dtype, device=features.device)
    rows = features.transpose(-1, -2).reshape(-1, 1, features.shape[-2])
    found = [features]
    for _ in range(order):
        # the slope of a slope as one filter on the features, which alone go on beyond the ends
        padded = torch.nn.functional.pad(kernel, (2 * reach, 2 * reach))
        kernel = padded.unfold(0, 2 * reach + 1, 1) @ slope.flip(0)
        extended = torch.nn.functional.pad(rows, (len(kernel) // 2,) * 2, mode="replicate")
        slopes = torch.nn.functional.conv1d(extended, kernel[None, None])
        found.append(slopes.reshape(features.transpose(-1, -2).shape).transpose(-1, -2))
    return torch.cat(found, dim=-1)


def normalised(
    features: torch.Tensor, window: int | None = MEAN_WINDOW, variance: bool = False
) -> torch.Tensor:
    """Mean normalisation of features, over a sliding window or the whole utterance.

    The long-term mean is mostly an effect of the channel. The window is centred on the frame; at
    the ends it shifts inward and keeps its length if the utterance is long enough.

    Args:
        features: ``[..., frame, d]``.
        window: in frames; None for the utterance.
        variance: whether to divide by the standard deviation too.
    """
    frames = features.shape[-2]
    if not frames:
        return features
    x = features.double()
    if window is None or window >= frames:
        window = None
    mean = _sliding_mean(x, window)
    centred = x - mean
    if variance:
        power = _sliding_mean(x.square(), window)
        centred = centred / (power - mean.square()).clamp_min(LEAST_VARIANCE).sqrt()
    return centred.to(features.dtype)


def _sliding_mean(values: torch.Tensor, window: int | None) -> torch.Tensor:
    """Mean over the frames of a window around each, or over all of them."""
    if window is None:
        return values.mean(-2, keepdim=True)
    frames = values.shape[-2]
    total = torch.nn.functional.pad(values.cumsum(-2), (0, 0, 1, 0))
    start = (torch.arange(frames, device=values.device) - window // 2).clamp(0, frames - window)
    return (total[..., start + window, :] - total[..., start, :]) / window
