"""Settings that the SSL-based systems share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from voicenym.resynthesis.pipeline.prosody_settings import Prosody
from voicenym.resynthesis.pipeline.units_setting import CODES, SOFT, check_content, check_name
from voicenym.resynthesis.pipeline.vocoder_setting import VocoderSetting


@dataclass(frozen=True)
class SslPipeline(VocoderSetting):
    """SSL-based pipeline, whose bundled weights have word codes and an inverse-STFT vocoder where
    Miao et al. have soft units and HiFi-GAN; both settings are nearer to the paper.

    Args:
        units: ``codes``: content as the encoder gives it; ``soft``: of an encoder of word codes,
            soft units, as HuBERT-soft has them (:mod:`voicenym.nets.content.soft_units`).
        vocoder: ``hifigan``: the bundled small HiFi-GAN, which sounds worse than the bundled
            inverse-STFT vocoder; empty: that of the weights.
    """

    units: str = CODES

    other_vocoders: ClassVar[tuple[str, ...]] = ("hifigan",)
    later_vocoders: ClassVar[Mapping[str, str]] = {"hifigan": "hifigan-speaker"}
    folder_name: ClassVar[str] = "ssl"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.card.name, self.units)

    def prosody_of(self, revision: int) -> Prosody:
        return replace(super().prosody_of(revision), soft=self.units == SOFT)

    def check(self) -> None:
        super().check()
        check_content(self.card.name, self.units, self.parts.content, self.folder)
