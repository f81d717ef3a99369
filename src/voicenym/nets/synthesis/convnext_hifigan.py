"""Synthesizer of two parts: ConvNeXt blocks at the rate of frames, then a small HiFi-GAN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.streaming import Memory
from voicenym.nets.synthesis.hifigan_generator import GeneratorSize
from voicenym.nets.synthesis.hifigan_head import HifiGanHead
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.nets.synthesis.synthesizer import Synthesizer

OF_FRAMES = ("inputs", "rate")
"""Options of a HiFi-GAN that the frame network decides."""


class ConvNextHifiGan(Synthesizer):
    """The frame network of an inverse-STFT vocoder, with HiFi-GAN in place of its output.

    Args:
        content, speaker: elements of a content frame and of a speaker vector.
        frames: options of :class:`~voicenym.nets.synthesis.istft_vocoder.IstftVocoder`, whose
            output layer is not used.
        vocoder: options of :class:`~voicenym.nets.synthesis.hifigan_head.HifiGanHead`, without
            those that the frame network decides; V3 unless given.

    Attributes:
        frames, vocoder: the two parts.

    Raises:
        ValueError: the frames of the two differ in length.
    """

    kind = "convnext-hifigan"
    noisy = True

    def __init__(
        self,
        content: int,
        speaker: int,
        frames: Mapping[str, Any] | None = None,
        vocoder: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        of_frames, of_vocoder = dict(frames or {}), dict(vocoder or {"size": GeneratorSize.v3(160)})
        self._config: dict[str, Any] = {"content": content, "speaker": speaker}
        self.frames = IstftVocoder(content, speaker, **of_frames)
        width = self.frames.config()["width"]
        self.vocoder = HifiGanHead(width, rate=self.frames.rate, **of_vocoder)
        own = {k: v for k, v in self.vocoder.config().items() if k not in OF_FRAMES}
        self._config |= {"frames": of_frames, "vocoder": own}
        self.rate, self.hop = self.frames.rate, self.frames.hop
        if self.vocoder.hop != self.hop:
            raise ValueError(
                f"the stages of HiFi-GAN make {self.vocoder.hop} samples of a frame, not {self.hop}"
            )

    def config(self) -> dict[str, Any]:
        return dict(self._config)

    def synthesize(
        self,
        content: torch.Tensor,
        f0: torch.Tensor,
        speaker: torch.Tensor,
        seed: torch.Tensor,
        memory: Memory | None,
    ) -> torch.Tensor:
        hidden = self.frames.hidden(content, f0, speaker, memory)
        found: torch.Tensor = self.vocoder(hidden, f0, seed, memory)
        return found


def with_hifigan(former: Synthesizer, vocoder: HifiGanHead) -> ConvNextHifiGan:
    """The frame network of a synthesizer, with HiFi-GAN in place of its output.

    Args:
        former: an inverse-STFT vocoder; it is shared, and not copied.
        vocoder: trained with it.

    Raises:
        VoicenymError: the two do not fit each other.
    """
    if not isinstance(former, IstftVocoder):
        raise VoicenymError(f"{vocoder.kind} needs a synthesizer istft-vocoder, not {former.kind}")
    options, sizes = vocoder.config(), former.config()
    wanted = {"inputs": sizes["width"], "rate": former.rate}
    found = {name: options[name] for name in wanted}
    if found != wanted or vocoder.hop != former.hop:
        raise VoicenymError(
            f"the vocoder has frames of {found['inputs']} numbers and {vocoder.hop} samples at "
            f"{found['rate']} Hz, and the synthesizer of {wanted['inputs']} and {former.hop} at "
            f"{wanted['rate']}: give one that was trained with it"
        )
    own = {name: value for name, value in options.items() if name not in OF_FRAMES}
    content, speaker = sizes.pop("content"), sizes.pop("speaker")
    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        made = ConvNextHifiGan(content, speaker, sizes, own)
    made.frames, made.vocoder = former, vocoder
    return made.eval()
