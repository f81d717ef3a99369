"""The SSL-based pipeline with a learned orthogonal Householder anonymizer: S-LOH."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from voicenym.identity import Identity
from voicenym.identity.householder import Householder, Turns
from voicenym.resynthesis.assembly import part
from voicenym.resynthesis.pipeline import Pipeline
from voicenym.resynthesis.told import (
    FAILS,
    HOUSEHOLDER_FAILS,
    HOUSEHOLDER_UNLIKE,
    PROMISES,
    SSL_NEEDS,
    SSL_STEPS,
    SSL_UNLIKE,
)
from voicenym.system import Card


@dataclass(frozen=True)
class SslLoh(Pipeline):
    """S-LOH: HuBERT-soft, YAAPT and HiFi-GAN; the speaker's vector is turned, as it asks for.

    Args:
        turns, radius: of :class:`voicenym.identity.householder.Householder`; ``turns="model"`` is
            the paper's, in which the key changes nothing.
    """

    turns: Turns = "both"
    radius: Literal["kept", "drawn"] = "drawn"

    shelf: ClassVar[str] = "ssl"
    card: ClassVar[Card] = Card(
        name="ssl-loh",
        title="HuBERT-soft, YAAPT and HiFi-GAN; the speaker turned by a network and by the key",
        paper="S-LOH of Miao et al., 'Speaker anonymization using orthogonal Householder neural "
        "network', TASLP 2023; pipeline of Miao et al., Odyssey 2022",
        year=2023,
        equations=(
            *SSL_STEPS,
            "x' = W(x) (x - m) + m, W a product of Householder reflections that a network makes of "
            "x (equations 7 to 11), then turned by an orthogonal matrix that the pseudonym draws",
        ),
        needs=f"{SSL_NEEDS}, loh/",
        protects="unknown: no figures; no weights were at hand to measure with",
        promises=PROMISES,
        fails=(*HOUSEHOLDER_FAILS, *FAILS),
        approximations=(*HOUSEHOLDER_UNLIKE, *SSL_UNLIKE),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        Householder("", self.turns, self.radius)  # a parameter out of range is told at once

    def own(self, folder: Path) -> Identity:
        return Householder(str(part(folder, "loh")), self.turns, self.radius)
