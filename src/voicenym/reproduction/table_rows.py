"""Rows of figures for the tables: by sex, by system, and differences between systems."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from voicenym.reproduction.bench import Bench, Measurement
from voicenym.reproduction.counterparts import B2
from voicenym.reproduction.outcome import Figure, Finding, OurRow, absent, figure_text

SEXES = ("f", "m")
Read = Callable[[Measurement], Figure]


def filled(
    columns: Sequence[str], found: Mapping[str, Figure], reason: str = ""
) -> tuple[Figure, ...]:
    """Figures in the order of the columns; others are missing for a reason."""
    return tuple(found.get(column, absent(reason or "not measured here")) for column in columns)


def read(bench: Bench, system: str, figure: Read) -> Figure:
    """A figure of a system's measurement, or the reason why there is none."""
    found = bench.measured(system)
    return absent(found) if isinstance(found, str) else figure(found)


def attacked(
    bench: Bench, system: str, attacker: str, metric: str, sex: str = "", verifier: str = ""
) -> Figure:
    """A metric of an attacker's scores on a system, by default of the first verifier."""
    return read(bench, system, lambda found: found.figure(attacker, metric, sex, verifier))


def useful(bench: Bench, system: str, metric: str, sex: str = "") -> Figure:
    """A metric of a system's speech."""
    return read(bench, system, lambda found: found.utility(metric, sex))


def scoring(bench: Bench, attacker: str, metric: str, sex: str) -> Callable[[str], Figure]:
    """:func:`attacked` as a function of the system."""

    def figure(system: str) -> Figure:
        return attacked(bench, system, attacker, metric, sex)

    return figure


def original(bench: Bench, metric: str, sex: str = "", verifier: str = "") -> Figure:
    """A metric of original speech: of original enrolment and trials, or of utility."""

    def figure(found: Measurement) -> Figure:
        key = f"{metric} {sex}".strip()
        for attack in found.evaluation.unprotected:
            if attack.attacker == "unprotected" and verifier in ("", attack.verifier):
                if key in attack.figures:
                    return Figure.of(attack.figures[key])
                break
        return Figure.of(found.evaluation.utility.get(key), "not measured on original speech")

    return read(bench, B2, figure)


def with_difference(figure: Figure, baseline: Figure, digits: int = 1) -> Figure:
    """A figure with its difference to a baseline in brackets, as Turner et al. print it."""
    if figure.value is None or baseline.value is None:
        return figure
    difference = figure.value - baseline.value
    if math.isnan(difference):
        return figure
    return replace(figure, text=f"[{difference:+.{digits}f}]")


def systems_row(
    label: str,
    columns: Sequence[str],
    systems: Mapping[str, str],
    reasons: Mapping[str, str],
    figure: Callable[[str], Figure],
    first: Mapping[str, Figure],
) -> OurRow:
    """A row with a column for each system of a paper.

    Args:
        label: of the row.
        columns: the paper's names of systems.
        systems: counterparts by these names.
        reasons: of columns without a counterpart.
        figure: of a counterpart.
        first: figures of columns that are no system, such as original speech.
    """
    found = dict(first)
    for column in columns:
        if column in systems:
            found[column] = figure(systems[column])
        elif column in reasons:
            found[column] = absent(reasons[column])
    return OurRow(label, filled(columns, found))


def compared(
    claim: str, verdict: bool | None, *figures: tuple[str, Figure], digits: int = 1
) -> Finding:
    """A finding with its figures as evidence."""
    known = [
        f"{name} {figure_text(figure, digits)}" for name, figure in figures if not figure.missing
    ]
    lacking = [f"{name}: {figure.missing}" for name, figure in figures if figure.missing]
    return Finding(claim, verdict, "; ".join([*known, *lacking]))


def mean(figures: Sequence[Figure]) -> Figure:
    """Mean of the figures that there are; with its interval where there is one only."""
    known = [figure for figure in figures if figure.value is not None]
    if len(known) < 2:
        return known[0] if known else (figures[0] if figures else absent("nothing was measured"))
    return Figure(statistics.fmean(f.value for f in known if f.value is not None))
