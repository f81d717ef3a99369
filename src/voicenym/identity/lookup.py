"""A look-up table of speakers, averaged, and a voice that is nobody's: the challenge's ASV-Free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.method import Identity, Sex
from voicenym.identity.pools.ranking import drawn, mean_of
from voicenym.identity.pools.speaker_pool import Pool, Rule, checked_rule, chosen_sex, opened
from voicenym.pseudonym import Pseudonym


@dataclass(frozen=True)
class Lookup(Identity):
    """A blend of the mean of some speakers of a table with a vector that belongs to nobody.

    The speaker's own vector is not used, so that nobody needs to be verified or even heard. In the
    paper the table is learnt with the synthesiser, and one row of it, reserved for nobody, is the
    pseudo-speaker. A pool stands for the table here, and its centre for the reserved row, unless
    one is given. Not published, or not known here: how many speakers are averaged, and the weights.

    Args:
        pool: the table, or its folder.
        count: speakers that are averaged.
        weight: of the vector that is nobody's, 0 to 1.
        nobody: that vector, as numbers; empty for the centre of the pool.
        sex: ``any``; ``same`` and ``opposite`` need the speaker's sex told.

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
    source_dependent: ClassVar[bool] = False

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
