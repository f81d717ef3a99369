"""A metric: its name, unit, direction, chance level, interval and place in the reports.

Each metric is one object beside the function that computes it. An evaluation goes through the list
of metrics (``voicenym.evaluation.reported_metrics``): results, tables, cards and comparisons name
none of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from voicenym.metrics.intervals.bootstrap_draws import Drawn
from voicenym.metrics.intervals.interval import Interval

Data = TypeVar("Data")
Table = Literal["attackers", "errors", "sound", "labels", "diversity", "similarity"]
"""Tables of the report that have a column for each metric."""
BOOTSTRAP = "percentiles of a bootstrap over speakers"
"""How most intervals are drawn."""
CORRECTED = "bootstrap over speakers, corrected for the bias that few trials add"
"""How intervals of figures are drawn that chance moves in one direction."""
FEW_ERRORS = (
    "where less than one speaker's share of trials are errors, also the figure of Wilson's upper "
    "limit of the equal error rate, with the number of speakers as the number of trials (1927)"
)
"""What intervals of figures of information also contain (:mod:`.few_errors`)."""
BOOTSTRAP_OF_ERRORS = (
    f"{BOOTSTRAP}; without errors also Wilson's with the number of speakers as the number of "
    "trials (1927)"
)
"""How intervals of error rates of recognisers are drawn, which can be above 100 %."""
BOOTSTRAP_OF_MEAN = (
    f"{BOOTSTRAP}; where all or none are hits, where all draws are alike, or of fewer than five "
    "speakers, also Wilson's with the number of speakers as the number of trials (1927)"
)
"""How intervals of means of shares are drawn."""
BOOTSTRAP_OF_SHARE = (
    f"{BOOTSTRAP_OF_MEAN}; where fewer than ten trials are errors or hits, also Wilson's with the "
    "effective number of trials (Korn and Graubard 1998)"
)
"""How intervals of shares of trials are drawn."""
JACKKNIFE = "jackknife over speakers, with matrices calibrated anew (Tukey 1958)"
"""How intervals of figures of similarity matrices are made."""
NO_INTERVAL = "none"
SHORT_UNITS = ("%", "dB", "bit")
"""Units that follow a name in the heading of a narrow column."""


@dataclass(frozen=True)
class Measured:
    """A figure with the limits of its interval (None where it has none) and its unit."""

    value: float
    low: float | None = None
    high: float | None = None
    unit: str = ""


class HasInterval(Protocol):
    """Result of a function of :mod:`voicenym.metrics`, with a value and an interval."""

    @property
    def value(self) -> float: ...
    @property
    def interval(self) -> Interval | None: ...


@dataclass(frozen=True)
class Estimate:
    """A value with its interval, for metrics that are one of several figures of a computation."""

    value: float
    interval: Interval | None = None


@dataclass(frozen=True)
class Axis:
    """An axis of the report's radar chart.

    Args:
        label: beside it.
        worst, best: values at its centre and at its rim, in the metric's unit.
    """

    label: str
    worst: float
    best: float


@dataclass(frozen=True)
class Display:
    """Display of a metric in reports.

    Args:
        table: of the report that has a column for it; None where the first table alone has one.
        digits: behind the decimal point.
        heading: of that column; empty for the metric's name.
        summary: also a column of the report's first table.
        compared: also a column of ``voicenym compare``.
        card: also on the cards of systems.
        axis: in the radar chart; None for none.
        subject: what notes call it where it could not be measured, such as ``naturalness``.
    """

    table: Table | None
    digits: int = 2
    heading: str = ""
    summary: bool = False
    compared: bool = False
    card: bool = False
    axis: Axis | None = None
    subject: str = ""


@dataclass(frozen=True)
class Metric(Generic[Data]):
    """A figure of an evaluation.

    Args:
        name: key in ``results.json``, ``results.csv``, ``figures.json`` and tables.
        unit: of the figure as shown, such as ``%`` or ``bit``.
        better: whether ``higher`` or ``lower`` figures are better for the person who is protected
            (privacy) or listened to (utility); ``neither`` where it depends.
        chance: the figure of guessing, or of voices that have nothing to do with each other; None
            where there is no such level.
        interval: how its 95 % interval is drawn, in words for the report.
        definition: what it is, one sentence for the report.
        data: type of what it is computed from (:mod:`voicenym.metrics.metric_inputs`).
        measure: computes the value and its interval; None where the data do not allow it.
        display: how it is shown.
        scale: factor from ``measure``'s value to ``unit``, such as 100 from a share to percent.
        originals: is also measured on original speech; other metrics compare with it.
        subgroups: is also measured for each condition: sex, age group, corpus, trial list.
        redraw: the value as a function of drawn speakers, for tests of differences between systems
            and for weighted means over parts; None where there are no such tests.
        note: a sentence on recordings that the value leaves out or counts as lost, for the report;
            empty where there are none, None where there cannot be any.
    """

    name: str
    unit: str
    better: Literal["higher", "lower", "neither"]
    chance: float | None
    interval: str
    definition: str
    data: type[Data]
    measure: Callable[[Data], HasInterval | None]
    display: Display
    scale: float = 1.0
    originals: bool = False
    subgroups: bool = True
    redraw: Callable[[Any], Drawn] | None = None
    note: Callable[[Data], str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.definition)  # which the registry describes it by

    def __call__(self, data: Data) -> Measured | None:
        """The figure in the metric's unit; None where the data do not allow it."""
        found = self.measure(data)
        return None if found is None else self.figure(found.value, found.interval)

    def figure(self, value: float, interval: Interval | None = None) -> Measured:
        """A value of ``measure`` in the metric's unit; limits that are NaN count as none."""
        if interval is None or any(math.isnan(limit) for limit in interval):
            return Measured(self.scale * value, unit=self.unit)
        low, high = interval
        return Measured(self.scale * value, self.scale * low, self.scale * high, self.unit)

    @property
    def heading(self) -> str:
        """Heading of a column in the report."""
        return self.display.heading or self.name

    @property
    def column(self) -> str:
        """Heading of a narrow column: the name, and the unit if it is short and not its end."""
        named = self.unit not in SHORT_UNITS or self.name.endswith(f" {self.unit}")
        return self.name if named else f"{self.name} {self.unit}"

    @property
    def explanation(self) -> str:
        """Sentences for a reader: definition, direction, chance level and interval."""
        unit = f" {self.unit}" if self.unit else ""
        parts = [f"{self.definition}."]
        if self.better != "neither":
            parts.append(f"{self.better.capitalize()} is better.")
        if self.chance is not None:
            parts.append(f"Chance level: {self.chance:g}{unit}.")
        if self.interval != NO_INTERVAL:
            parts.append(f"Interval: {self.interval}.")
        return " ".join(parts)
