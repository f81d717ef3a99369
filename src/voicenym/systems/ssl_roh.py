"""SSL-based pipeline with a random orthogonal Householder anonymizer: S-ROH (Miao et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from voicenym.anonymizer import Card
from voicenym.resynthesis.pipeline.card_text import (
    HOUSEHOLDER_FAILS,
    HOUSEHOLDER_UNLIKE,
    NEEDS,
    PROMISES,
    SSL_FAILS,
    SSL_STEPS,
    SSL_UNLIKE,
)
from voicenym.resynthesis.pipeline.ssl_pipeline import SslPipeline
from voicenym.resynthesis.pipeline.voice_choice import RotationPipeline


@dataclass(frozen=True)
class SslRoh(SslPipeline, RotationPipeline):
    """S-ROH: HuBERT-soft, YAAPT and HiFi-GAN; a random Householder network rotates the speaker
    vector.

    Parameters are those of :class:`~voicenym.resynthesis.pipeline.ssl_pipeline.SslPipeline` and
    :class:`~voicenym.resynthesis.pipeline.voice_choice.RotationPipeline`.
    """

    form: ClassVar[str] = "roh"
    revisions: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)
    coarse_silence_from: ClassVar[int] = 3
    later_vocoders_from: ClassVar[int] = 4
    card: ClassVar[Card] = Card(
        name="ssl-roh",
        title="content, F0 and a vocoder (English); speaker rotated by the key, and by one matrix",
        paper="S-ROH of Miao et al., 'Speaker anonymization using orthogonal Householder neural "
        "network', TASLP 2023; pipeline of Miao et al., Odyssey 2022",
        year=2023,
        equations=(
            *SSL_STEPS,
            "x' = W (x - m) + m, W a product of Householder reflections, one for all speakers "
            "(equations 7 to 11), then turned by an orthogonal matrix that the pseudonym draws",
        ),
        needs=f"{NEEDS}, roh/",
        protects="little: an attacker who trains on its output has an EER of 7 % (all channels "
        "fused, content among them, 47 speakers; 8 % with turns=model), one who reads the content "
        "alone 11 %, one who knows it and does not train 22 %",
        promises=PROMISES,
        fails=(*SSL_FAILS, *HOUSEHOLDER_FAILS),
        approximations=(
            "the bundled roh-2/ (from revision 2 on) was trained for 29,000 steps on 318 speakers; "
            "the paper has a cycle of 130,000 steps on 5,994 speakers; the learning rate was still "
            "rising",
            "in revision 1 the bundled roh/ has no reflections: the key alone turns x, in "
            "coordinates of 406 speakers, Arabic commands among them",
            *HOUSEHOLDER_UNLIKE,
            *SSL_UNLIKE,
        ),
    )
