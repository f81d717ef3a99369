"""Pipelines by how they choose a voice: selected from a pool, or the speaker's own, turned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from voicenym.identity import Identity
from voicenym.identity.householder import Householder, Turns
from voicenym.identity.pools.ranking import Likeness
from voicenym.identity.pools.speaker_pool import Rule
from voicenym.identity.selection import Choice, Selection
from voicenym.resynthesis.pipeline.assembly import part
from voicenym.resynthesis.pipeline.pipeline_system import Pipeline


@dataclass(frozen=True)
class Selecting(Pipeline):
    """A pipeline whose voice is the mean of some speakers of a pool.

    Args:
        choice, affinity, world, region, sex: of
            :class:`voicenym.identity.selection.Selection`.
    """

    choice: Choice = "far"
    affinity: Likeness = "plda"
    world: int = 200
    region: int = 100
    sex: Rule = "same"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._selection("")  # a parameter out of range is told at once

    def own(self, folder: Path) -> Identity:
        return self._selection(str(part(folder, "pool")))

    def _selection(self, pool: str) -> Selection:
        return Selection(pool, self.choice, self.affinity, self.world, self.region, self.sex)


@dataclass(frozen=True)
class Turning(Pipeline):
    """A pipeline whose voice is the speaker's own, turned by a Householder network and the key.

    Args:
        turns, radius: of :class:`voicenym.identity.householder.Householder`; ``turns="model"`` is
            the paper's, in which the key changes nothing.

    Attributes:
        form: of the network, and name of its part of the folder: ``roh`` or ``loh``.
    """

    turns: Turns = "both"
    radius: Literal["kept", "drawn"] = "drawn"

    form: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        Householder("", self.turns, self.radius)  # a parameter out of range is told at once

    def own(self, folder: Path) -> Identity:
        return Householder(str(part(folder, self.form)), self.turns, self.radius)
