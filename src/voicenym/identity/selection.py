"""Pseudo-speaker selection: the mean of pool speakers, as in the VoicePrivacy baseline B1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.method import Identity, Sex
from voicenym.identity.pools.ranking import Likeness, drawn, mean_of, ranking
from voicenym.identity.pools.sex_rule import Rule, checked_rule
from voicenym.identity.pools.speaker_pool import Pool, opened
from voicenym.pseudonym import Pseudonym

Choice = Literal["far", "near", "random", "dense", "sparse"]


@dataclass(frozen=True)
class Selection(Identity):
    """Mean of ``region`` speakers, drawn by the pseudonym from the candidates of a rule.

    Rules: for ``far`` and ``near``, the candidates are the ``world`` speakers least or most similar
    to the speaker; for ``random``, all; ``dense`` and ``sparse`` draw one of the ``clusters``
    largest or smallest clusters of the pool, and average ``share`` of its members. The mean is not
    normalised. It lies nearer to the pool's centre than real speakers, so that pseudo-speakers
    resemble each other.

    Args:
        pool: of speakers, or its folder.
        choice: rule of the candidates.
        affinity: likeness by ``cosine``, or by the ``plda`` of the pool.
        world: number of candidates.
        region: number of averaged speakers.
        sex: ``same``, ``opposite`` or ``any``. An unknown sex is estimated from the vector.
        clusters: number of clusters to draw from.
        share: of averaged members of the cluster.

    Source: Fang et al., SSW 2019 (nearest, random, range); Srivastava et al., Interspeech 2020
    (PLDA affinity, dense and sparse clusters by affinity propagation, sex); Tomashenko et al., the
    VoicePrivacy Challenges' B1 (200 farthest, 100 of them). The defaults of ten clusters and half
    of the members are from memory of Srivastava et al.
    """

    pool: Pool | str
    choice: Choice = "far"
    affinity: Likeness = "cosine"
    world: int = 200
    region: int = 100
    sex: Rule = "same"
    clusters: int = 10
    share: float = 0.5

    name: ClassVar[str] = "selection"
    source: ClassVar[str] = "Fang et al. 2019; Srivastava et al. 2020; VoicePrivacy baseline B1"

    def __post_init__(self) -> None:
        checked_rule(self.name, self.sex)
        for field, value, known in (
            ("choice", self.choice, get_args(Choice)),
            ("affinity", self.affinity, get_args(Likeness)),
        ):
            if value not in known:
                raise UnknownSystemError(
                    f"selection: {field} is one of {', '.join(known)}, not {value!r}"
                )
        if not 1 <= self.region <= self.world:
            raise UnknownSystemError(
                f"selection: region needs 1 to world={self.world} speakers, not {self.region}"
            )
        if self.clusters < 1 or not 0.0 < self.share <= 1.0:
            raise UnknownSystemError(
                f"selection: needs 1 cluster or more and a share above 0 and up to 1, not "
                f"{self.clusters} and {self.share}"
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
        return torch.stack(
            [self._one(pool, *row) for row in zip(vectors.cpu(), pseudonyms, sexes, strict=True)]
        )

    def _one(
        self, pool: Pool, vector: torch.Tensor, pseudonym: Pseudonym, sex: Sex | None
    ) -> torch.Tensor:
        if self.choice in ("dense", "sparse"):
            return mean_of(pool.vectors, self._members(pool, vector, pseudonym, sex))
        least = self.region if self.choice == "random" else self.world
        wanted, rows = pool.among(self.sex, vector, sex, least)
        if self.choice != "random":
            likeness = ranking(pool, self.affinity, wanted)
            rows = likeness.ranked(vector, self.world, self.choice == "far")
        region = drawn(pseudonym, "selection.region", self.region, rows, len(pool))
        return mean_of(pool.vectors, region)

    def _members(
        self, pool: Pool, vector: torch.Tensor, pseudonym: Pseudonym, sex: Sex | None
    ) -> torch.Tensor:
        """Averaged rows of the pool, of one cluster."""
        if pool.clusters is None:
            raise VoicenymError(
                f"the pool has no clusters, and choice={self.choice!r} needs them: build it with "
                "voicenym pool build --clusters"
            )
        _, rows = pool.among(self.sex, vector, sex)
        names, counts = pool.clusters[rows].unique(return_counts=True)
        if len(names) < self.clusters:
            raise VoicenymError(
                f"the pool has {len(names)} clusters of such speakers, and one of {self.clusters} "
                f"is to be drawn: set clusters={len(names)} or fewer, or add speakers to the pool"
            )
        order = torch.argsort(counts, stable=True, descending=self.choice == "dense")
        cluster = names[order[pseudonym.index("selection.cluster", self.clusters)]]
        members = rows[pool.clusters[rows] == cluster]
        count = max(1, math.ceil(self.share * len(members)))
        return drawn(pseudonym, "selection.members", count, members, len(pool))
