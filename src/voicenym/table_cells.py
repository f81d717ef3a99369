"""Cells of CSV tables that spreadsheets open: no formulas, no lone carriage returns.

Spreadsheets also compute quoted cells; so they would send what a formula reads to anybody's server,
at the one who opens the table. An apostrophe before it makes it text.
"""

from __future__ import annotations

from typing import TypeVar

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings of cells that spreadsheets take for formulas, or skip before one."""

T = TypeVar("T")


def is_formula(cell: object) -> bool:
    """Whether a spreadsheet may compute a cell of a table."""
    return isinstance(cell, str) and cell.startswith(FORMULA)


def stored(cell: T) -> T | str:
    """A cell as it is written: a formula, with apostrophes before it or none, has one more.

    Line breaks become line feeds, because Python 3.11 does not quote a lone carriage return, at
    which readers end the row. Numbers stay as they are.
    """
    if not isinstance(cell, str):
        return cell
    text = f"'{cell}" if is_formula(cell.lstrip("'")) else cell
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read(cell: str) -> str:
    """The cell that :func:`stored` wrote, but for its line breaks."""
    return cell[1:] if cell.startswith("'") and is_formula(cell.lstrip("'")) else cell
