"""Ensemble regression of speaker vectors: A1 of VoicePrivacy 2020, approximated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.method import Identity, Sex
from voicenym.identity.pools.kmeans import centroids
from voicenym.identity.pools.ranking import subset
from voicenym.identity.pools.sex_rule import Rule, checked_rule
from voicenym.identity.pools.speaker_pool import Pool, opened, unit
from voicenym.pseudonym import Pseudonym


@dataclass(frozen=True)
class Regression(Identity):
    """Ensemble regressions of the high-variance and the low-variance elements of a vector.

    An approximation. The survey describes A1 as variability-driven ensemble regression; the details
    are from memory, without access to the paper: the 512 elements of an x-vector are split into
    those of high and of low variance, each part is modified by its own regression, an ensemble of
    them, the parts are concatenated, and B1 synthesises. Not known: the split, the regressors,
    their targets, and whether F0 is changed, which is up to the system. Here ridge regressions,
    each trained without another part of the pool, map each pool speaker to the centroid of the
    least similar cluster; the pseudonym draws the half of the ensemble that is averaged. The
    results lie near the mean voice, as regressions to few targets do.

    Args:
        pool: of speakers, or its folder.
        share: of the elements in the high-variance part.
        members: of each ensemble, an even number.
        clusters: of the pool, by k-means; their centroids are the targets.
        ridge: penalty of weights, as a share of the mean variance.
        sex: of the targets: ``same``, ``opposite`` or ``any``.

    Published for A1 (women, men; LibriSpeech test): EER of the ignorant 50.4 and 50.6 %, of the
    lazy-informed 28.8 and 35.4 %, G_VD -6.2 and -8.2 dB.

    Source: Mawalim, Galajit, Karnjana and Unoki, "X-vector singular value modification and
    statistical-based decomposition with ensemble regression modeling for speaker anonymization
    system", Interspeech 2020; label: Tomashenko et al. (2022, supplement), table 1; figures: their
    tables 3 and 9.
    """

    pool: Pool | str
    share: float = 0.5
    members: int = 8
    clusters: int = 16
    ridge: float = 0.1
    sex: Rule = "same"

    name: ClassVar[str] = "regression"
    source: ClassVar[str] = "Mawalim et al. 2020 (A1 in Tomashenko et al. 2022), approximated"

    def __post_init__(self) -> None:
        checked_rule(self.name, self.sex)
        if not 0.0 < self.share < 1.0:
            raise UnknownSystemError(f"regression: share needs 0 to 1, not {self.share}")
        if self.members < 2 or self.members % 2:
            raise UnknownSystemError(f"regression: members is even, not {self.members}")
        if self.clusters < 2 or not self.ridge > 0.0:
            raise UnknownSystemError(
                f"regression: needs 2 clusters and a ridge above 0, not {self.clusters} and "
                f"{self.ridge}"
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
        for vector, pseudonym, sex in zip(vectors.cpu().double(), pseudonyms, sexes, strict=True):
            source_sex = sex or (None if self.sex == "any" else pool.sex_of(vector))
            least = max(self.clusters, 2 * self.members)
            wanted, _ = pool.among(self.sex, vector, source_sex, least)
            source = source_sex if wanted else None
            if len(pool.rows(source)) < least:
                raise VoicenymError(
                    f"regression: the pool has {len(pool.rows(source))} speakers of the speaker's "
                    f"own sex, and {least} are needed to learn from: add such speakers"
                )
            fitted = _fitted(pool, source, wanted, self.clusters, self.members, self.ridge)
            found.append(self._one(fitted, vector, pseudonym))
        return torch.stack(found)

    def _one(self, fitted: Fitted, vector: torch.Tensor, pseudonym: Pseudonym) -> torch.Tensor:
        away = unit(vector[None])[0] - fitted.centre
        target = torch.zeros_like(vector)
        order = torch.argsort(fitted.variance, stable=True, descending=True)
        border = max(1, min(len(vector) - 1, round(self.share * len(vector))))
        for part, elements in (("much", order[:border]), ("little", order[border:])):
            drawn = subset(pseudonym, f"regression.{part}", self.members // 2, self.members)
            weights = fitted.weights[drawn].mean(0)[:, elements]
            offset = fitted.offsets[drawn].mean(0)[elements]
            target[elements] = (away[:, None] * weights).sum(0) + offset
        return target


@dataclass(frozen=True, eq=False)
class Fitted:
    """Fitted regressions from unit vectors to centroids.

    Args:
        centre: of the inputs, ``[element]``.
        variance: of the pool's elements, ``[element]``.
        weights: ``[member, element, element]``.
        offsets: ``[member, element]``.
    """

    centre: torch.Tensor
    variance: torch.Tensor
    weights: torch.Tensor
    offsets: torch.Tensor


@lru_cache(maxsize=8)
def _fitted(
    pool: Pool, source: Sex | None, wanted: Sex | None, clusters: int, members: int, ridge: float
) -> Fitted:
    """Fits regressions from speakers of one sex to the least similar centroids of another or the
    same sex.
    """
    rows = pool.rows(source)
    x = unit(pool.vectors[rows])
    centres = centroids(pool, wanted, clusters)
    targets = centres[(x @ unit(centres).T).argmin(1)]
    centre = x.mean(0)
    weights, offsets = [], []
    for member in range(members):
        fitting = torch.arange(len(x)) % members != member
        a, b = x[fitting] - centre, targets[fitting]
        offset = b.mean(0)
        gram = a.T @ a
        penalty = ridge * gram.diagonal().mean() * torch.eye(len(gram), dtype=gram.dtype)
        weights.append(torch.linalg.solve(gram + penalty, a.T @ (b - offset)))
        offsets.append(offset - (a.mean(0)[:, None] * weights[-1]).sum(0))
    variance = pool.vectors[rows].double().var(0)
    return Fitted(centre, variance, torch.stack(weights), torch.stack(offsets))
