"""RTTM (rich transcription time marked, NIST 2009): one turn a line, of one or more recordings."""

from __future__ import annotations

from collections.abc import Mapping

from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.errors import DiarizationError, quoted

OTHER_TYPES = frozenset(
    (
        "SEGMENT",
        "NOSCORE",
        "NO_RT_METADATA",
        "LEXEME",
        "NON-LEX",
        "NON-SPEECH",
        "FILLER",
        "EDIT",
        "IP",
        "SU",
        "CB",
        "A/P",
        "SPKR-INFO",
    )
)
"""Types of lines that say nothing of turns."""
UNKNOWN = "<NA>"
FIELDS = "SPEAKER FILE CHANNEL START DURATION <NA> <NA> LABEL <NA> <NA>"


def parse_rttm(text: str) -> dict[str, Diarization]:
    """Turns by recording, as RTTM names them.

    Args:
        text: of the file.

    Raises:
        DiarizationError: a line that is not RTTM, with its number.
    """
    turns: dict[str, list[Turn]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith(";"):
            continue
        if words[0] in OTHER_TYPES:
            continue
        if words[0] != "SPEAKER" or not 8 <= len(words) <= 10:
            raise DiarizationError(
                f"line {number} is not RTTM: {quoted(line)}; a line is '{FIELDS}'"
            )
        confidence = None
        if len(words) > 8 and words[8] != UNKNOWN:
            confidence = _number(words[8], number, "confidence")
        start, length = (_number(words[i], number, "time") for i in (3, 4))
        if length == 0.0:
            continue  # some tools write empty turns
        try:
            turn = Turn(start, start + length, words[7], confidence)
        except DiarizationError as error:
            raise DiarizationError(f"line {number}: {error}") from None
        turns.setdefault(words[1], []).append(turn)
    return {name: Diarization(some) for name, some in turns.items()}


def format_rttm(recordings: Mapping[str, Diarization]) -> str:
    """RTTM of turns by recording.

    Raises:
        DiarizationError: a label with a space, which RTTM cannot hold.
    """
    lines = []
    for name, found in recordings.items():
        for turn in found.turns:
            if " " in turn.speaker:
                raise DiarizationError(
                    f"RTTM cannot hold the space in the label {turn.speaker!r}; write another "
                    "format, such as .TextGrid or .vtt, or rename the label"
                )
            confidence = UNKNOWN if turn.confidence is None else f"{turn.confidence:.2f}"
            start, length = seconds(turn.start), seconds(turn.end - turn.start)
            lines.append(
                f"SPEAKER {entry_name(name)} 1 {start} {length} {UNKNOWN} {UNKNOWN} "
                f"{turn.speaker} {confidence} {UNKNOWN}\n"
            )
    return "".join(lines)


def entry_name(name: str) -> str:
    """Name of a recording in RTTM, in which spaces become underscores."""
    return "_".join(name.split()) or "recording"


def seconds(value: float) -> str:
    """Time with 3 decimals, or with 6 where 3 would move it."""
    short = f"{value:.3f}"
    exact = f"{value:.6f}"
    return short if exact == short + "000" else exact


def _number(word: str, line: int, what: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise DiarizationError(
            f"line {line}: {quoted(word)} is no {what}; write it as a number, such as 12.345"
        ) from None
