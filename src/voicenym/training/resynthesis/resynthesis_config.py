"""Configuration of the training of a resynthesis system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from voicenym.training.resynthesis.conversion_loss import ConversionConfig
from voicenym.training.run.adamw_config import AdamWConfig


@dataclass(frozen=True)
class ResynthesisConfig(AdamWConfig):
    """Configuration of the training.

    Args:
        encoder: verifier whose encoder makes the speaker vectors.
        content: options of the content encoder.
        synthesizer: kind.
        options: of the synthesizer, without ``content`` and ``speaker``.
        rank: directions in which voices are drawn.
        seconds: length of a crop.
        batch: crops in a step.
        warp: standard deviation of the logarithm of the factor that warps frequencies.
        bend: of bends of the mel axis beside it, as a share of the axis.
        reversal: weight of the speaker classifier's loss, by gradient reversal.
        normalised: whether the mean and covariance of each recording's content are those of all
            speakers (:mod:`voicenym.resynthesis.bundled.content_normalisation`). The content
            encoder must be trained before; it stays fixed and gets no warped spectra.
        conversion: weights of the conversion loss.
        phones: weight of the phone loss, if there is a recogniser; half of it for reconstructed
            crops, half for those in other voices.
        adversarial: share of the training after which discriminators join; 1 for never.
        discriminators: options of the discriminators, by their names in
            :data:`voicenym.training.synthesis.discriminator_setup.DISCRIMINATORS`; published
            sizes unless given.
        discriminator_seconds: seconds of a crop that they see; 0 for the whole.
        mel: weight of all other losses beside theirs (45 in HiFi-GAN, where features weigh 2).
        clip: greatest norm of a gradient.
        patience: validations without improvement, after which the training stops; 0: no limit.
    """

    FORMER_NAMES: ClassVar[Mapping[str, str]] = {
        "evened": "normalised",
        "judges": "discriminators",
        "judged": "discriminator_seconds",
    }
    """Fields of earlier configurations, see :func:`voicenym.training.run.config.build`."""

    encoder: str = "ecapa-small"
    content: dict[str, Any] = field(default_factory=dict)
    synthesizer: str = "istft-vocoder"
    options: dict[str, Any] = field(default_factory=dict)
    rank: int = 64
    seconds: float = 1.5
    batch: int = 12
    warp: float = 0.12
    bend: float = 0.02
    reversal: float = 0.1
    normalised: bool = False
    conversion: ConversionConfig = field(default_factory=ConversionConfig)
    phones: float = 8.0
    adversarial: float = 1.0
    discriminators: dict[str, Any] = field(default_factory=lambda: {"period": {}, "spectral": {}})
    discriminator_seconds: float = 0.0
    mel: float = 15.0
    rate: float = 1.5e-3
    decay: float = 1e-3
    clip: float = 1.0
    every: int = 250
    patience: int = 0
