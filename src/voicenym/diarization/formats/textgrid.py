"""Praat's TextGrid: an interval tier for each speaker, whose labelled intervals are turns.

Praat reads its text formats, long and short, as a sequence of free-standing numbers, quoted strings
and flags, and ignores the other words; so does :func:`parse_textgrid`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from voicenym.diarization.formats.rttm import seconds
from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.errors import DiarizationError, quoted

_TOKEN = re.compile(
    r'"(?P<text>(?:[^"]|"")*)"'
    r"|(?<!\S)(?P<number>[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)(?!\S)"
    r"|(?<!\S)(?P<flag><\w+>)"
    r"|!.*"  # a comment
)
LISTS = ("speaker", "speakers", "diarization")
"""Names of a single tier whose labels, not its name, are speakers."""


def parse_textgrid(text: str) -> Diarization:
    """Turns of a TextGrid.

    Each interval tier is a speaker and each interval with a label is a turn. A single tier that is
    named ``speaker`` holds speakers as labels. Point tiers are ignored.

    Raises:
        DiarizationError: no TextGrid, or a damaged one.
    """
    if "ooTextFile" not in text[:200] or '"TextGrid"' not in text[:400]:
        raise DiarizationError("no TextGrid in text format; save it from Praat as a text file")
    tokens = _tokens(text.partition('"TextGrid"')[2])
    try:
        _float(tokens), _float(tokens)
        if next(tokens) != "<exists>":
            return Diarization([])
        tiers = [_tier(tokens) for _ in range(_count(tokens))]
    except StopIteration:
        raise DiarizationError("the TextGrid ends too early; get a whole copy") from None
    intervals = [(name, found) for name, found in tiers if found is not None]
    turns = []
    listed = len(intervals) == 1 and intervals[0][0].strip().lower() in LISTS
    for name, found in intervals:
        for start, end, label in found:
            if label.strip():
                turns.append(Turn(start, end, label if listed else name))
    return Diarization(turns)


def format_textgrid(found: Diarization, duration: float) -> str:
    """TextGrid with a tier for each speaker.

    Args:
        found: the turns.
        duration: of the recording in seconds.
    """
    duration = max(duration, found.end)
    end = seconds(duration)
    lines = [
        'File type = "ooTextFile"',
        'Object class = "TextGrid"',
        "",
        "xmin = 0",
        f"xmax = {end}",
        "tiers? <exists>",
        f"size = {len(found.speakers)}",
        "item []:",
    ]
    for number, speaker in enumerate(found.speakers, 1):
        name = speaker.replace('"', '""')
        intervals: list[tuple[float, float, str]] = []
        place = 0.0
        for turn in found.turns:
            if turn.speaker == speaker:
                if turn.start > place:
                    intervals.append((place, turn.start, ""))
                intervals.append((turn.start, turn.end, name))
                place = turn.end
        if seconds(place) != end:
            intervals.append((place, duration, ""))
        lines += [
            f"    item [{number}]:",
            '        class = "IntervalTier"',
            f'        name = "{name}"',
            "        xmin = 0",
            f"        xmax = {end}",
            f"        intervals: size = {len(intervals)}",
        ]
        for index, (start, stop, label) in enumerate(intervals, 1):
            lines += [
                f"        intervals [{index}]:",
                f"            xmin = {seconds(start)}",
                f"            xmax = {seconds(stop)}",
                f'            text = "{label}"',
            ]
    return "\n".join(lines) + "\n"


def _tokens(text: str) -> Iterator[str | float]:
    """Strings with their opening quote, numbers, and flags."""
    for found in _TOKEN.finditer(text):
        if found["text"] is not None:
            yield '"' + found["text"].replace('""', '"')
        elif found["number"] is not None:
            yield float(found["number"])
        elif found["flag"] is not None:
            yield found["flag"]


def _float(tokens: Iterator[str | float]) -> float:
    token = next(tokens)
    if not isinstance(token, float):
        raise DiarizationError(
            f"the TextGrid has {quoted(token)} where a number belongs; save it anew from Praat"
        )
    return token


def _count(tokens: Iterator[str | float]) -> int:
    number = _float(tokens)
    if number != int(number) or not 0 <= number < 1e7:
        raise DiarizationError(f"the TextGrid counts {number:g} items; save it anew from Praat")
    return int(number)


def _string(tokens: Iterator[str | float]) -> str:
    token = next(tokens)
    if not isinstance(token, str) or not token.startswith('"'):
        raise DiarizationError(
            f"the TextGrid has {token} where a text belongs; save it anew from Praat"
        )
    return token[1:]


def _tier(
    tokens: Iterator[str | float],
) -> tuple[str, list[tuple[float, float, str]] | None]:
    """Name and intervals of a tier; None for the intervals of a point tier."""
    kind, name = _string(tokens), _string(tokens)
    _float(tokens), _float(tokens)
    count = _count(tokens)
    if kind == "TextTier":
        for _ in range(count):
            _float(tokens), _string(tokens)
        return name, None
    if kind != "IntervalTier":
        raise DiarizationError(f"the TextGrid has a tier of kind {quoted(kind)}; remove it")
    return name, [(_float(tokens), _float(tokens), _string(tokens)) for _ in range(count)]
