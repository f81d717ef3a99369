"""Pseudo-speakers with a guaranteed angle between each other and to real speakers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.code_words import code
from voicenym.identity.copy import Copy
from voicenym.identity.method import Identity, Sex, UnlikelyDrawError, inner
from voicenym.identity.pools.speaker_pool import Pool, opened
from voicenym.pseudonym import Pseudonym

RETRIES = 100
WHOLE = 1e-6
"""Least share of a pseudo-speaker's squared length outside of the band."""
SAFETY = 1e-5
"""Margin added to 1 - cos(angle) for single precision."""


@dataclass(frozen=True)
class Distinct(Identity):
    """Pseudo-speakers of another method, modified so that any two keep ``angle``.

    No list of assigned pseudo-speakers is kept, which would make results depend on the order.
    Instead, the pseudonym draws a word of an error-correcting code with so many words that no two
    speakers of a project draw the same one (:meth:`Code.shared`: for 10,000 speakers 1.4e-6 with 64
    signs, 2.7e-12 with 128). In a band of the pool's principal directions, the method's vector p is
    replaced by the signs of that word, with a share b of its squared length. For speakers 1 and 2
    with words c1 and c2,

        cos = (1 - b) cos(p1, p2 outside of the band) + b cos(c1, c2) <= 1 - b (1 - cos_code),

    so that b = (1 - cos(angle)) / (1 - cos_code) keeps the angle even if p1 = p2. The band is where
    real speakers have that share of their squared length, so that the vectors stay natural. Words
    whose vector is near a pool speaker are redrawn; this depends on the pool and the speaker alone.

    Args:
        of: the method.
        pool: real speakers to keep a distance from, which also determine the band; or its folder.
        angle: degrees, above 0; at most that of the code itself, 41 with 64 signs and 49 with 128.
        length: signs of a word: 16, 32, 64 or 128; with 16 and 32 there are only 2^11 and 2^21
            words, for projects of a few speakers.
        retries: largest number of words drawn.

    Raises:
        VoicenymError: an angle beyond the code's; from a call, a pool that spans too few
            directions, or no word far enough from all its speakers.
    """

    of: Identity
    pool: Pool | str
    angle: float = 10.0
    length: int = 64
    retries: int = RETRIES

    name: ClassVar[str] = "distinct"
    source: ClassVar[str] = "voicenym: extended BCH codes on a band of principal directions"

    def __post_init__(self) -> None:
        inner(self.name, self.of)
        words = code(self.length)
        widest = math.degrees(math.acos(words.cosine))
        if not 0.0 < self.angle < widest:
            raise UnknownSystemError(
                f"distinct: angle needs more than 0 and less than {widest:.0f} degrees with "
                f"length={self.length}, not {self.angle}: "
                + ("take length=128, or a smaller angle" if self.length < 128 else "take a smaller")
            )
        if self.retries < 1:
            raise UnknownSystemError(f"distinct: retries needs 1 or more, not {self.retries}")

    @property
    def share(self) -> float:
        """Share of the code word in a pseudo-speaker's squared length."""
        away = 1.0 - math.cos(math.radians(self.angle)) + SAFETY
        return min(1.0, away / (1.0 - code(self.length).cosine))

    def own_voice(self, direction: bool = False) -> str:
        if not isinstance(self.of, Copy):
            return ""
        return f"the result is {self.angle:g} degrees from the speaker's own vector"

    def encoder(self) -> str:
        return opened(self.pool).version

    def anonymize(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None],
    ) -> torch.Tensor:
        pool = opened(self.pool)
        pool.check(vectors)
        band = _band(pool, self.length, self.share)
        pseudo = self.of.anonymize(vectors, pseudonyms, sexes).cpu().double()
        rows = zip(pseudo, pseudonyms, strict=True)
        return torch.stack([self._one(pool, band, *row) for row in rows])

    def _one(
        self, pool: Pool, band: torch.Tensor, pseudo: torch.Tensor, pseudonym: Pseudonym
    ) -> torch.Tensor:
        size = pseudo.norm()
        outside = pseudo - ((band * pseudo).sum(1)[:, None] * band).sum(0)
        if not float(outside.norm()) > WHOLE * float(size):
            raise VoicenymError(
                "distinct: a pseudo-speaker's vector is zero, or lies within the band of the code "
                f"words: take another method than {self.of.name}, or a smaller length"
            )
        kept = math.sqrt(1.0 - self.share) * outside / outside.norm()
        words = code(self.length)
        limit = math.cos(math.radians(self.angle))
        best = 1.0
        for attempt in range(self.retries):
            number = pseudonym.index(f"distinct.word.{attempt}", 2**words.bits)
            signs = torch.tensor(words.word(number), dtype=torch.float64)
            coded = math.sqrt(self.share / self.length) * (signs[:, None] * band).sum(0)
            moved = kept + coded
            nearest = float((pool.unit * moved).sum(1).max())
            if nearest <= limit - SAFETY:
                placed: torch.Tensor = size * moved
                return placed
            best = min(best, nearest)
        reached = math.degrees(math.acos(min(1.0, best)))
        raise UnlikelyDrawError(
            f"distinct: none of {self.retries} words puts this pseudo-speaker {self.angle:g} "
            f"degrees from every speaker of the pool, {reached:.1f} were reached: take a smaller "
            f"one, or a method that does not come as near to real people as {self.of.name} does"
        )


@lru_cache(maxsize=4)
def _band(pool: Pool, length: int, share: float) -> torch.Tensor:
    """Consecutive principal directions ``[length, element]`` that hold a share of squared length.

    Of unit vectors as they are, not centred: the first direction is near to their mean. A
    direction's sign is the one that makes its largest element positive.

    Raises:
        VoicenymError: the pool spans too few directions.
    """
    _, values, directions = torch.linalg.svd(pool.unit, full_matrices=False)
    spanned = int((values > 1e-6 * values[0]).sum())
    if spanned < length + 1:
        raise VoicenymError(
            f"distinct: the pool's {len(pool)} speakers span {spanned} directions, and "
            f"{length + 1} are needed for words of {length} signs: add speakers, or take a smaller "
            "length"
        )
    energy = values[:spanned].square().cumsum(0) / values[:spanned].square().sum()
    before = torch.cat([energy.new_zeros(1), energy])
    held = before[length:] - before[:-length]  # of bands that begin with direction 0, 1, ...
    begin = 1 + int((held[1:] - share).abs().argmin())  # never the mean voice itself
    band = directions[begin : begin + length]
    largest = band.abs().argmax(1, keepdim=True)
    signed: torch.Tensor = band * band.gather(1, largest).sign()
    return signed
