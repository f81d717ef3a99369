"""SSL-based pipeline with a pseudo-speaker selected from a pool: S-Select."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from voicenym.anonymizer import Card
from voicenym.identity.pools.ranking import Likeness
from voicenym.resynthesis.pipeline.card_text import (
    NEEDS,
    PROMISES,
    SSL_FAILS,
    SSL_STEPS,
    SSL_UNLIKE,
)
from voicenym.resynthesis.pipeline.ssl_pipeline import SslPipeline
from voicenym.resynthesis.pipeline.voice_choice import SelectionPipeline


@dataclass(frozen=True)
class SslSelect(SslPipeline, SelectionPipeline):
    """S-Select: HuBERT-soft, YAAPT and HiFi-GAN with the mean vector of speakers of a pool.

    Parameters are those of :class:`~voicenym.resynthesis.pipeline.ssl_pipeline.SslPipeline` and
    :class:`~voicenym.resynthesis.pipeline.voice_choice.SelectionPipeline`.
    """

    affinity: Likeness = "cosine"

    revisions: ClassVar[tuple[int, ...]] = (1, 2, 3)
    coarse_silence_from: ClassVar[int] = 2
    later_vocoders_from: ClassVar[int] = 3
    card: ClassVar[Card] = Card(
        name="ssl-select",
        title="content, F0 and a vocoder (English); mean of dissimilar pool speakers",
        paper="Miao et al., 'Language-independent speaker anonymization approach using "
        "self-supervised pre-trained models', Odyssey 2022; S-Select of Miao et al., 'Speaker "
        "anonymization using orthogonal Householder neural network', TASLP 2023",
        year=2022,
        equations=(
            *SSL_STEPS,
            "x' = mean of 100 drawn by the pseudonym from the 200 speakers of the pool with the "
            "least cosine, of the same sex",
        ),
        needs=f"{NEEDS}, pool/",
        protects="ignorant verifiers in part; an attacker who trains on its output has an EER of "
        "7 % (all channels fused, content among them, 47 speakers, bundled weights), one who knows "
        "it and does not train of 17 %",
        promises=PROMISES,
        fails=(
            *SSL_FAILS,
            "pseudo-speakers are means, and resemble each other: an attacker who knows the pool "
            "and the system has few distinct voices; published for S-Select: an attacker who "
            "trains on its output has an EER of 6.9 %",
        ),
        approximations=(
            "the bundled pool has 318 speakers, and each again with a warped vocal tract, where "
            "the paper's has 1,160",
            *SSL_UNLIKE,
        ),
    )
