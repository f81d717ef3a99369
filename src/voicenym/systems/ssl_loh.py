"""SSL-based pipeline with a learned orthogonal Householder anonymizer: S-LOH (Miao et al. 2023)."""

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
class SslLoh(SslPipeline, RotationPipeline):
    """S-LOH: HuBERT-soft, YAAPT and HiFi-GAN; a learned Householder network rotates the speaker
    vector.

    Parameters are those of :class:`~voicenym.resynthesis.pipeline.ssl_pipeline.SslPipeline` and
    :class:`~voicenym.resynthesis.pipeline.voice_choice.RotationPipeline`.
    """

    revisions: ClassVar[tuple[int, ...]] = (1, 2, 3)
    coarse_silence_from: ClassVar[int] = 2
    later_vocoders_from: ClassVar[int] = 3
    form: ClassVar[str] = "loh"
    card: ClassVar[Card] = Card(
        name="ssl-loh",
        title="content, F0 and a vocoder (English); speaker rotated by a network and by the key",
        paper="S-LOH of Miao et al., 'Speaker anonymization using orthogonal Householder neural "
        "network', TASLP 2023; pipeline of Miao et al., Odyssey 2022",
        year=2023,
        equations=(
            *SSL_STEPS,
            "x' = W(x) (x - m) + m, W a product of Householder reflections that a network makes of "
            "x (equations 7 to 11), then turned by an orthogonal matrix that the pseudonym draws",
        ),
        needs=f"{NEEDS}, loh/",
        protects="little: an attacker who trains on its output has an EER of 7 % (all channels "
        "fused, content among them, 47 speakers, with the key's rotation or turns=model), one who "
        "reads the content alone of 10 %, one who knows it and does not train of 21 %",
        promises=PROMISES,
        fails=(*SSL_FAILS, *HOUSEHOLDER_FAILS),
        approximations=(
            "W(x) turns at most 48 of the 192 dimensions, the same for all speakers: a reading of "
            "the paper, which leaves it open; the key's rotation turns all",
            "the bundled loh/ was trained for 6,834 steps on 318 speakers, where the paper has a "
            "cycle of 130,000 steps on 5,994 speakers",
            *HOUSEHOLDER_UNLIKE,
            *SSL_UNLIKE,
        ),
    )
