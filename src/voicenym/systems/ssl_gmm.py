"""SSL-based pipeline with pseudo-speakers drawn from a Gaussian mixture (Turner et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from voicenym.anonymizer import Card
from voicenym.identity import Identity
from voicenym.identity.mixture import RETRIES, Mixture
from voicenym.identity.pools.sex_rule import Rule
from voicenym.resynthesis.pipeline.assembly import part
from voicenym.resynthesis.pipeline.card_text import (
    NEEDS,
    PROMISES,
    SSL_FAILS,
    SSL_STEPS,
    SSL_UNLIKE,
)
from voicenym.resynthesis.pipeline.ssl_pipeline import SslPipeline

UNFORCED = 1.0


@dataclass(frozen=True)
class SslGmm(SslPipeline):
    """HuBERT-soft, YAAPT and HiFi-GAN with a speaker vector drawn from a mixture in PCA space.

    Parameters are those of :class:`~voicenym.resynthesis.pipeline.ssl_pipeline.SslPipeline`, and:

    Args:
        theta: forced dissimilarity: a draw whose cosine with the speaker exceeds it is rejected; 1
            for none.
        retries: largest number of draws.
        sex: ``same``, ``opposite`` or ``any``.
    """

    theta: float = UNFORCED
    retries: int = RETRIES
    sex: Rule = "same"

    revisions: ClassVar[tuple[int, ...]] = (1, 2, 3)
    coarse_silence_from: ClassVar[int] = 2
    later_vocoders_from: ClassVar[int] = 3
    card: ClassVar[Card] = Card(
        name="ssl-gmm",
        title="content, F0 and a vocoder (English); pseudo-speaker drawn from a Gaussian mixture",
        paper="identities of Turner et al., 'Generating identities with mixture models for speaker "
        "anonymization', Computer Speech & Language 2022; pipeline of Miao et al., Odyssey 2022",
        year=2022,
        equations=(
            *SSL_STEPS,
            "x' = m + P z, z drawn by the pseudonym from a mixture of Gaussians over the principal "
            "components P that hold 99 % of the variance, a mixture a sex; drawn again while "
            "cos(x', x) > theta",
        ),
        needs=f"{NEEDS}, mixture/",
        protects="little: an attacker who trains on its output has an EER of 7 % (all channels "
        "fused, content among them, 47 speakers), one who knows it and does not train of 21 %",
        promises=PROMISES,
        fails=(
            *SSL_FAILS,
            "with theta, each pseudo-speaker shows an attacker which speakers it cannot be",
        ),
        approximations=(
            "the paper draws x-vectors for B1.a's synthesis; here they are ECAPA-TDNN's, for the "
            "SSL-based pipeline",
            *SSL_UNLIKE,
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._mixture("")  # a parameter out of range fails at construction

    def own(self, folder: Path) -> Identity:
        return self._mixture(str(part(folder, "mixture")))

    def _mixture(self, model: str) -> Mixture:
        theta = None if self.theta == UNFORCED else self.theta
        return Mixture(model, theta, self.retries, self.sex)
