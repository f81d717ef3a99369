"""Spectral encoder and decoder of the codec: STFT and inverse STFT with ConvNeXt blocks.

The paper's encoder and decoder work at the sample rate: most of the time on a laptop goes into
layers of few channels, 16,000 times a second. These work at the frame rate, a hundred times a
second, in matrix products, and leave the waveform to the inverse transform, as Vocos does (Siuzdak,
ICLR 2024), so that a codec can be trained within hours on a CPU. The quantiser between them is the
paper's.
"""

from __future__ import annotations

import torch

from voicenym.dsp.features.mel import squared_magnitudes
from voicenym.nets.convnext import Block
from voicenym.nets.stft import InverseStft, Stft
from voicenym.nets.streaming import Conv, Memory
from voicenym.nets.synthesis.istft_vocoder import HIGHEST_LOG

EVERY = 2
"""Spectral frames per codec frame."""
OVERLAP = 4
"""Hops per window."""
KERNEL = 7
INNER = 3
"""Expansion factor of the blocks."""
LEAST_POWER = 1e-6
USUAL, SPREAD = -4.0, 5.0
"""Approximate mean and deviation of log power in ordinary speech, per bin."""
ENCODER_AHEAD, DECODER_AHEAD = 1, 2
"""Look-ahead of the first convolution of the encoder in spectral frames, and of the decoder in
codec frames, for streaming; later blocks have none.
"""
QUIET = -3.0
"""Initial log magnitude of the decoder."""


class SpectralEncoder(torch.nn.Module):
    """Log power spectra through ConvNeXt blocks.

    Args:
        width: channels of the blocks.
        blocks: how many.
        size: elements of a frame.
        hop: samples of a frame, an even number.
        causal: looks ahead by windows and :data:`ENCODER_AHEAD` alone, so that it streams.

    Raises:
        ValueError: an odd hop.
    """

    def __init__(self, width: int, blocks: int, size: int, hop: int, causal: bool) -> None:
        super().__init__()
        if hop % EVERY:
            raise ValueError(f"frames are of {EVERY} of the spectrum, so not of {hop} samples")
        self.hop = hop
        step = hop // EVERY
        self.transform = Stft(OVERLAP * step, step)
        bins = OVERLAP * step // 2 + 1
        self.enter = Conv(bins, width, 3, ahead=ENCODER_AHEAD if causal else None)
        self.blocks = _blocks(width, blocks, causal)
        self.norm = torch.nn.LayerNorm(width, eps=1e-6)
        self.last = Conv(width, size, 2 * EVERY, stride=EVERY, ahead=0 if causal else None)

    def forward(self, waveform: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """``[batch, frame * hop]`` to ``[batch, size, frame]``."""
        with torch.autocast(waveform.device.type, enabled=False):
            power = squared_magnitudes(self.transform(waveform.float(), memory))
            x = ((power + LEAST_POWER).log() - USUAL) / SPREAD
        x = self.enter(x.transpose(1, 2), memory).transpose(1, 2)
        for block in self.blocks:
            x = block(x, x[:, :1, :0], memory)
        return self.last(self.norm(self._whole(x, memory)).transpose(1, 2), memory)

    def _whole(self, x: torch.Tensor, memory: Memory | None) -> torch.Tensor:
        """Hidden frames ``[batch, frame, width]`` up to the last whole frame of the codec; the rest
        is buffered.
        """
        if memory is None:
            return x
        before = memory.kept.get((self, "rest"))
        x = x if before is None else torch.cat([before, x], dim=1)
        ready = x.shape[1] // EVERY * EVERY
        memory.kept[self, "rest"] = x[:, ready:]
        return x[:, :ready]


class SpectralDecoder(torch.nn.Module):
    """ConvNeXt blocks, magnitude and phase of every bin, inverse STFT.

    Args:
        width, blocks, size, hop, causal: of the encoder.

    Raises:
        ValueError: an odd hop.
    """

    def __init__(self, width: int, blocks: int, size: int, hop: int, causal: bool) -> None:
        super().__init__()
        if hop % EVERY:
            raise ValueError(f"frames are of {EVERY} of the spectrum, so not of {hop} samples")
        step = hop // EVERY
        self.first = Conv(size, width, KERNEL, ahead=DECODER_AHEAD if causal else None)
        self.apart = torch.nn.Linear(width, EVERY * width)
        self.first_norm = torch.nn.LayerNorm(width, eps=1e-6)
        self.blocks = _blocks(width, blocks, causal)
        self.norm = torch.nn.LayerNorm(width, eps=1e-6)
        bins = OVERLAP * step // 2 + 1
        self.head = torch.nn.Linear(width, 2 * bins)
        torch.nn.init.trunc_normal_(self.head.weight, std=0.02)
        with torch.no_grad():
            self.head.bias[:bins] = QUIET
        self.inverse = InverseStft(OVERLAP * step, step)

    def forward(self, frames: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """``[batch, size, frame]`` to ``[batch, frame * hop]``."""
        x = self.apart(self.first(frames, memory).transpose(1, 2))
        rows, steps, wide = x.shape
        x = self.first_norm(x.view(rows, steps * EVERY, wide // EVERY))
        for block in self.blocks:
            x = block(x, x[:, :1, :0], memory)
        size, angle = self.head(self.norm(x)).float().chunk(2, dim=2)
        with torch.autocast(frames.device.type, enabled=False):
            spectra = torch.polar(size.clamp_max(HIGHEST_LOG).exp(), angle)
            return self.inverse(spectra, memory)


def _blocks(width: int, count: int, causal: bool) -> torch.nn.ModuleList:
    ahead = 0 if causal else None
    return torch.nn.ModuleList(
        Block(width, INNER * width, KERNEL, 0, ahead, 1.0 / max(1, count)) for _ in range(count)
    )
