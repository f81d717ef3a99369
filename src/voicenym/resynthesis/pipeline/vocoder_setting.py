"""Setting of a pipeline that exchanges the vocoder of its weights for another bundled one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from voicenym.errors import UnknownSystemError
from voicenym.nets.checkpoint import stamp, together
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.resynthesis.pipeline import assembly, later_modules
from voicenym.resynthesis.pipeline.pipeline_system import Pipeline


@dataclass(frozen=True)
class VocoderSetting(Pipeline):
    """Pipeline of which another vocoder can be chosen.

    Args:
        vocoder: name of a vocoder that lies in the weights folder beside the synthesizer and
            shares its first part; empty: that of the weights.

    Attributes:
        other_vocoders: names that there are.
        later_vocoders: modules of bundled weights that have the place of these vocoders later on.
        later_vocoders_from: revision from which they have.
    """

    vocoder: str = ""

    other_vocoders: ClassVar[tuple[str, ...]]
    later_vocoders: ClassVar[Mapping[str, str]] = {}
    later_vocoders_from: ClassVar[int] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.vocoder and self.vocoder not in self.other_vocoders:
            raise UnknownSystemError(
                f"{self.card.name}: no vocoder {self.vocoder!r}; give "
                f"{' or '.join(self.other_vocoders)}, or leave it out for that of the weights"
            )

    @property
    def version(self) -> str:
        own = stamp(assembly.located(self.folder, self.vocoder)) if self.vocoder else ""
        return together(super().version, own)

    def synthesizer_of(self, revision: int) -> Synthesizer:
        whole = super().synthesizer_of(revision)
        if not self.vocoder:
            return whole
        if not assembly.belongs(self.folder, self.vocoder):
            raise UnknownSystemError(
                f"{self.card.name}: {self.folder} has no {self.vocoder}/; weights of your own have "
                f"the vocoder that they were put together with: leave out vocoder={self.vocoder}"
            )
        name = self.vocoder_of(revision)
        return later_modules.with_vocoder(self.folder, self.device, name, whole)

    def vocoder_of(self, revision: int) -> str:
        """Name of the module of the vocoder that a revision uses."""
        later = self.later_vocoders.get(self.vocoder, "")
        if revision >= self.later_vocoders_from and assembly.belongs(self.folder, later):
            return later
        return self.vocoder

    def check(self) -> None:
        super().check()
        self.synthesizer_of(self.revisions[-1])
