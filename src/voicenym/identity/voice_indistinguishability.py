"""Voice-indistinguishability: a pool speaker drawn under metric differential privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

from voicenym.errors import UnknownSystemError
from voicenym.identity.method import Identity, Sex
from voicenym.identity.pools.ranking import lots
from voicenym.identity.pools.sex_rule import Rule, checked_rule
from voicenym.identity.pools.speaker_pool import Pool, opened, unit
from voicenym.pseudonym import Pseudonym


@dataclass(frozen=True)
class Indistinguishable(Identity):
    """Speaker v of the pool, drawn with a probability proportional to exp(-epsilon d(x, v) / 2).

    The distance d is the angle over pi. For any two speakers x and x' and any outcome v, P(v | x)
    <= exp(epsilon d(x, x')) P(v | x'): half of epsilon is spent on the weights, half on their
    normalisation. The authors' program draws with exp(-epsilon d) (``published``), which guarantees
    only 2 epsilon d.

    The result is a real person's vector, unchanged: voices are as distinct as people, and a speaker
    gets another person's voice. The guarantee holds for the drawn vector and for one draw: it does
    not cover speaker information in the rest of a system, and ``sex`` other than ``any`` excludes
    the sex from it. The authors also replace a drawn vector by the user's own; then the pool
    differs from user to user and the proof fails, so that this is omitted here.

    Args:
        pool: of speakers, or its folder.
        epsilon: privacy budget; smaller values make the draw depend less on the speaker; 20 in the
            authors' code.
        published: weights as in the authors' code.
        sex: ``any``, ``same`` or ``opposite``.

    Source: Han, Li, Cao, Ma and Yoshikawa, "Voice-indistinguishability", ICME 2020; the challenge's
    K2 (Tomashenko et al. 2022, table 1), whose epsilon and pool are not known.
    """

    pool: Pool | str
    epsilon: float = 20.0
    published: bool = False
    sex: Rule = "any"

    name: ClassVar[str] = "indistinguishable"
    source: ClassVar[str] = "Han et al. 2020 (K2 in Tomashenko et al. 2022)"

    def __post_init__(self) -> None:
        checked_rule(self.name, self.sex)
        if not 0.0 <= self.epsilon < math.inf:
            raise UnknownSystemError(
                f"indistinguishable: epsilon needs 0 or more, not {self.epsilon}"
            )

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
        found = []
        for vector, pseudonym, sex in zip(vectors.cpu(), pseudonyms, sexes, strict=True):
            rows, logs = self._odds(pool, vector, sex)
            # the largest of log odds and Gumbel noise is drawn with these odds; with noise that
            # belongs to the pool's speakers, utterances of one person mostly draw the same
            noise = -(-lots(pseudonym, "indistinguishable.speaker", len(pool)).log()).log()
            found.append(pool.vectors[rows[(logs + noise[rows]).argmax()]])
        return torch.stack(found)

    def log_probabilities(self, vector: torch.Tensor, sex: Sex | None = None) -> torch.Tensor:
        """Log probability of each speaker of the pool, ``[row]``, in nats.

        Args:
            vector: ``[element]``.
            sex: of the speaker, if known and used.
        """
        pool = opened(self.pool)
        pool.check(vector)
        rows, logs = self._odds(pool, vector, sex)
        found = torch.full((len(pool),), -math.inf, dtype=torch.float64)
        found[rows] = logs - logs.logsumexp(0)
        return found

    def _odds(
        self, pool: Pool, vector: torch.Tensor, sex: Sex | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows of the pool, and log weights, the largest 0."""
        _, rows = pool.among(self.sex, vector, sex)
        distance = angle(vector, pool.unit[rows]) / math.pi
        logs = -self.epsilon * (1.0 if self.published else 0.5) * distance
        return rows, logs - logs.max()


def angle(vector: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Angle in radians between a vector ``[element]`` and unit vectors ``[row, element]``."""
    cosine = others @ unit(vector[None])[0]
    return cosine.clamp(-1.0, 1.0).arccos()
