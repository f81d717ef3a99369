"""STFT and inverse STFT as differentiable network modules."""

from __future__ import annotations

import torch

from voicenym.nets.streaming import Memory, extend


class Stft(torch.nn.Module):
    """STFT of a signal, at the frames of :class:`InverseStft`."""

    window: torch.Tensor

    def __init__(self, fft: int, hop: int) -> None:
        super().__init__()
        self.fft, self.hop = fft, hop
        self.side = (fft - hop) // 2
        self.wait = -(-self.side // hop) * hop
        self.register_buffer("window", torch.hann_window(fft), persistent=False)

    def forward(self, signal: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """Spectra ``[batch, frame, fft / 2 + 1]`` complex of ``[batch, frame * hop]``."""
        signal = extend(signal, self.side, self.wait, memory, self)
        if signal.shape[1] < self.side + self.wait + self.hop:
            return signal.new_zeros(signal.shape[0], 0, self.fft // 2 + 1, dtype=torch.complex64)
        return torch.fft.rfft(signal.unfold(1, self.fft, self.hop) * self.window)


class InverseStft(torch.nn.Module):
    """Inverse STFT with ``hop`` samples per frame, centred on the frames.

    Frames are windowed by a Hann window and added; the sum is divided by that of the squared
    windows (Griffin and Lim 1984, equation 6).

    Args:
        fft: points of the transform and of the window, a multiple of the hop, even beyond it.
        hop: in samples.

    Raises:
        ValueError: if these do not fit.
    """

    window: torch.Tensor

    def __init__(self, fft: int, hop: int) -> None:
        super().__init__()
        if fft % hop or (fft - hop) % 2 or fft < 2 * hop:
            raise ValueError(f"fft {fft} must be a multiple of the hop {hop}, such as {4 * hop}")
        self.fft, self.hop = fft, hop
        self.side = -(-(fft // hop - 1) // 2)
        """Frames on either side that overlap a frame's samples."""
        self.register_buffer("window", torch.hann_window(fft), persistent=False)

    def forward(self, spectra: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """Waveforms ``[batch, frame * hop]`` of spectra ``[batch, frame, fft / 2 + 1]`` complex."""
        if spectra.shape[1]:
            frames = torch.fft.irfft(spectra, n=self.fft) * self.window
        else:
            frames = self.window.new_zeros(spectra.shape[0], 0, self.fft)
        there = frames.new_ones(1, frames.shape[1], 1)
        frames = extend(frames, self.side, self.side, memory, self, dim=1)
        there = extend(there, self.side, self.side, memory, (self, "there"), dim=1)
        ready = frames.shape[1] - 2 * self.side
        if ready <= 0:
            return frames.new_zeros(frames.shape[0], 0)
        start = self.side * self.hop + (self.fft - self.hop) // 2
        span = slice(start, start + ready * self.hop)
        return self._overlap(frames)[:, span] / self._overlap(there * self.window**2)[:, span]

    def _overlap(self, frames: torch.Tensor) -> torch.Tensor:
        """Overlap-add of ``[batch, frame, fft]`` to ``[batch, time]``."""
        batch, count, _ = frames.shape
        parts = frames.unflatten(2, (-1, self.hop))
        total = frames.new_zeros(batch, count + parts.shape[2] - 1, self.hop)
        for i in range(parts.shape[2]):
            total[:, i : i + count] += parts[:, :, i]
        return total.flatten(1)
