"""Cards: descriptions of systems with their measured figures."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

LEARNED = ", learned from "
"""Begins, in the condition of a figure, the number of recordings that the attacker learned from."""


@dataclass(frozen=True)
class Figure:
    """One measured figure of a system, written by a benchmark, never by hand."""

    metric: str
    condition: str
    value: float
    low: float | None
    high: float | None
    unit: str
    data: str
    date: str


@dataclass(frozen=True)
class Card:
    """Description of a system: method, needs, promises, and limits.

    Args:
        name: as typed by a user.
        title: one line.
        paper: citation of the publication that defines it.
        year: of that publication.
        equations: which equations or steps of it are implemented, one string each.
        needs: weights, rate, device.
        protects: against whom, in one line for the table of systems.
        promises: properties of every output.
        fails: limits; never empty.
        approximations: points that the publication leaves open, and the choice made here.
    """

    name: str
    title: str
    paper: str
    year: int
    equations: tuple[str, ...]
    needs: str
    protects: str
    promises: tuple[str, ...]
    fails: tuple[str, ...]
    approximations: tuple[str, ...] = ()

    def __set_name__(self, owner: type, name: str) -> None:
        """Python calls this when the card becomes an attribute of a system's class."""
        package = getattr(sys.modules.get(owner.__module__), "__package__", None)
        self.of_package(package or "")

    def of_package(self, package: str) -> Card:
        """Card with the package of the system's module, which holds its figures."""
        object.__setattr__(self, "_package", package)
        return self

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Figures measured by ``voicenym evaluate``; empty if none was measured.

        They are read from ``figures.json`` in the package that holds the system's module.
        """
        return _figures(getattr(self, "_package", "")).get(self.name, ())

    @property
    def figures_live(self) -> tuple[Figure, ...]:
        """Figures of the system's live form, by ``voicenym evaluate --live``; empty if none was
        measured.
        """
        return _figures(getattr(self, "_package", "")).get(live_form(self.name), ())

    @property
    def figures_without(self) -> tuple[Figure, ...]:
        """Figures of the same speech without any system, measured beside :attr:`figures`."""
        data = {figure.data for figure in self.figures}
        every = _figures(getattr(self, "_package", "")).get("original", ())
        return tuple(figure for figure in every if figure.data in data)


def attackers_in(conditions: Iterable[str]) -> int:
    """Number of attackers in the conditions of error rates; one who learned from few recordings,
    and again from more, is one.

    Example:
        >>> attackers_in(["back end, x, learned from 300 recordings",
        ...               "back end, x, learned from 2,400 recordings", "ignorant, x"])
        2
    """
    return len({condition.partition(LEARNED)[0] for condition in conditions})


def live_form(name: str) -> str:
    """Name of a system's live form in reports and among the figures."""
    return f"{name}:live=true"


@cache
def _figures(package: str) -> dict[str, tuple[Figure, ...]]:
    if not package:
        return {}
    file = resources.files(package) / "figures.json"
    if not file.is_file():
        return {}
    rows = json.loads(file.read_text("utf-8"))
    return {name: tuple(Figure(**row) for row in figures) for name, figures in rows.items()}
