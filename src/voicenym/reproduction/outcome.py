"""Outcome of a reproduction: our figures in the shape of a paper's table, and what they show."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voicenym.metrics.metric import Measured


@dataclass(frozen=True)
class Figure:
    """One of our figures: a number with its interval, a text, or the reason for its absence.

    Args:
        value: number; None without one.
        low, high: limits of the interval; None without one.
        text: in place of a number, such as a category.
        missing: reason why there is nothing; empty where there is a number or a text.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    text: str = ""
    missing: str = ""

    @classmethod
    def of(cls, measured: Measured | float | None, reason: str = "") -> Figure:
        """Figure of a measurement, or of its absence for a reason."""
        if measured is None:
            return cls(missing=reason or "not measured")
        if isinstance(measured, Measured):
            return cls(measured.value, measured.low, measured.high)
        return cls(float(measured))

    @property
    def known(self) -> bool:
        """Whether it is a number."""
        return self.value is not None and not math.isnan(self.value)


def absent(reason: str) -> Figure:
    """A figure that is missing, with the reason."""
    return Figure(missing=reason)


@dataclass(frozen=True)
class OurRow:
    """A row of our figures.

    Args:
        label: of the row.
        figures: one for each column of the panel.
        beside: label of the paper's row below which it is printed; empty for the end.
    """

    label: str
    figures: tuple[Figure, ...]
    beside: str = ""


@dataclass(frozen=True)
class OurPanel:
    """Our rows of a part of a table.

    Args:
        title: that of the paper's panel, or of a panel of ours alone.
        columns: of the rows; those of the paper's panel where there is one.
        rows: of figures.
        digits: after the point.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[OurRow, ...]
    digits: int = 2


@dataclass(frozen=True)
class Finding:
    """A claim of a paper, and what our figures say of it.

    Args:
        claim: in a sentence.
        holds: True, False, or None where the intervals overlap or figures are missing.
        evidence: figures behind the verdict.
        arithmetic: whether it is about the paper's own numbers, without speech.
    """

    claim: str
    holds: bool | None
    evidence: str
    arithmetic: bool = False

    @property
    def verdict(self) -> str:
        """``holds``, ``does not hold``, or ``undecided``."""
        return {True: "holds", False: "does not hold", None: "undecided"}[self.holds]


@dataclass(frozen=True)
class Outcome:
    """Our part of a table.

    Args:
        panels: of figures.
        findings: on the paper's claims.
        notes: limits of the figures.
        data: speech behind the figures, in a line; empty where none was needed.
        budget: its name; empty where there is none.
        date: ISO 8601.
        version: of voicenym.
        seconds: that the computation needed, with the cache of that run.
        drawings: SVG pictures by file name; they are written beside the table, not stored.
    """

    panels: tuple[OurPanel, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    data: str = ""
    budget: str = ""
    date: str = ""
    version: str = ""
    seconds: float = 0.0
    drawings: Mapping[str, str] = field(default_factory=dict, compare=False)

    def plain(self) -> dict[str, Any]:
        """Values for JSON, without defaults and drawings; NaN and infinities as text."""
        fields = dataclasses.asdict(self)
        del fields["drawings"]
        found: dict[str, Any] = _plain(fields)
        return found

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Outcome:
        """Outcome of :meth:`plain`."""
        panels = tuple(
            OurPanel(
                panel["title"],
                tuple(panel["columns"]),
                tuple(
                    OurRow(
                        row["label"],
                        tuple(Figure(**_numbers(figure)) for figure in row["figures"]),
                        row.get("beside", ""),
                    )
                    for row in panel["rows"]
                ),
                panel.get("digits", 0),
            )
            for panel in data.get("panels", ())
        )
        findings = tuple(
            Finding(f["claim"], f.get("holds"), f["evidence"], f.get("arithmetic", False))
            for f in data.get("findings", ())
        )
        rest = {
            name: data[name]
            for name in ("data", "budget", "date", "version", "seconds")
            if name in data
        }
        return cls(panels, findings, tuple(data.get("notes", ())), **rest)


def _plain(value: Any) -> Any:
    """A value for JSON; fields of a mapping that are empty are left out."""
    if isinstance(value, Mapping):
        return {
            key: _plain(item)
            for key, item in value.items()
            if item is not None and item != "" and (key == "holds" or item is not False)
        }
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else str(value)
    return value


def _numbers(figure: Mapping[str, Any]) -> dict[str, Any]:
    numeric = ("value", "low", "high")
    return {key: float(item) if key in numeric else item for key, item in figure.items()}


def exceeds(first: Figure, second: Figure) -> bool | None:
    """Whether a figure is greater than another one.

    None where their intervals overlap, or where one has none: a figure without an interval decides
    nothing.
    """
    if not (first.known and second.known):
        return None
    lows, highs = (first.low, second.low), (first.high, second.high)
    if lows[0] is None or lows[1] is None or highs[0] is None or highs[1] is None:
        return None
    if lows[0] > highs[1]:
        return True
    return False if highs[0] < lows[1] else None


def above(figure: Figure, level: float) -> bool | None:
    """Whether a figure is greater than a number; None where its interval holds it, or is missing.

    Example:
        >>> above(Figure(3.0, 1.0, 4.0), 0.0), above(Figure(3.0, -1.0, 4.0), 0.0)
        (True, None)
    """
    if not figure.known or figure.low is None or figure.high is None:
        return None
    if figure.low > level:
        return True
    return False if figure.high < level else None


def negated(verdict: bool | None) -> bool | None:
    """The opposite verdict; what is undecided stays so."""
    return None if verdict is None else not verdict


def all_of(verdicts: Sequence[bool | None]) -> bool | None:
    """True if all hold, False if one does not, else None."""
    if any(verdict is False for verdict in verdicts):
        return False
    return True if verdicts and all(verdicts) else None


def figure_text(figure: Figure, digits: int = 1) -> str:
    """Text of a figure, such as ``19.7 (16.4 to 23.0)``; a dash where it is missing."""
    if figure.missing:
        return "–"
    if figure.value is None:
        return figure.text
    if math.isnan(figure.value):
        return "undefined"
    text = f"{figure.value:.{digits}f}" if math.isfinite(figure.value) else str(figure.value)
    if figure.low is not None and figure.high is not None and math.isfinite(figure.low):
        text += f" ({figure.low:.{digits}f} to {figure.high:.{digits}f})"
    if figure.text:
        text += f" {figure.text}"
    return text.replace("-", "−")
