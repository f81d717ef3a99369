"""HiFi-GAN as the last part of a synthesizer: hidden frames of another network to a waveform.

The stages are those of HiFi-GAN (Kong et al., NeurIPS 2020), to each of which a source is added, as
in baseline B1.b (:mod:`voicenym.nets.synthesis.hifigan_nsf`). A generator that reads content has to
learn pronunciation, voice and sound in one; over frames that know them, a small one learns sound
alone, in half an hour of a laptop.

The source has two signals, a pulse train of all harmonics and white noise, where the baseline's has
one of eight harmonics: what a generator must make of its own, above them, it makes with the period
of the frames first, and most of its training goes by until that is F0's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch

from voicenym.nets.architectures import Network
from voicenym.nets.streaming import Memory
from voicenym.nets.synthesis.excitation import Noise, Pulses
from voicenym.nets.synthesis.folded_nsf import SOURCE_DEVIATION
from voicenym.nets.synthesis.hifigan_generator import Generator, GeneratorSize
from voicenym.nets.synthesis.hifigan_nsf import generated, source_convolutions


class HifiGanHead(Network):
    """HiFi-GAN generator over hidden frames, with a source of pulses and noise.

    Args:
        inputs: elements of a frame.
        size: of the generator; its hop is a frame.
        rate: of the waveform, in Hz.
    """

    kind = "hifigan-head"

    def __init__(
        self, inputs: int, size: GeneratorSize | Mapping[str, Any], rate: int = 16_000
    ) -> None:
        super().__init__()
        if isinstance(size, Mapping):
            size = GeneratorSize(**size)
        self.hop = size.hop
        self._config = {"inputs": inputs, "size": asdict(size), "rate": rate}
        self.generator = Generator(inputs, size)
        self.pulses, self.noise = Pulses(rate, size.hop), Noise()
        self.source_convolutions = source_convolutions(size, 2)

    def config(self) -> dict[str, Any]:
        return dict(self._config)

    def forward(
        self,
        frames: torch.Tensor,
        f0: torch.Tensor,
        seed: torch.Tensor,
        memory: Memory | None = None,
    ) -> torch.Tensor:
        """Waveform ``[batch, frame * hop]``.

        Args:
            frames: ``[batch, frame, element]``; in a stream F0 may be ahead of them.
            f0: ``[batch, frame]`` in Hz, 0 where unvoiced.
            seed: ``[batch]`` int64, of the noise.
            memory: of a stream.
        """
        pulses = self.pulses(f0, memory)
        noise = self.noise(pulses.shape[1], seed, memory)
        source = SOURCE_DEVIATION * torch.stack([pulses.to(noise), noise], 1)
        parts = self.generator, self.source_convolutions
        return generated(*parts, frames.transpose(1, 2), source, memory)
