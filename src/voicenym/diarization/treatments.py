"""What happens to each part of a recording of several people: hidden, kept or silenced.

A part is hidden under a person's pseudonym where a turn of that person says so, whoever else
speaks there. What is uncertain is treated by the user's choice, and hidden unless the user says
otherwise: the surroundings of the turns of hidden people, speech in nobody's turn, turns of low
confidence, and turns of people who are neither to be hidden nor to be kept. Sounds that cannot be
speech are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.errors import DiarizationError

BORDER = 0.25
"""Seconds on either side of a hidden person's turn that are uncertain."""
LEAST_CONFIDENCE = 0.6
"""Confidence of a turn below which it is uncertain who speaks."""
EDGE = 0.4
"""Seconds of speech beside a kept turn that may be its onset or decay."""
FAR = 1.0
"""Seconds from the turn of a hidden person from which an edge of a kept turn is kept, too."""


class Treatment(StrEnum):
    """What happens to a part."""

    HIDE = "hide"
    KEEP = "keep"
    SILENCE = "silence"


class Reason(StrEnum):
    """Why it happens."""

    TURN = "turn"
    OVERLAP = "overlap with a hidden person"
    BORDER = "border of a hidden turn"
    UNASSIGNED = "possible speech of nobody's turn"
    CONFIDENCE = "low confidence"
    UNNAMED = "neither hidden nor kept"
    BACKGROUND = "background"


@dataclass(frozen=True)
class Part:
    """A part of a recording.

    Args:
        start, end: in samples.
        treatment: what happens to it.
        person: whose pseudonym hides it, or who is kept; None where nobody is named.
        reason: why.
    """

    start: int
    end: int
    treatment: Treatment
    person: str | None
    reason: Reason


@dataclass(frozen=True)
class Choice:
    """Who is hidden.

    Args:
        hidden: labels of people who are hidden.
        kept: labels of people who are not.
        unsure: what happens to what is uncertain; also as text, such as ``hide``.

    Raises:
        DiarizationError: one text in place of several labels, or no such treatment.
    """

    hidden: frozenset[str]
    kept: frozenset[str]
    unsure: Treatment = Treatment.HIDE

    def __post_init__(self) -> None:
        for name in ("hidden", "kept"):
            object.__setattr__(self, name, frozenset(_labels(name, getattr(self, name))))
        try:
            object.__setattr__(self, "unsure", Treatment(self.unsure))
        except ValueError:
            raise DiarizationError(
                f"what is uncertain is treated by {', '.join(Treatment)}, not {self.unsure!r}"
            ) from None


def choice(
    found: Diarization,
    only: Sequence[str] = (),
    keep: Sequence[str] = (),
    unsure: Treatment = Treatment.HIDE,
) -> Choice:
    """Who is hidden, by the lists of the user.

    Args:
        found: the turns.
        only: people to hide. Without ``keep``, all others are kept.
        keep: people to keep. Without ``only``, all others are hidden. With both, who is in neither
            list is uncertain.
        unsure: what happens to what is uncertain.

    Raises:
        DiarizationError: a label of neither list's, or of both; one text in place of several
            labels; or no such treatment.
    """
    only, keep = _labels("--only", only), _labels("--keep", keep)
    people = found.speakers
    for option, labels in (("--only", only), ("--keep", keep)):
        for label in labels:
            if label not in people:
                raise DiarizationError(
                    f"{option} {label}: no turn has this label; there are: {', '.join(people)}"
                )
    both = sorted(set(only) & set(keep))
    if both:
        raise DiarizationError(f"{both[0]}: is both in --only and in --keep; decide for one")
    if only and keep:
        hidden, kept = set(only), set(keep)
    elif only:
        hidden, kept = set(only), set(people) - set(only)
    else:
        hidden, kept = set(people) - set(keep), set(keep)
    if not hidden:
        raise DiarizationError(
            "--keep names everybody, so nobody would be hidden; leave out who shall be hidden"
        )
    return Choice(frozenset(hidden), frozenset(kept), unsure)


def _labels(name: str, labels: Iterable[str]) -> tuple[str, ...]:
    """Labels as they are given; of one text, each character would be a label."""
    if isinstance(labels, str):
        raise DiarizationError(f"{name}: is several labels: [{labels!r}], not {labels!r}")
    return tuple(labels)


def plan(
    found: Diarization,
    who: Choice,
    rate: int,
    frames: int,
    speech: npt.NDArray[np.floating],
) -> list[Part]:
    """Parts of a recording, in order, that cover it without overlap.

    Args:
        found: the turns.
        who: is hidden.
        rate: of the recording, in Hz.
        frames: its samples.
        speech: ``[region, (start, end)]`` in seconds, where there may be speech.
    """
    claims: list[tuple[int, int, int, str | None, Reason, int]] = []

    def claim(
        rank: int, start: float, end: float, person: str | None, why: Reason, since: float = 0.0
    ) -> None:
        first, last = max(0, round(start * rate)), min(frames, round(end * rate))
        if last > first:
            claims.append((first, last, rank, person, why, round(since * rate)))

    for turn in found.turns:
        if turn.speaker in who.hidden:
            claim(0, turn.start, turn.end, turn.speaker, Reason.TURN, turn.start)
            claim(1, turn.start - BORDER, turn.start, turn.speaker, Reason.BORDER, turn.start)
            claim(1, turn.end, turn.end + BORDER, turn.speaker, Reason.BORDER, turn.start)
        elif turn.speaker not in who.kept:
            claim(2, turn.start, turn.end, None, Reason.UNNAMED)
        elif turn.confidence is not None and turn.confidence < LEAST_CONFIDENCE:
            claim(2, turn.start, turn.end, None, Reason.CONFIDENCE)
        else:
            claim(4, turn.start, turn.end, turn.speaker, Reason.TURN)
    for start, end in _unassigned(found, who, speech):
        claim(3, start, end, None, Reason.UNASSIGNED)
    return list(_parts(claims, frames, who))


def _parts(
    claims: Sequence[tuple[int, int, int, str | None, Reason, int]], frames: int, who: Choice
) -> Iterable[Part]:
    """Parts in which the claim of the least rank holds, of the earliest turn where ranks agree."""
    edges = sorted({0, frames, *(t for c in claims for t in c[:2])})
    by_start = sorted(claims, key=lambda c: c[0])
    active: list[tuple[int, int, int, str | None, Reason, int]] = []
    coming = 0
    held: Part | None = None
    for start, end in pairwise(edges):
        while coming < len(by_start) and by_start[coming][0] <= start:
            active.append(by_start[coming])
            coming += 1
        active = [c for c in active if c[1] > start]
        part = _part(start, end, active, who)
        if held is not None and _alike(held, part):
            held = Part(held.start, end, held.treatment, held.person, held.reason)
            continue
        if held is not None:
            yield held
        held = part
    if held is not None:
        yield held


def _part(
    start: int,
    end: int,
    active: Sequence[tuple[int, int, int, str | None, Reason, int]],
    who: Choice,
) -> Part:
    if not active:
        return Part(start, end, Treatment.KEEP, None, Reason.BACKGROUND)
    best = min(active, key=lambda c: (c[2], c[5], c[3] or ""))
    _, _, rank, person, why, _ = best
    if rank == 0:
        others = {c[3] for c in active if c[2] in (0, 2, 4)} - {person}
        return Part(start, end, Treatment.HIDE, person, Reason.OVERLAP if others else why)
    if rank == 4:
        return Part(start, end, Treatment.KEEP, person, why)
    return Part(start, end, who.unsure, person if who.unsure is Treatment.HIDE else None, why)


def _alike(one: Part, other: Part) -> bool:
    return (one.treatment, one.person, one.reason) == (other.treatment, other.person, other.reason)


def _unassigned(
    found: Diarization, who: Choice, speech: npt.NDArray[np.floating]
) -> Iterable[tuple[float, float]]:
    """Regions of speech in nobody's turn, without the edges of kept turns far from hidden ones."""
    covered = [(s.start, s.end) for s in found.stretches()]
    hidden = _reach((turn for turn in found.turns if turn.speaker not in who.kept), FAR)
    kept = _reach((turn for turn in found.turns if turn.speaker in who.kept), 1e-3)
    for start, end in _without(speech.tolist(), covered):
        short = end - start <= EDGE
        if short and _touches(kept, start, end) and not _touches(hidden, start, end):
            continue
        yield start, end


def _reach(turns: Iterable[Turn], distance: float) -> npt.NDArray[np.float64]:
    """How far turns reach with their surroundings, ``[turn, (start, end)]`` in seconds: starts in
    order, and the latest end up to each.

    Args:
        turns: in any order.
        distance: of the surroundings, in seconds.
    """
    found = np.array(sorted((turn.start, turn.end) for turn in turns)).reshape(-1, 2)
    return np.stack([found[:, 0] - distance, np.maximum.accumulate(found[:, 1]) + distance], 1)


def _touches(reach: npt.NDArray[np.floating], start: float, end: float) -> bool:
    """Whether a region overlaps what :func:`_reach` gives."""
    begun = int(np.searchsorted(reach[:, 0], end))
    return begun > 0 and bool(start < reach[begun - 1, 1])


def _without(
    regions: Iterable[Sequence[float]], covered: Sequence[tuple[float, float]]
) -> Iterable[tuple[float, float]]:
    """Regions without the covered parts; both in order."""
    first = 0
    for start, end in regions:
        place = start
        while first < len(covered) and covered[first][1] <= start:
            first += 1
        for number in range(first, len(covered)):
            a, b = covered[number]
            if a >= end:
                break
            if a > place:
                yield place, a
            place = max(place, b)
        if place < end:
            yield place, end
