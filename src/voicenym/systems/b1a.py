"""B1.a of the VoicePrivacy Challenges: bottleneck, x-vector, acoustic model and NSF."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from voicenym.identity import Identity
from voicenym.identity.pools.pool import Rule
from voicenym.identity.pools.ranking import Likeness
from voicenym.identity.selection import Choice, Selection
from voicenym.resynthesis.assembly import part
from voicenym.resynthesis.pipeline import Pipeline
from voicenym.resynthesis.told import B1_NEEDS, B1_STEPS, B1_UNLIKE, FAILS, PROMISES
from voicenym.system import Card


@dataclass(frozen=True)
class B1a(Pipeline):
    """B1.a: a recogniser's bottleneck, YAAPT, an acoustic model and a neural source-filter model.

    Args:
        choice, affinity, world, region, sex: of
            :class:`voicenym.identity.selection.Selection`.
    """

    choice: Choice = "far"
    affinity: Likeness = "plda"
    world: int = 200
    region: int = 100
    sex: Rule = "same"

    shelf: ClassVar[str] = "b1a"
    card: ClassVar[Card] = Card(
        name="b1a",
        title="VoicePrivacy baseline B1.a: bottleneck, x-vector selection, acoustic model, NSF",
        paper="Fang et al., 'Speaker anonymization using x-vector and neural waveform models', SSW "
        "2019; Srivastava et al., Interspeech 2020; Tomashenko et al., the VoicePrivacy 2020 and "
        "2022 evaluation plans",
        year=2019,
        equations=(
            *B1_STEPS,
            "mels = acoustic model(content, F0, x'); waveform = harmonic-plus-noise NSF(mels, F0, "
            "x')",
        ),
        needs=f"{B1_NEEDS} (acoustic-nsf), pool/ with PLDA",
        protects="unknown: no figures; no weights were at hand to measure with",
        promises=PROMISES,
        fails=(
            "pseudo-speakers are means, and resemble each other; published: an attacker who trains "
            "on the output of B1 has an EER near 10 %",
            *FAILS,
        ),
        approximations=(
            *B1_UNLIKE,
            "the acoustic model does not hear its own output; sizes of its layers are ours",
            "long recordings: windows of 10 s meet at unvoiced frames",
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._selection("")  # a parameter out of range is told at once

    def own(self, folder: Path) -> Identity:
        return self._selection(str(part(folder, "pool")))

    def _selection(self, pool: str) -> Selection:
        return Selection(pool, self.choice, self.affinity, self.world, self.region, self.sex)
