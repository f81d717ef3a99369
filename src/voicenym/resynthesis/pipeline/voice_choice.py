"""Pipelines by their identity method: selection from a pool, or rotation of the speaker vector."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from voicenym.identity import Identity
from voicenym.identity.householder import Householder, Turns
from voicenym.identity.pools.ranking import Likeness
from voicenym.identity.pools.sex_rule import Rule
from voicenym.identity.selection import Choice, Selection
from voicenym.resynthesis.pipeline.assembly import of_revision, part
from voicenym.resynthesis.pipeline.pipeline_system import Pipeline


@dataclass(frozen=True)
class SelectionPipeline(Pipeline):
    """Pipeline whose target voice is the mean of selected pool speakers.

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
        self._selection("")  # a parameter out of range fails at construction

    def own(self, folder: Path) -> Identity:
        return self._selection(str(part(folder, "pool")))

    def _selection(self, pool: str) -> Selection:
        return Selection(pool, self.choice, self.affinity, self.world, self.region, self.sex)


@dataclass(frozen=True)
class RotationPipeline(Pipeline):
    """Pipeline whose target voice is the speaker's vector, rotated by a Householder network and the
    key.

    Args:
        turns, radius: of :class:`voicenym.identity.householder.Householder`; ``turns="model"`` is
            the paper's, in which the key changes nothing.

    Attributes:
        form: kind of the network, and name of its module: ``roh`` or ``loh``.
    """

    turns: Turns = "both"
    radius: Literal["kept", "drawn"] = "drawn"

    form: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        Householder("", self.turns, self.radius)  # a parameter out of range fails at construction

    @property
    def draws(self) -> bool:
        return super().draws if self.identity else self.turns != "model"

    def own(self, folder: Path) -> Identity:
        network = of_revision(folder, self.form, self.revision or self.revisions[-1])
        return Householder(str(part(folder, network)), self.turns, self.radius)
