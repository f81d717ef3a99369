"""Ranking of a pool by similarity to a vector, deterministic on any machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import torch

from voicenym.errors import VoicenymError
from voicenym.identity.method import Sex
from voicenym.identity.pools.plda_affinity import Affinity
from voicenym.identity.pools.speaker_pool import Pool, unit
from voicenym.pseudonym import Pseudonym

Likeness = Literal["cosine", "plda"]
SPARE = 32
"""Additional candidates of the single-precision ranking, for double precision to order."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Pool speakers laid out for comparison with one matrix-vector product.

    Args:
        pool: whose rows they are.
        likeness: cosine, or the pool's PLDA.
        rows: in the pool, ``[row]``.
        table: factor of a query, ``[row, element]``, single precision.
        penalty: subtracted afterwards, ``[row]``, double precision; None for nothing.
    """

    pool: Pool
    likeness: Likeness
    rows: torch.Tensor
    table: torch.Tensor
    penalty: torch.Tensor | None

    def query(self, vector: torch.Tensor) -> torch.Tensor:
        """Query of a vector ``[element]``, double precision."""
        if self.likeness == "cosine":
            return unit(vector[None])[0]
        model = _affinity(self.pool)
        return model.query(model.latent(vector[None])[0])

    def ranked(self, vector: torch.Tensor, count: int, farthest: bool) -> torch.Tensor:
        """Rows of the pool ``[count]`` in order of similarity, the farthest or the nearest first.

        Single precision scores all rows; its order depends on the machine for scores that agree to
        seven digits, so that double precision decides among rows near the threshold.

        Args:
            vector: ``[element]``.
            count: at most as many as there are rows.
            farthest: whether the least similar come first.
        """
        query = self.query(vector.cpu())
        rough = self.table @ query.float()
        if self.penalty is not None:
            rough = rough - self.penalty.float()
        most = min(len(self.rows), count + SPARE)
        near = torch.topk(rough, most, largest=not farthest, sorted=False).indices.sort().values
        exact = (self.table[near].double() * query).sum(1)
        if self.penalty is not None:
            exact = exact - self.penalty[near]
        order = torch.argsort(exact if farthest else -exact, stable=True)
        return self.rows[near[order[:count]]]


@lru_cache(maxsize=8)
def ranking(pool: Pool, likeness: Likeness, sex: Sex | None) -> Ranking:
    """Ranking of speakers of one sex, or all; cached."""
    rows = pool.rows(sex)
    some = pool.vectors if sex is None else pool.vectors[rows]
    if likeness == "cosine":
        lengths = some.double().norm(dim=1, keepdim=True).float()
        return Ranking(pool, likeness, rows, some.float() / lengths, None)
    model = _affinity(pool)
    latent = model.latent(some)
    return Ranking(pool, likeness, rows, latent.float(), model.penalty(latent))


def _affinity(pool: Pool) -> Affinity:
    if pool.affinity is None:
        raise VoicenymError(
            "the pool has no PLDA: build it from speakers with several utterances each, or take "
            "affinity='cosine'"
        )
    return pool.affinity


def lots(pseudonym: Pseudonym, purpose: str, count: int) -> torch.Tensor:
    """Independent draws from U(0, 1), ``[count]``, above 0, double precision.

    From a generator's raw numbers, which no release changes, since a pool may be large.
    """
    raw = pseudonym.rng(purpose).bit_generator.random_raw(count)
    return torch.from_numpy(((raw >> 11) + 0.5) * 2.0**-53)


def drawn(
    pseudonym: Pseudonym, purpose: str, count: int, rows: torch.Tensor, of: int
) -> torch.Tensor:
    """Random subset: ``count`` different rows; every subset has the same probability.

    Each row of the pool has a random number of its own, independent of the candidates, so that
    utterances of one speaker with slightly different neighbours get nearly the same subset.

    Args:
        pseudonym: of the speaker.
        purpose: of the draw.
        count: at most as many as there are rows.
        rows: of the pool, ``[row]``.
        of: how many the pool has.
    """
    lot = lots(pseudonym, purpose, of)[rows]
    return rows[torch.topk(lot, count, largest=False, sorted=False).indices].sort().values


def subset(pseudonym: Pseudonym, purpose: str, count: int, of: int) -> list[int]:
    """Random subset of ``count`` numbers below ``of``, ascending; every subset has the same
    probability.
    """
    found: list[int] = drawn(pseudonym, purpose, count, torch.arange(of), of).tolist()
    return found


def mean_of(vectors: torch.Tensor, rows: Sequence[int] | torch.Tensor) -> torch.Tensor:
    """Mean of rows ``[element]``, not normalised."""
    index = torch.as_tensor(rows, dtype=torch.long)
    return vectors[index].double().mean(0).to(vectors.dtype)
