"""What is said, through a neck too narrow for who says it.

The content encoder of ``base``: cepstra of mel bands, less their average over the recording,
through convolutions to a few numbers fifty times a second, each known only to some steps.
Self-supervised: it is trained with the synthesizer that must rebuild the speech from its numbers,
from the pitch and from the speaker's vector, so that what the others say already has no room in it
(Qian et al., "AutoVC", ICML 2019); the input is warped in frequency meanwhile, so that the length
of the vocal tract is not in it either (Choi et al., "NANSY", NeurIPS 2021).

Steps are made by noise: uniform, as wide as a step, added in training and in use. A number then
holds no more than log2(steps) bits, as a rounded one does, but does not jump where rounding would,
and the noise is of the key.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import torch

from voicenym.dsp.features.mel import filterbank
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
"""Natural logarithm of power, relative to the average, below which all is silence."""
EVERY = 2
"""Frames of the spectrum to one of content."""
NOISE_OF_CONTENT = 4


class Heard(NamedTuple):
    """What a waveform's frames hold."""

    bands: torch.Tensor
    """``[row, frame, band]``, natural logarithm of power."""
    power: torch.Tensor
    """``[row, frame]``, natural logarithm of the mean square."""


class Ear(torch.nn.Module):
    """Mel bands and power of frames that lie as the synthesizer's do.

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

    def forward(self, waveform: torch.Tensor, memory: Memory | None = None) -> Heard:
        """``[row, time]`` of whole frames, at 16 kHz."""
        spectra = torch.view_as_real(self.transform(waveform, memory))
        power = spectra.square().sum(-1) * self._scale
        total = (2.0 * power.sum(2) - power[..., 0] - power[..., -1]) / WINDOW
        return Heard((power @ self.bank.T + LEAST_POWER).log(), (total + LEAST_POWER).log())


class Bottleneck(torch.nn.Module):
    """Mel bands to content.

    Args:
        bands, cepstra: of the input: so many cepstra of so many bands; the others, which show the
            harmonics, are left out.
        width, inner, blocks, kernel: of the ConvNeXt blocks.
        size: numbers of a content frame.
        steps: that a number between -1 and 1 is known to.
        ahead: frames that a block looks ahead.

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
        self.ear = Ear(bands)
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
        """Samples that a stream holds back from waveform to content: whole frames of content."""
        steps, device = 32, self.cosines.device
        memory = Memory()
        with torch.inference_mode():
            heard = self.ear(torch.zeros(1, steps * EVERY * HOP, device=device), memory)
            frames = heard.bands.shape[1] // EVERY * EVERY
            given = self.encode(heard.bands[:, :frames], memory).shape[1]
        return (steps - given) * EVERY * HOP

    def bits(self) -> float:
        """Per second, at most."""
        return self.size * math.log2(self.steps) * RATE / HOP / EVERY

    def encode(self, bands: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """Numbers without noise.

        Args:
            bands: ``[row, frame, band]``, of :class:`Ear`, less their average; an even number of
                frames.
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
        """Numbers known to their steps.

        Args:
            numbers: ``[row, frame, size]`` of :meth:`encode`.
            seed: ``[row]`` int64; other seeds, other noise.
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
