"""Speaker encoder of the codec: mel-style encoder of StyleSpeech (Min et al., ICML 2021)."""

from __future__ import annotations

import math

import torch

from voicenym.nets.synthesis.synthesis_losses import LogMel

FFT, HOP, BANDS = 1024, 256, 80
KERNEL = 5
LEAST_SAMPLES = FFT
"""Shortest waveform: one window."""


class Gated(torch.nn.Module):
    """Gated convolution with a residual connection.

    Args:
        width: channels.
        dropout: dropout probability.
    """

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(width, 2 * width, KERNEL, padding=KERNEL // 2)
        self.drop = torch.nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``[batch, width, frame]`` to the same shape."""
        return x + self.drop(torch.nn.functional.glu(self.conv(x), dim=1))


class SpeakerEncoder(torch.nn.Module):
    """Spectral layers, gated temporal convolutions, self-attention, and the mean over time (section
    III.B).

    Args:
        size: elements of a vector.
        width: channels.
        heads: of the attention.
        dropout: dropout probability.
    """

    def __init__(self, size: int, width: int = 128, heads: int = 2, dropout: float = 0.1) -> None:
        super().__init__()
        self.mel = LogMel(fft=FFT, hop=HOP, bands=BANDS)
        self.heads = heads
        parts: list[torch.nn.Module] = []
        for inputs in (BANDS, width):
            parts += [torch.nn.Linear(inputs, width), torch.nn.Mish(), torch.nn.Dropout(dropout)]
        self.spectral = torch.nn.Sequential(*parts)
        self.temporal = torch.nn.Sequential(Gated(width, dropout), Gated(width, dropout))
        self.attention = torch.nn.Linear(width, 3 * width)
        self.joined = torch.nn.Linear(width, width)
        self.drop = torch.nn.Dropout(dropout)
        self.last = torch.nn.Linear(width, size)

    def forward(self, waveform: torch.Tensor) -> torch.Tensor:
        """Vectors ``[batch, size]`` of ``[batch, time]``, :data:`LEAST_SAMPLES` at least."""
        return self.of_mels(self.mel(waveform))

    def of_mels(self, mels: torch.Tensor) -> torch.Tensor:
        """Vectors ``[batch, size]`` of log mels ``[batch, frame, band]``."""
        x = self.spectral(mels)
        x = self.temporal(x.transpose(1, 2)).transpose(1, 2)
        rows, frames, width = x.shape
        q, k, v = (
            part.view(rows, frames, self.heads, -1).transpose(1, 2)
            for part in self.attention(x).chunk(3, dim=2)
        )
        # StyleSpeech divides by the root of the whole width, not of a head's
        found = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, scale=1.0 / math.sqrt(width)
        )
        x = x + self.drop(self.joined(found.transpose(1, 2).reshape(rows, frames, width)))
        vectors: torch.Tensor = self.last(x).mean(1)
        return vectors
