"""Configuration of the training of the MUSA codec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from voicenym.nets.codec.style_encoder import FFT
from voicenym.training.codec.codec_losses import Weights
from voicenym.training.run.schedule import Falling


@dataclass(frozen=True)
class MusaConfig:
    """Configuration of the training; values of the paper where it gives them.

    Args:
        codec: sizes, see :class:`voicenym.nets.codec.codec_config.CodecConfig`.
        weights: of the losses.
        seconds: length of a crop (the paper does not say).
        batch: crops in a step.
        other: share of crops whose speaker vector is of the other segment, so that the vector
            cannot contain the words of this one. (The paper has "s1 or s1", one of them a slip.)
        adversarial: share of the training after which discriminators join; 1 for never.
        discriminator_width: share of the published widths of discriminators.
        discriminators: others instead, with options as in
            :class:`voicenym.training.resynthesis.resynthesis_config.ResynthesisConfig`.
        discriminator_seconds: seconds of a crop that discriminators see; 0 for the whole.
        mels: points of the transforms whose mels equation 5 compares; of several the mean is
            taken. The paper has one.
        partial: share of crops that are decoded from their first few codebooks alone, as many as is
            drawn, few more often than many (quantizer dropout; Zeghidour et al., SoundStream,
            2021), so that the codec can be used with fewer: these then have to carry content, and
            the speaker vector the voice. 0 in the paper.
        unquantized: steps before frames are quantised. Codebooks then start as clusters of frames
            that encoder and decoder have learned. 0 in the paper.
        rate: peak of the learning rate (AdamW).
        decay: of the weights.
        clip: greatest norm of a gradient; 0 for no limit.
        schedule: of the learning rate.
        steps: maximum number of optimizer steps.
        every: steps from one validation to the next.
        held_out: share of the speakers held out for validation.
        seed: of all random draws.
    """

    FORMER_NAMES: ClassVar[Mapping[str, str]] = {
        "judges": "discriminator_width",
        "judged_by": "discriminators",
        "judged": "discriminator_seconds",
    }
    """Fields of earlier configurations, see :func:`voicenym.training.run.config.build`."""

    codec: dict[str, Any] = field(default_factory=dict)
    weights: Weights = field(default_factory=Weights)
    seconds: float = 1.0
    batch: int = 128
    other: float = 0.5
    adversarial: float = 0.0
    discriminator_width: float = 1.0
    discriminators: dict[str, Any] = field(default_factory=dict)
    discriminator_seconds: float = 0.0
    mels: tuple[int, ...] = (FFT,)
    partial: float = 0.0
    unquantized: int = 0
    rate: float = 2e-4
    decay: float = 0.01
    clip: float = 0.0
    schedule: Falling = field(default_factory=Falling)
    steps: int = 500_000
    every: int = 1000
    held_out: float = 0.04
    seed: int = 0
