"""Audacity's label tracks: a line of start, end and label, separated by tabs, for each turn."""

from __future__ import annotations

from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.errors import DiarizationError, quoted


def parse_labels(text: str) -> Diarization:
    """Turns of an exported label track.

    Labels of points, which have no length, and lines of spectral selections are ignored.

    Raises:
        DiarizationError: a line that is no label, with its number.
    """
    turns = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not line.strip() or line.startswith("\\"):
            continue
        parts = line.split("\t", 2)
        try:
            start, end = (float(part.strip().replace(",", ".")) for part in parts[:2])
        except ValueError:
            raise DiarizationError(
                f"line {number} is no label of Audacity: {quoted(line)}; a line is START, END and "
                "LABEL with tabs between them"
            ) from None
        if end == start:
            continue
        try:
            turns.append(Turn(start, end, parts[2] if len(parts) > 2 else ""))
        except DiarizationError as error:
            raise DiarizationError(f"line {number}: {error}") from None
    return Diarization(turns)


def format_labels(found: Diarization) -> str:
    """Label track with a label for each turn."""
    return "".join(f"{t.start:.6f}\t{t.end:.6f}\t{t.speaker}\n" for t in found.turns)
