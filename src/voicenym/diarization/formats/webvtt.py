"""WebVTT with voices (W3C): cues whose text begins with ``<v Name>`` are turns."""

from __future__ import annotations

import html
import re

from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.errors import DiarizationError, quoted

_TIME = r"(?:(\d{2,}):)?([0-5]\d):([0-5]\d)\.(\d{3})"
_TIMES = re.compile(rf"{_TIME}[ \t]+-->[ \t]+{_TIME}(?:[ \t].*)?")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t\n]+([^>]*)>")


def parse_webvtt(text: str) -> Diarization:
    """Turns of WebVTT: a cue with several voices is a turn of each of them.

    Cues without a voice are nobody's turn.

    Raises:
        DiarizationError: no WebVTT, times that cannot be, or no voice in any cue.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not re.match(r"WEBVTT(?:[ \t\n]|$)", lines):
        raise DiarizationError("no WebVTT: its first line is not WEBVTT; save it as WebVTT")
    turns, cues = [], 0
    for block in re.split(r"\n{2,}", lines)[1:]:
        rows = block.strip("\n").split("\n")
        place = next((i for i, row in enumerate(rows[:2]) if "-->" in row), None)
        if place is None:
            continue  # NOTE, STYLE, REGION
        found = _TIMES.fullmatch(rows[place].strip())
        if found is None:
            raise DiarizationError(
                f"{quoted(rows[place])} are no times of a cue; write them as "
                "00:00:01.000 --> 00:00:02.500"
            )
        cues += 1
        words = found.groups()
        start, end = _seconds(words[:4]), _seconds(words[4:])
        for voice in _VOICE.findall("\n".join(rows[place + 1 :])):
            turns.append(Turn(start, end, html.unescape(voice)))
    if cues and not turns:
        raise DiarizationError(
            "no cue says who speaks; begin the text of each cue with <v Name>, or write RTTM"
        )
    return Diarization(turns)


def format_webvtt(found: Diarization) -> str:
    """WebVTT with a cue for each turn; times are rounded to milliseconds."""
    parts = ["WEBVTT\n"]
    for turn in found.turns:
        name = turn.speaker.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        parts.append(f"\n{clock(turn.start)} --> {clock(turn.end)}\n<v {name}>[speech]</v>\n")
    return "".join(parts)


def _seconds(words: tuple[str | None, ...]) -> float:
    hours, minutes, whole, thousandths = (int(word or 0) for word in words)
    return 3600.0 * hours + 60.0 * minutes + whole + thousandths / 1000.0


def clock(value: float) -> str:
    """Seconds as ``HH:MM:SS.mmm``, rounded to milliseconds."""
    total = round(1000.0 * value)
    return (
        f"{total // 3_600_000:02d}:{total // 60_000 % 60:02d}:{total // 1000 % 60:02d}"
        f".{total % 1000:03d}"
    )
