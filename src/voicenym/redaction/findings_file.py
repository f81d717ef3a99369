"""Files of findings, which a person edits: one finding a line, with what happens to it.

A line holds, separated by tabs: ``redact`` or ``keep``; start and end in seconds, or ``-`` for
words that are looked for; category; confidence; words.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from voicenym.diarization.formats.turn_files import write_text
from voicenym.errors import RedactionError, counted, quoted
from voicenym.redaction.finding.categories import CATEGORIES, LISTED
from voicenym.special_files import refuse_named_pipe

HEAD = "# voicenym findings 1"
REDACT, KEEP = "redact", "keep"
MOST_BYTES = 64 << 20
_RECORDING = re.compile(r"# recording ([0-9a-f]{64}), ([0-9.]+) s")
HELP = (
    "# One finding a line: redact or keep, start, end, category, confidence, words; between tabs.",
    "# Change redact to keep or back, correct times, add lines. With - as start and end, the words",
    "# are looked for in the recording. Times are widened by the aligner's errors later.",
)
SENTENCE = (
    "# the next line has the times of its sentence, because its words have none: correct them"
)


@dataclass(frozen=True)
class Line:
    """A line of the file; ``start`` and ``end`` are None for words that are looked for.

    ``of_sentence``: whether the words have no times, and these are of their sentence.
    """

    redact: bool
    start: float | None
    end: float | None
    category: str
    confidence: float
    words: str
    of_sentence: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class FindingsFile:
    """Findings of a recording.

    Args:
        recording: SHA-256 of its file.
        seconds: its length.
        lines: in order of time.
    """

    recording: str
    seconds: float
    lines: tuple[Line, ...]


def write_findings(path: Path, found: FindingsFile, overwrite: bool) -> None:
    """Writes a file that only its owner can read.

    Raises:
        AudioError: exists already and may not be replaced, or cannot be written.
    """
    write_text(path, format_findings(found), overwrite)


def format_findings(found: FindingsFile) -> str:
    """Text of a file of findings."""
    rows = [HEAD, f"# recording {found.recording}, {found.seconds:.3f} s", *HELP]
    for line in found.lines:
        rows += [SENTENCE] if line.of_sentence else []
        rows.append(format_line(line))
    return "".join(f"{row}\n" for row in rows)


def format_line(line: Line) -> str:
    """A finding as a line."""
    times = ["-" if time is None else f"{time:.3f}" for time in (line.start, line.end)]
    words = " ".join(line.words.split())
    decision = REDACT if line.redact else KEEP
    return "\t".join([decision, *times, line.category, f"{line.confidence:.2f}", words])


def read_findings(path: str | os.PathLike[str]) -> FindingsFile:
    """Findings from a file.

    Raises:
        RedactionError: it cannot be read, is none, or has a faulty line, which is numbered.
    """
    name = os.fspath(path)
    refuse_named_pipe(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise RedactionError(f"{name}: cannot be read ({error.strerror}); check the name") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = ""
    rows = text.splitlines()
    marked = [_RECORDING.fullmatch(row.strip()) for row in rows[:5]]
    about = next((found for found in marked if found), None)
    if len(data) > MOST_BYTES or not rows or rows[0].strip() != HEAD or about is None:
        raise RedactionError(
            f"{name}: no file of findings; make one with voicenym redact RECORDING --findings FILE "
            "and keep its first two lines"
        )
    seconds = float(about[2])
    lines = [
        _line(row, seconds, f"{name}, line {number}")
        for number, row in enumerate(rows, 1)
        if row.strip() and not row.startswith("#")
    ]
    return FindingsFile(about[1], seconds, tuple(lines))


def _line(row: str, seconds: float, where: str) -> Line:
    parts = [part.strip() for part in row.split("\t")]
    if len(parts) != 6:
        raise RedactionError(f"{where}: has {counted(len(parts), 'part')} between tabs, not 6")
    decision, start, end, category, confidence, words = parts
    if decision not in (REDACT, KEEP):
        raise RedactionError(f"{where}: begins with {quoted(decision, 20)}, not redact or keep")
    if category not in (*CATEGORIES, LISTED):
        raise RedactionError(
            f"{where}: no category {quoted(category, 20)}; there are: "
            f"{', '.join((*CATEGORIES, LISTED))}"
        )
    sure = _number(confidence, where)
    if start == end == "-":
        if not any(c.isalnum() for c in words):
            raise RedactionError(f"{where}: has neither times nor words")
        return Line(decision == REDACT, None, None, category, sure, words)
    first, last = _number(start, where), _number(end, where)
    if not 0.0 <= first < last <= seconds + 0.001:
        raise RedactionError(
            f"{where}: its times are no part of a recording of {seconds:.3f} s; give start and end "
            "in seconds, or - for both"
        )
    return Line(decision == REDACT, first, min(last, seconds), category, sure, words)


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RedactionError(f"{where}: {quoted(text, 20)} is no number")
    return value


def of_recording(found: FindingsFile, digest: str, name: str, path: str) -> Sequence[Line]:
    """Lines of the recording that they were made for.

    Raises:
        RedactionError: they belong to another recording.
    """
    if found.recording != digest:
        raise RedactionError(
            f"{path}: belongs to another recording than {name}, or that was changed since; find "
            "its words again"
        )
    return found.lines
