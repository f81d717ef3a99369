"""HiFi-GAN as the last part of a synthesizer: hidden frames of another network to a waveform.

The stages are those of HiFi-GAN (Kong et al., NeurIPS 2020), with the harmonic source of baseline
B1.b (:mod:`voicenym.nets.synthesis.hifigan_nsf`) or without one. A generator that reads content has
to learn pronunciation, voice and sound in one; over frames that know them, a small one learns sound
alone, in an hour of a laptop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch

from voicenym.nets.architectures import Network
from voicenym.nets.streaming import Memory
from voicenym.nets.synthesis.hifigan_generator import Generator, GeneratorSize
from voicenym.nets.synthesis.hifigan_nsf import Source, generated, source_convolutions


class HifiGanHead(Network):
    """HiFi-GAN generator over hidden frames, with a harmonic source or without.

    Args:
        inputs: elements of a frame.
        size: of the generator; its hop is a frame.
        rate: of the waveform, in Hz.
        harmonics: of the source; 0 for none.
    """

    kind = "hifigan-head"

    def __init__(
        self,
        inputs: int,
        size: GeneratorSize | Mapping[str, Any],
        rate: int = 16_000,
        harmonics: int = 0,
    ) -> None:
        super().__init__()
        if isinstance(size, Mapping):
            size = GeneratorSize(**size)
        self.hop, self.harmonics = size.hop, harmonics
        self._config = {
            "inputs": inputs,
            "size": asdict(size),
            "rate": rate,
            "harmonics": harmonics,
        }
        self.generator = Generator(inputs, size)
        if harmonics:
            self.source = Source(rate, size.hop, harmonics)
            self.source_convolutions = source_convolutions(size)

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
            f0: ``[batch, frame]`` in Hz, 0 where unvoiced; for the source.
            seed: ``[batch]`` int64, of the noise in the source.
            memory: of a stream.
        """
        x = frames.transpose(1, 2)
        if not self.harmonics:
            found: torch.Tensor = self.generator(x, memory)
            return found
        source = self.source(f0, seed, memory)
        return generated(self.generator, self.source_convolutions, x, source, memory)
