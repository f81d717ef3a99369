"""Tables of answers: ours as CSV, JSON and the TSV of ``voicenym reproduce``, and those of others.

A table of another tool has columns of its own; a map names them. What a column lacks, the map may
give as a constant: ``question==quality``.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from voicenym.errors import VoicenymError
from voicenym.listening.ratings import Rating, scale_of
from voicenym.special_files import refuse_named_pipe
from voicenym.table_cells import read, stored

NEEDED = ("listener", "system", "score")
OPTIONAL = ("item", "test", "question", "utterance", "speaker", "kind", "other", "seconds")
COLUMNS = tuple(field.name for field in dataclasses.fields(Rating))
REPRODUCE = ("listener", "item", "system", "question", "kind", "score")
"""Columns that ``voicenym reproduce --answers`` reads."""


def as_csv(ratings: Sequence[Rating], columns: Sequence[str] = COLUMNS, mark: str = ",") -> str:
    """Table with a heading; unknown numbers are empty, and no cell is a formula of a spreadsheet.

    Args:
        columns: fields of :class:`.Rating`.
        mark: between columns.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=mark, lineterminator="\n")
    writer.writerow(columns)
    for one in ratings:
        values = (getattr(one, name) for name in columns)
        writer.writerow("" if isinstance(v, float) and math.isnan(v) else stored(v) for v in values)
    return text.getvalue()


def as_answers(ratings: Sequence[Rating]) -> str:
    """Table of ``voicenym reproduce --answers``; P.808's quality is MOS there."""
    named = [dataclasses.replace(r, question="MOS") if r.test == "acr" else r for r in ratings]
    return as_csv(named, REPRODUCE, "\t")


def as_json(ratings: Sequence[Rating]) -> str:
    """JSON list of objects; unknown numbers are null."""
    rows = [
        {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in vars(one).items()}
        for one in ratings
    ]
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"


def column_map(pairs: Sequence[str]) -> dict[str, str]:
    """Columns by field, from words such as ``score=rating`` or ``question==quality``.

    Raises:
        VoicenymError: a word of another form, or an unknown field.
    """
    found = {}
    for pair in pairs:
        field, mark, column = pair.partition("=")
        if not mark or not column or field not in (*NEEDED, *OPTIONAL):
            raise VoicenymError(
                f"--column {pair}: give FIELD=COLUMN, or FIELD==VALUE for all rows; fields are "
                f"{', '.join((*NEEDED, *OPTIONAL))}"
            )
        found[field] = column
    return found


def read_table(
    path: Path,
    columns: Mapping[str, str] | None = None,
    scale: tuple[float, float] | None = None,
    original: str = "original",
) -> list[Rating]:
    """Ratings of a CSV or TSV file.

    Args:
        path: with a heading; tabs or semicolons may separate columns too.
        columns: the file's columns by our fields; a value that begins with ``=`` is a constant.
            Fields that are not named have columns of the same name.
        scale: limits of all scores; None takes those of questions that we know.
        original: what the table calls original speech; ours is ``original``.

    Raises:
        VoicenymError: a missing column, no number, or a score outside the scale; it names the line.
    """
    columns = dict(columns or {})
    rows, heading = _rows(path)
    for field in NEEDED:
        column = columns.get(field, field)
        if not column.startswith("=") and column not in heading:
            raise VoicenymError(
                f"{path}: no column {column!r} for the {field}; its columns are "
                f"{', '.join(heading)}: name the one that is meant with --column {field}=COLUMN"
            )
    for field in OPTIONAL:
        if (
            field in columns
            and not columns[field].startswith("=")
            and columns[field] not in heading
        ):
            raise VoicenymError(
                f"{path}: no column {columns[field]!r}; its columns are {', '.join(heading)}"
            )
    found = []
    for line, row in rows:
        fields = {field: _cell(row, columns.get(field, field)) for field in (*NEEDED, *OPTIONAL)}
        question = fields["question"] or "score"
        score = _number(path, line, fields["score"])
        _within(path, line, score, scale or scale_of(question), question)
        system = "original" if fields["system"] == original else fields["system"]
        utterance = fields["utterance"] or fields["item"]
        found.append(
            Rating(
                fields["listener"], fields["item"] or f"{utterance} {system}", fields["test"] or
                question, question, system, utterance, fields["speaker"], score, fields["kind"],
                fields["other"], 1.0, _seconds(fields["seconds"]),
            )
        )  # fmt: skip
    if not found:
        raise VoicenymError(f"{path}: holds no answers below its heading")
    return found


def unreadable(path: Path, error: Exception) -> VoicenymError:
    """Error for a file of answers that cannot be read, or is no table."""
    if isinstance(error, FileNotFoundError):
        return VoicenymError(f"{path}: does not exist; give the folder of a study, or its answers")
    if isinstance(error, OSError):
        return VoicenymError(f"{path}: cannot be read ({error.strerror}); check the name")
    return VoicenymError(
        f"{path}: is no table in UTF-8; give the folder of a study, or a CSV file of answers"
    )


def _rows(path: Path) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    refuse_named_pipe(path)
    try:
        text = path.read_text("utf-8-sig")
        first = text.partition("\n")[0]
        mark = max(",\t;", key=first.count)
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
        rows = [(reader.line_num, {k: v for k, v in row.items() if k}) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise unreadable(path, error) from error
    return rows, [name for name in reader.fieldnames or () if name]


def _cell(row: Mapping[str, str | None], column: str) -> str:
    return column[1:] if column.startswith("=") else read((row.get(column) or "").strip())


def _number(path: Path, line: int, text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise VoicenymError(f"{path}, line {line}: the score {text!r} is no number; mend the line")
    return score


def _within(
    path: Path, line: int, score: float, scale: tuple[float, float] | None, question: str
) -> None:
    if scale is not None and not scale[0] <= score <= scale[1]:
        raise VoicenymError(
            f"{path}, line {line}: the rating {score:g} of {question} is outside the scale "
            f"{scale[0]:g} to {scale[1]:g}; mend the line, or state the scale with --scale LOW-HIGH"
        )


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
