"""HiFi-GAN conditioned on content, F0 and a speaker vector beside each other.

The conditions are those of the SSL-based pipeline (Miao et al., Odyssey 2022) and of speech
resynthesis (Polyak et al., Interspeech 2021).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.streaming import Memory
from voicenym.nets.synthesis.hifigan_generator import Generator, GeneratorSize
from voicenym.nets.synthesis.synthesizer import Conditions, Synthesizer


class HifiGan(Synthesizer):
    """HiFi-GAN conditioned on content, F0 and a speaker vector.

    Args:
        content, speaker: elements of a content frame and of a speaker vector.
        size: of the generator; its hop is a frame.
        rate: of the waveform, in Hz.
        pitch, width: see :class:`Conditions`.
        weight_norm: for training.
    """

    kind = "hifigan"

    def __init__(
        self,
        content: int,
        speaker: int,
        size: GeneratorSize | Mapping[str, Any] | None = None,
        rate: int = 16_000,
        pitch: str = "hertz",
        width: int = 0,
        weight_norm: bool = False,
    ) -> None:
        super().__init__()
        if size is None:
            size = GeneratorSize.v1(160)
        elif isinstance(size, Mapping):
            size = GeneratorSize(**size)
        self.rate, self.hop = rate, size.hop
        self._config = {
            "content": content,
            "speaker": speaker,
            "size": asdict(size),
            "rate": rate,
            "pitch": pitch,
            "width": width,
        }
        self.conditions = Conditions(content, speaker, pitch, width)
        self.generator = Generator(self.conditions.size, size, weight_norm)

    def config(self) -> dict[str, Any]:
        return dict(self._config)

    @classmethod
    def from_published(
        cls,
        state: Mapping[str, torch.Tensor],
        config: Mapping[str, Any],
        source: Path | str,
        content: int,
        speaker: int,
        pitch: str = "hertz",
    ) -> HifiGan:
        """Published generator with a conditioning that has no weights.

        Args:
            state, config, source: see :meth:`Generator.from_published`; ``sampling_rate`` is the
                waveform's.
            content, speaker: elements: 200 and 192 in SSL-SAS.
            pitch: see :class:`Conditions`.

        Raises:
            VoicenymError: as :meth:`Generator.from_published`, and where the generator wants
                another number of elements.
        """
        generator = Generator.from_published(state, config, source)
        rate = int(config.get("sampling_rate", 16_000))
        if rate < 1:
            raise VoicenymError(f"{source}: sampling_rate is above 0, not {rate}")
        network = cls(content, speaker, generator.size, rate, pitch)
        wants, has = generator.conv_pre.in_channels, network.conditions.size
        if wants != has:
            raise VoicenymError(
                f"{source}: its frames have {wants} elements; {content} of content, {pitch} "
                f"of pitch and {speaker} of the speaker are {has}: give those it was trained with"
            )
        network.generator = generator
        return network.eval()

    def synthesize(
        self,
        content: torch.Tensor,
        f0: torch.Tensor,
        speaker: torch.Tensor,
        seed: torch.Tensor,
        memory: Memory | None,
    ) -> torch.Tensor:
        frames = self.conditions(content, f0, speaker).transpose(1, 2)
        return self.generator(frames, memory)
