"""Content encoder of ``base``: a narrow, noisy bottleneck of mel cepstra.

Cepstra of mel bands, less their average over the recording, pass through convolutions to a few
features at 50 frames a second, each with the resolution of a few quantisation steps. Training is
self-supervised: a synthesizer reconstructs the speech from these features, F0 and the speaker
vector, so that the narrow bottleneck has no capacity for the speaker (Qian et al., "AutoVC", ICML
2019); the input is warped in frequency, which removes the vocal-tract length (Choi et al., "NANSY",
NeurIPS 2021).

Uniform noise as wide as a step replaces rounding, in training and in use. A feature then carries at
most log2(steps) bits, as a rounded one, without its discontinuities, for everybody who does not
know the noise. The key draws it, so that whoever has the key can subtract it.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import torch

from voicenym.dsp.features.mel import filterbank, squared_magnitudes
from voicenym.nets.convnext import Block
from voicenym.nets.stft import Stft
from voicenym.nets.streaming import Conv, Memory
from voicenym.nets.synthesis.excitation import samples_so_far, splitmix

RATE, HOP, WINDOW = 16_000, 160, 480
"""Spectra of 30 ms every 10 ms."""
LOWEST, HIGHEST = 60.0, 7600.0
"""Corners of the mel bands, in Hz."""
LEAST_POWER = 1e-10
QUIETEST = -8.0
"""Floor of log power, relative to the average."""
EVERY = 2
"""Spectral frames per content frame."""
NOISE_OF_CONTENT = 4


class AcousticFrames(NamedTuple):
    """Acoustic features of the frames of a waveform."""

    bands: torch.Tensor
    """``[row, frame, band]``, natural logarithm of power."""
    power: torch.Tensor
    """``[row, frame]``, natural logarithm of the mean square."""


class FrontEnd(torch.nn.Module):
    """Acoustic front end: mel bands and power of frames aligned with the synthesizer's.

    Args:
        bands: of mel.
    """

    bank: torch.Tensor

    def __init__(self, bands: int) -> None:
        super().__init__()
        self.bands = bands
        self.transform = Stft(WINDOW, HOP)
        bank = filterbank(RATE, WINDOW, bands, LOWEST, HIGHEST)
        bank = bank / bank.sum(1, keepdim=True)
        self.register_buffer("bank", bank, persistent=False)
        self._scale = 1.0 / float(self.transform.window.square().sum())

    def forward(self, waveform: torch.Tensor, memory: Memory | None = None) -> AcousticFrames:
        """``[row, time]`` of whole frames, at 16 kHz."""
        power = squared_magnitudes(self.transform(waveform, memory)) * self._scale
        total = (2.0 * power.sum(2) - power[..., 0] - power[..., -1]) / WINDOW
        return AcousticFrames(
            (power @ self.bank.T + LEAST_POWER).log(), (total + LEAST_POWER).log()
        )


class Bottleneck(torch.nn.Module):
    """Mel bands to bottleneck features.

    Args:
        bands, cepstra: numbers of mel bands and of the low-order cepstra taken of them; higher
            orders, which resolve harmonics, are left out.
        width, inner, blocks, kernel: of the ConvNeXt blocks.
        size: elements of a content frame.
        steps: quantisation steps between -1 and 1.
        ahead: look-ahead of a block in frames.

    Attributes:
        hop: samples of a frame.
    """

    kind = "bottleneck"
    hop = HOP
    cosines: torch.Tensor

    def __init__(
        self,
        bands: int = 48,
        cepstra: int = 20,
        width: int = 192,
        inner: int = 576,
        blocks: int = 4,
        kernel: int = 7,
        size: int = 12,
        steps: int = 5,
        ahead: int = 1,
    ) -> None:
        super().__init__()
        self._config = {
            "bands": bands,
            "cepstra": cepstra,
            "width": width,
            "inner": inner,
            "blocks": blocks,
            "kernel": kernel,
            "size": size,
            "steps": steps,
            "ahead": ahead,
        }
        self.size, self.steps = size, steps
        self.front_end = FrontEnd(bands)
        place = torch.arange(bands, dtype=torch.float64) + 0.5
        order = torch.arange(cepstra, dtype=torch.float64)[:, None]
        cosines = torch.cos(math.pi * order * place / bands) * math.sqrt(2.0 / bands)
        self.register_buffer("cosines", cosines.float(), persistent=False)
        self.enter = Conv(cepstra, width, 5)
        self.blocks = torch.nn.ModuleList(
            Block(width, inner, kernel, 0, ahead, 1.0 / blocks) for _ in range(blocks)
        )
        self.norm = torch.nn.LayerNorm(width, eps=1e-6)
        self.narrow = Conv(width, size, 2 * EVERY, stride=EVERY)

    def config(self) -> dict[str, Any]:
        """Arguments that rebuild the network, fit for JSON."""
        return dict(self._config)

    @functools.cached_property
    def latency(self) -> int:
        """Look-ahead of a stream from waveform to content, in samples: whole frames of content.

        It is one frame of content more for a stream that encodes whole frames of content at a time.
        """
        steps, device = 32, self.cosines.device
        memory = Memory()
        with torch.inference_mode():
            acoustic = self.front_end(torch.zeros(1, steps * EVERY * HOP, device=device), memory)
            given = self.encode(acoustic.bands, memory).shape[1]
        return (steps - given) * EVERY * HOP

    def bits(self) -> float:
        """Upper bound of the bit rate, per second, for those who do not know the noise."""
        return self.size * math.log2(self.steps) * RATE / HOP / EVERY

    def encode(self, bands: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """Features without noise.

        Args:
            bands: ``[row, frame, band]``, of :class:`FrontEnd`, less their average; an even number
                of frames, but in a stream any.
            memory: of a stream.

        Returns:
            ``[row, frame / 2, size]``, within -1 and 1.
        """
        cepstra = bands.clamp_min(QUIETEST) @ self.cosines.T
        x = self.enter(cepstra.transpose(1, 2), memory).transpose(1, 2)
        for block in self.blocks:
            x = block(x, x[:, :1, :0], memory)
        narrow = self.narrow(self.norm(x).transpose(1, 2), memory)
        return torch.tanh(narrow).transpose(1, 2)

    def noisy(
        self, numbers: torch.Tensor, seed: torch.Tensor, memory: Memory | None = None
    ) -> torch.Tensor:
        """Features with noise in place of quantisation.

        Args:
            numbers: ``[row, frame, size]`` of :meth:`encode`.
            seed: ``[row]`` int64, of the noise.
            memory: of a stream.
        """
        length = numbers.shape[1] * self.size
        start = samples_so_far(memory, self, length)
        stream = splitmix(seed, torch.full_like(seed, NOISE_OF_CONTENT))
        place = torch.arange(start, start + length, device=seed.device)
        bits = splitmix(stream[:, None], place[None])
        uniform = ((bits >> 40) & 0xFFFFFF).float() * (2.0 / 2**24) - 1.0
        return numbers + uniform.view_as(numbers) / (self.steps - 1)

    def forward(
        self, bands: torch.Tensor, seed: torch.Tensor, memory: Memory | None = None
    ) -> torch.Tensor:
        """Content ``[row, frame / 2, size]``: :meth:`noisy` of :meth:`encode`."""
        return self.noisy(self.encode(bands, memory), seed, memory)
