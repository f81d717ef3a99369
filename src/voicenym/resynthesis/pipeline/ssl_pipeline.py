"""Settings that the SSL-based systems share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from voicenym.errors import UnknownSystemError
from voicenym.resynthesis.pipeline.prosody_settings import Prosody
from voicenym.resynthesis.pipeline.vocoder_setting import VocoderSetting

UNITS = ("codes", "soft")


@dataclass(frozen=True)
class SslPipeline(VocoderSetting):
    """SSL-based pipeline, whose bundled weights have word codes and an inverse-STFT vocoder where
    Miao et al. have soft units and HiFi-GAN; both settings are nearer to the paper.

    Args:
        units: ``codes``: content as the encoder gives it; ``soft``: of an encoder of word codes,
            soft units, as HuBERT-soft has them (:mod:`voicenym.nets.content.soft_units`).
        vocoder: ``hifigan``: the bundled small HiFi-GAN, which loses more words than the bundled
            inverse-STFT vocoder; empty: that of the weights.
    """

    units: str = "codes"

    other_vocoders: ClassVar[tuple[str, ...]] = ("hifigan",)
    folder_name: ClassVar[str] = "ssl"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.units not in UNITS:
            raise UnknownSystemError(
                f"{self.card.name}: units is {' or '.join(UNITS)}, not {self.units!r}"
            )

    def prosody_of(self, revision: int) -> Prosody:
        return replace(super().prosody_of(revision), soft=self.units == "soft")

    def check(self) -> None:
        super().check()
        content = self.parts.content
        if self.units == "soft" and not content.has_codes:
            raise UnknownSystemError(
                f"{self.card.name}: units=soft makes soft units of word codes, and the content of "
                f"{self.folder} is {content.kind}, which has no codes; leave it out"
            )
