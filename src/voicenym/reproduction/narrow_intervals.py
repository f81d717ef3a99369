"""Intervals of stored error rates that rest on few errors and are too narrow.

Scores are not stored, so that no interval can be computed anew. Until 29 November 2026 an equal
error rate had the percentiles of a bootstrap over speakers; of fewer than ten errors these hold the
truth in 65 to 95 % of cases, and mostly lie below it where they miss it
(:func:`voicenym.metrics.intervals.binomial.of_share`).
"""

from __future__ import annotations

import re
from dataclasses import replace

from voicenym.metrics.intervals.binomial import FEW_ERRORS
from voicenym.reproduction.outcome import Figure, OurPanel, OurRow, Outcome

SINCE = "2026-11-30"
"""Date of the first outcomes whose intervals are extended where errors are few."""
MARK = "†"
NOTE = (
    f"{MARK} Fewer than {FEW_ERRORS} errors, measured before {SINCE}: the interval is too narrow, "
    "and mostly shows too little protection. A claim that it decides may be undecided"
)
_TRIALS = re.compile(r"\b(\d+) trials\b")
_RATE = re.compile(r"\bEER\b")
_SEX = re.compile(r"(?:^|[ ,])[fm](?=[ ,]|$)")


def marked(outcome: Outcome) -> Outcome:
    """The outcome with a mark at equal error rates whose interval is too narrow, and a note.

    Args:
        outcome: whose ``data`` state the number of trials; of women or men alone they are half.

    Example:
        >>> row = OurRow("ours f", (Figure(2.8, 0.0, 6.6), Figure(30.6, 22.0, 39.0)))
        >>> panel = OurPanel("EER, %", ("Orig.", "B2"), (row,), 1)
        >>> found = marked(Outcome((panel,), data="24 speakers, 72 trials", date="2026-11-28"))
        >>> [figure.text for figure in found.panels[0].rows[0].figures]
        ['†', '']
    """
    stated = _TRIALS.search(outcome.data)
    if stated is None or not outcome.date or outcome.date >= SINCE:
        return outcome
    panels = tuple(_panel(panel, int(stated[1])) for panel in outcome.panels)
    if panels == outcome.panels:
        return outcome
    return replace(outcome, panels=panels, notes=(*outcome.notes, NOTE))


def _panel(panel: OurPanel, trials: int) -> OurPanel:
    return replace(panel, rows=tuple(_row(panel, row, trials) for row in panel.rows))


def _row(panel: OurPanel, row: OurRow, trials: int) -> OurRow:
    figures = []
    for column, figure in zip(panel.columns, row.figures, strict=True):
        names = (panel.title, row.label, column)
        if any(map(_RATE.search, names)):
            own = trials / 2 if any(map(_SEX.search, names)) else trials
            figure = _figure(figure, own)
        figures.append(figure)
    return replace(row, figures=tuple(figures))


def _figure(figure: Figure, trials: float) -> Figure:
    """A rate in percent of so many trials, with the mark if its interval is too narrow."""
    value = figure.value
    if value is None or figure.low is None or not 0.0 <= value <= 100.0:
        return figure
    errors = min(value, 100.0 - value) / 100.0 * trials
    if errors >= FEW_ERRORS:
        return figure
    return replace(figure, text=f"{figure.text} {MARK}".strip())
