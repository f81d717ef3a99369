"""Timelines as text: a row for each speaker, a mark for each part of the recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voicenym.diarization.speaker_turns import Diarization

SPEECH, KEPT, HIDDEN, SILENCED = "speech", "kept", "hidden", "silenced"
MARKS = {SPEECH: "=", KEPT: "=", HIDDEN: "#", SILENCED: "_"}
"""Mark of each kind of span in text."""
WIDTH = 64
"""Marks of a row."""


@dataclass(frozen=True)
class Span:
    """A span of a row.

    Args:
        start, end: in seconds.
        kind: one of :data:`MARKS`.
        why: for whoever points at it.
    """

    start: float
    end: float
    kind: str
    why: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a timeline.

    Args:
        label: of a speaker, or of what the row shows.
        spans: in order, without overlap.
    """

    label: str
    spans: Sequence[Span]


def rows_of(found: Diarization) -> list[Row]:
    """A row for each speaker."""
    return [
        Row(who, [Span(t.start, t.end, SPEECH) for t in found.turns if t.speaker == who])
        for who in found.speakers
    ]


def draw(rows: Sequence[Row], seconds: float, width: int = WIDTH) -> list[str]:
    """Lines of text: a scale, then the rows.

    A mark is of the kind that lasts longest in its part of the recording, if that is a tenth of it;
    hidden and silenced spans are never left out for a kept one of the same part.

    Args:
        rows: of the timeline.
        seconds: length of the recording.
        width: marks of a row.
    """
    if seconds <= 0.0:
        return []
    name = max([len(row.label[:24]) for row in rows], default=0)
    step = seconds / width
    scale = [" "] * (width + 10)
    for place in range(0, width, 16):
        scale[place : place + 8] = list(f"|{clock(place * step):<7}")
    lines = [" " * name + "  " + "".join(scale).rstrip()]
    for row in rows:
        marks = []
        spans = list(row.spans)
        first = 0
        for part in range(width):
            start, end = part * step, (part + 1) * step
            while first < len(spans) and spans[first].end <= start:
                first += 1
            share: dict[str, float] = {}
            for span in spans[first:]:
                if span.start >= end:
                    break
                length = min(end, span.end) - max(start, span.start)
                share[span.kind] = share.get(span.kind, 0.0) + length
            changed = {kind: v for kind, v in share.items() if kind in (HIDDEN, SILENCED)}
            most = changed or share
            kind = max(most, key=lambda k: most[k], default=None)
            enough = kind is not None and (changed or most[kind] >= 0.1 * step)
            marks.append(MARKS[kind] if kind is not None and enough else ".")
        lines.append(f"{row.label[:24]:<{name}}  {''.join(marks)}")
    return lines


def clock(seconds: float) -> str:
    """Time as ``1:02`` or ``1:00:02``."""
    whole = int(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def summary(found: Diarization, seconds: float) -> list[str]:
    """Timeline of speakers, and how long each speaks."""
    own = found.seconds()
    together = sum(s.end - s.start for s in found.stretches() if len(s.speakers) > 1)
    lines = draw(rows_of(found), seconds)
    lines += [f"{who}: {own[who]:.1f} s of speech" for who in found.speakers]
    lines.append(f"together: {together:.1f} s; recording: {seconds:.1f} s")
    return lines
