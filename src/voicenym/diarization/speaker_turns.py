"""Turns of speakers in a recording: who speaks from when to when."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from voicenym.errors import DiarizationError, counted, quoted

LONGEST_LABEL = 200
"""Most characters of a speaker's label."""
MOST_SECONDS = 1e6
"""Latest time of a turn: eleven days."""
GRID = 6
"""Decimals of a second to which times are rounded: microseconds, finer than any sample."""


@dataclass(frozen=True)
class Turn:
    """A stretch in which a speaker speaks.

    Args:
        start, end: in seconds from the beginning of the recording, ``0 <= start < end``.
        speaker: label of the speaker; white space is reduced to single spaces.
        confidence: from 0 to 1; None if unknown.

    Raises:
        DiarizationError: times, a label or a confidence that cannot be.

    Example:
        >>> Turn(0.5, 2.0, " anna  b. ").speaker
        'anna b.'
    """

    start: float
    end: float
    speaker: str
    confidence: float | None = None

    def __post_init__(self) -> None:
        label = " ".join(self.speaker.split())
        if not label or not label.isprintable() or len(label) > LONGEST_LABEL:
            raise DiarizationError(
                f"a turn has the label {quoted(self.speaker)!r}; a label is 1 to {LONGEST_LABEL} "
                "printable characters: correct it"
            )
        if not (math.isfinite(self.start) and math.isfinite(self.end)):
            raise DiarizationError(f"a turn of {label} has a time that is no number; correct it")
        start, end = round(self.start, GRID), round(self.end, GRID)
        if start < 0.0 or end <= start or end > MOST_SECONDS:
            raise DiarizationError(
                f"a turn of {label} lasts from {self.start:g} to {self.end:g} s; a turn begins at "
                "0 s or later and ends after its beginning: correct it"
            )
        if self.confidence is not None and not 0.0 <= self.confidence <= 1.0:
            raise DiarizationError(
                f"a turn of {label} has the confidence {self.confidence:g}; it lies between 0 and "
                "1: correct it"
            )
        for name, value in (("speaker", label), ("start", start), ("end", end)):
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Stretch:
    """A stretch of a recording in which the same speakers speak.

    Args:
        start, end: in seconds.
        speakers: labels, sorted; several overlap.
    """

    start: float
    end: float
    speakers: tuple[str, ...]


class Diarization:
    """Turns of a recording in order of time.

    Turns of one speaker that overlap become one, with the least of their confidences.

    Args:
        turns: in any order.

    Example:
        >>> found = Diarization([Turn(0, 2, "anna"), Turn(1, 3, "ben")])
        >>> for stretch in found.stretches():
        ...     print(stretch.start, stretch.end, *stretch.speakers)
        0 1 anna
        1 2 anna ben
        2 3 ben
    """

    def __init__(self, turns: Iterable[Turn]) -> None:
        own: dict[str, list[Turn]] = {}
        for turn in sorted(turns, key=lambda turn: (turn.start, turn.end)):
            before = own.setdefault(turn.speaker, [])
            if before and turn.start < before[-1].end:
                before[-1] = _together(before[-1], turn)
            else:
                before.append(turn)
        together = [turn for some in own.values() for turn in some]
        self.turns = tuple(sorted(together, key=lambda turn: (turn.start, turn.end, turn.speaker)))

    @property
    def speakers(self) -> tuple[str, ...]:
        """Labels, in the order of their first turns."""
        return tuple(dict.fromkeys(turn.speaker for turn in self.turns))

    @property
    def end(self) -> float:
        """End of the last turn in seconds; 0 without turns."""
        return max((turn.end for turn in self.turns), default=0.0)

    def seconds(self) -> dict[str, float]:
        """Seconds of speech by speaker."""
        total = dict.fromkeys(self.speakers, 0.0)
        for turn in self.turns:
            total[turn.speaker] += turn.end - turn.start
        return total

    def stretches(self) -> Iterator[Stretch]:
        """Stretches with the same speakers, in order; those without speech are left out."""
        edges = sorted({time for turn in self.turns for time in (turn.start, turn.end)})
        active: list[Turn] = []
        coming = 0
        for start, end in itertools.pairwise(edges):
            while coming < len(self.turns) and self.turns[coming].start <= start:
                active.append(self.turns[coming])
                coming += 1
            active = [turn for turn in active if turn.end > start]
            if active:
                yield Stretch(start, end, tuple(sorted({turn.speaker for turn in active})))

    def renamed(self, names: dict[str, str]) -> Diarization:
        """The same turns with other labels; labels that are not named stay."""
        return Diarization(
            Turn(t.start, t.end, names.get(t.speaker, t.speaker), t.confidence) for t in self.turns
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Diarization) and self.turns == other.turns

    def __hash__(self) -> int:
        return hash(self.turns)

    def __repr__(self) -> str:
        turns, speakers = counted(len(self.turns), "turn"), counted(len(self.speakers), "speaker")
        return f"Diarization({turns} of {speakers})"


def _together(one: Turn, other: Turn) -> Turn:
    known = [turn.confidence for turn in (one, other) if turn.confidence is not None]
    return Turn(one.start, max(one.end, other.end), one.speaker, min(known, default=None))
