"""Published figures of the papers, as printed, from the files in ``published``.

A file has the tables of one paper; a table has panels, a panel columns and rows. Numbers are the
texts that the paper prints, misprints included; null is a place that the paper leaves empty or that
the text at hand does not show.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "published"


@dataclass(frozen=True)
class PublishedRow:
    """A row: its label and the printed text of each column, or None."""

    label: str
    texts: tuple[str | None, ...]


@dataclass(frozen=True)
class PublishedPanel:
    """A part of a table with columns of its own.

    Args:
        title: what it shows.
        columns: headings.
        rows: in the paper's order.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[PublishedRow, ...]

    def number(self, row: str, column: str) -> float | None:
        """The number in a row and column; None where there is none.

        Raises:
            KeyError: no such row or column.
        """
        return number_in(self.text(row, column))

    def text(self, row: str, column: str) -> str | None:
        """The printed text in a row and column.

        Raises:
            KeyError: no such row or column.
        """
        if column not in self.columns:
            raise KeyError(f"{self.title}: no column {column!r}")
        for one in self.rows:
            if one.label == row:
                return one.texts[self.columns.index(column)]
        raise KeyError(f"{self.title}: no row {row!r}")

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the rows."""
        return tuple(row.label for row in self.rows)

    @property
    def digits(self) -> int:
        """Most digits after the point of the printed numbers, at most 3."""
        texts = [text for row in self.rows for text in row.texts if text]
        ends = [len(m[1]) for text in texts if (m := re.match(r"-?\d+\.(\d+)", text))]
        return min(max(ends, default=0), 3)


def number_in(text: str | None) -> float | None:
    """The first number of a printed text, such as 46.9 of ``46.9 (-3.3)``."""
    found = re.match(r"\s*(-?\d[\d,]*(?:\.\d+)?)", text or "")
    return None if found is None else float(found[1].replace(",", ""))


def difference_in(text: str | None) -> float | None:
    """The number in brackets after another one, such as -3.3 of ``46.9 (-3.3)``."""
    found = re.search(r"\d\s*\(([+-]\d+(?:\.\d+)?)\)", text or "")
    return None if found is None else float(found[1])


@cache
def published(paper: str) -> dict[str, tuple[PublishedPanel, ...]]:
    """Panels of all tables of a paper, by the table's name."""
    data = json.loads((FOLDER / f"{paper}.json").read_text("utf-8"))
    return {
        table: tuple(
            PublishedPanel(
                panel["title"],
                tuple(panel["columns"]),
                tuple(PublishedRow(label, tuple(texts)) for label, *texts in panel["rows"]),
            )
            for panel in panels
        )
        for table, panels in data.items()
    }


def panels_of(paper: str, table: str) -> tuple[PublishedPanel, ...]:
    """Panels of one table; none for a figure of which the text has no numbers."""
    return published(paper).get(table, ())
