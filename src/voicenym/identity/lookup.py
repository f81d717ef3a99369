"""Averaged look-up table of speakers, blended with a reserved vector: ASV-Free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.method import Identity, Sex
from voicenym.identity.pools.ranking import drawn, mean_of
from voicenym.identity.pools.sex_rule import Rule, checked_rule, chosen_sex
from voicenym.identity.pools.speaker_pool import Pool, opened
from voicenym.pseudonym import Pseudonym


@dataclass(frozen=True)
class Lookup(Identity):
    """Blend of the mean of some table speakers with a vector of no speaker.

    The speaker's own vector is not used, so that no speaker encoder is needed. In the paper the
    table is trained with the synthesizer, and one reserved row is the pseudo-speaker. Here a pool
    serves as the table, and its centre as the reserved row unless one is given. The number of
    averaged speakers and the weights are not known.

    Args:
        pool: the table, or its folder.
        count: number of averaged speakers.
        weight: of the reserved vector, 0 to 1.
        nobody: the reserved vector; empty for the centre of the pool.
        sex: ``any``; ``same`` and ``opposite`` require the speaker's sex.

    Source: Yao et al., the VoicePrivacy Challenge 2022's ASV-Free, a baseline of MUSA
    (Yao et al. 2024).
    """

    pool: Pool | str
    count: int = 10
    weight: float = 0.5
    nobody: tuple[float, ...] = ()
    sex: Rule = "any"

    name: ClassVar[str] = "lookup"
    source: ClassVar[str] = "Yao et al. 2022 (ASV-Free of Yao et al. 2024), weights approximated"

    @property
    def source_dependent(self) -> bool:
        return False

    @property
    def draws(self) -> bool:
        return self.weight < 1.0

    def __post_init__(self) -> None:
        checked_rule(self.name, self.sex)
        if self.count < 1 or not 0.0 <= self.weight <= 1.0:
            raise UnknownSystemError(
                f"lookup: needs 1 speaker or more and a weight of 0 to 1, not {self.count} and "
                f"{self.weight}"
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
        if self.nobody and len(self.nobody) != pool.size:
            raise VoicenymError(
                f"lookup: nobody has {len(self.nobody)} elements, the pool's vectors {pool.size}"
            )
        nobody = torch.tensor(self.nobody) if self.nobody else pool.vectors.double().mean(0)
        found = []
        for pseudonym, sex in zip(pseudonyms, sexes, strict=True):
            if self.sex != "any" and sex is None:
                raise VoicenymError(
                    f"lookup: sex={self.sex!r} needs the speaker's sex, and nobody is listened to: "
                    "say it, or set sex='any'"
                )
            rows = pool.rows(chosen_sex(self.sex, sex))
            if len(rows) < self.count:
                raise VoicenymError(
                    f"lookup: the pool has {len(rows)} such speakers, and {self.count} are needed: "
                    "add speakers, or set a smaller count"
                )
            people = drawn(pseudonym, "lookup.speakers", self.count, rows, len(pool))
            mean = mean_of(pool.vectors, people).double()
            found.append(self.weight * nobody.double() + (1.0 - self.weight) * mean)
        return torch.stack(found)
