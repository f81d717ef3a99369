"""Tables that commands print: aligned in a terminal, tab-separated in a pipe, or JSON.

In a terminal, columns are as wide as their longest text, and columns of prose share the remaining
width and wrap between words; no word is broken. If prose columns become too narrow, their text
moves below the row; if the other columns do not fit either, each row becomes a short list.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer

GAP = 2
NARROW = 14
"""Least width of a column of prose beside the others."""
PAGE = 80
"""Width of a page without a terminal."""
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column for people.

    Args:
        heading: above it.
        cell: text of a record in this column.
        right: whether it is aligned on the right, for numbers.
        prose: whether it wraps between words.
    """

    heading: str
    cell: Callable[[Record], str]
    right: bool = False
    prose: bool = False


def field(name: str, heading: str = "", *, right: bool = False, prose: bool = False) -> Column:
    """Column with a field of the records."""

    def cell(record: Record) -> str:
        value = record.get(name)
        return "" if value is None else str(value)

    return Column(heading or name, cell, right, prose)


def interval(value: float | None, low: float | None, high: float | None, digits: int = 1) -> str:
    """Text such as ``19.7 [16.4, 23.0]``; empty without a measurement."""
    if value is None:
        return ""
    text = f"{value:.{digits}f}"
    if low is not None and high is not None:
        text += f" [{low:.{digits}f}, {high:.{digits}f}]"
    return text


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def width() -> int:
    """Width of the terminal, or of a page without one; ``$COLUMNS`` overrides it."""
    return shutil.get_terminal_size((PAGE, 24)).columns


def emit(
    records: Sequence[Record],
    columns: Sequence[Column],
    *,
    as_json: bool = False,
    notes: Sequence[str] = (),
) -> None:
    """Print a table on standard output in the form that suits the reader.

    Args:
        records: rows by field, for programs.
        columns: for people.
        as_json: print the records as a JSON array.
        notes: lines below the table, in a terminal only.
    """
    if as_json:
        typer.echo(json.dumps([dict(record) for record in records], indent=2, ensure_ascii=False))
    elif not is_terminal():
        for line in separated(records):
            typer.echo(line)
    else:
        for line in aligned(records, columns, width()):
            typer.echo(line)
        for note in notes:
            typer.echo()
            typer.echo(wrapped(note, width()))


def separated(records: Sequence[Record]) -> list[str]:
    """Lines of tab-separated values, the names of the fields first; None is empty."""
    if not records:
        return []
    names = list(records[0])
    return ["\t".join(names), *("\t".join(_plain(r[n]) for n in names) for r in records)]


def aligned(records: Sequence[Record], columns: Sequence[Column], room: int) -> list[str]:
    """Lines of a table for a terminal of ``room`` columns; empty without records."""
    if not records:
        return []
    cells = [[one_line(column.cell(record)) for column in columns] for record in records]
    used = [i for i in range(len(columns)) if any(row[i] for row in cells)]
    columns, cells = [columns[i] for i in used], [[row[i] for i in used] for row in cells]
    widths = _widths(columns, cells, room)
    if widths is None:
        fixed = [i for i, column in enumerate(columns) if not column.prose]
        below = [i for i, column in enumerate(columns) if column.prose]
        widths = _widths([columns[i] for i in fixed], [[r[i] for i in fixed] for r in cells], room)
        if widths is None or not fixed:
            return _lists(columns, cells, room)
        lines = _head([columns[i] for i in fixed], widths)
        for row in cells:
            lines += _row([columns[i] for i in fixed], [row[i] for i in fixed], widths)
            for i in below:
                lines += textwrap.wrap(row[i], room, **_indent("    ", "    ")) if row[i] else []
        return lines
    lines = _head(columns, widths)
    for row in cells:
        lines += _row(columns, row, widths)
    return lines


def wrapped(text: str, room: int, first: str = "", rest: str = "") -> str:
    """Text in lines of at most ``room`` columns, broken between words only."""
    return textwrap.fill(text, room, **_indent(first, rest))


def one_line(text: str) -> str:
    """Text without control characters, which file names of others may contain."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return " ".join(_plain(item) for item in value)
    return "" if value is None else one_line(str(value))


def _indent(first: str, rest: str) -> dict[str, Any]:
    return {
        "initial_indent": first,
        "subsequent_indent": rest,
        "break_long_words": False,
        "break_on_hyphens": False,
    }


def _widths(
    columns: Sequence[Column], cells: Sequence[Sequence[str]], room: int
) -> list[int] | None:
    """Width of each column; None if they do not fit."""
    widths = [
        max(len(column.heading), *(len(row[i]) for row in cells))
        for i, column in enumerate(columns)
    ]
    left = room - GAP * (len(columns) - 1)
    left -= sum(w for w, column in zip(widths, columns, strict=True) if not column.prose)
    # the narrowest first, so that the others share the width that it does not need
    prose = sorted((w, i) for i, w in enumerate(widths) if columns[i].prose)
    for position, (natural, i) in enumerate(prose):
        share = left // (len(prose) - position)
        longest = max(len(word) for row in cells for word in [*row[i].split(), columns[i].heading])
        if share < min(natural, max(NARROW, longest)):
            return None
        widths[i] = min(natural, share)
        left -= widths[i]
    return widths if left >= 0 else None


def _head(columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
    line = _line([column.heading for column in columns], columns, widths)
    return [line, "-" * (sum(widths) + GAP * (len(widths) - 1))]


def _row(columns: Sequence[Column], row: Sequence[str], widths: Sequence[int]) -> list[str]:
    parts = [
        textwrap.wrap(cell, size, **_indent("", "")) or [""] if column.prose else [cell]
        for cell, column, size in zip(row, columns, widths, strict=True)
    ]
    height = max(map(len, parts))
    return [
        _line([part[i] if i < len(part) else "" for part in parts], columns, widths)
        for i in range(height)
    ]


def _line(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    found = [
        cell.rjust(size) if column.right else cell.ljust(size)
        for cell, column, size in zip(cells, columns, widths, strict=True)
    ]
    return (" " * GAP).join(found).rstrip()


def _lists(columns: Sequence[Column], cells: Sequence[Sequence[str]], room: int) -> list[str]:
    """Rows as lists, for terminals that are too narrow for a table."""
    lines: list[str] = []
    for row in cells:
        lines.append(row[0])
        for column, cell in zip(columns[1:], row[1:], strict=True):
            if cell:
                text = textwrap.wrap(f"{column.heading}: {cell}", room, **_indent("  ", "    "))
                lines += text
    return lines
