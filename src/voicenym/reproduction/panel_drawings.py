"""Pictures of our figures: rows of a panel with intervals, curves over a setting, scatter plots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from voicenym.evaluation.figures.svg import COLOURS, GREY, drawn, panels, paper, shortened
from voicenym.reproduction.outcome import Figure, OurPanel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

MARKERS = "os^DvP*X"


@drawn
def dots(panel: OurPanel) -> Picture:
    """A small picture a column: a row's figure as a dot with its interval, from the top down."""
    labels = [row.label.removeprefix("ours ") for row in panel.rows]
    figure, axes = panels(len(panel.columns), 0.2 * len(labels) + 0.7)
    for column, (name, axis) in enumerate(zip(panel.columns, axes, strict=False)):
        for place, row in enumerate(panel.rows):
            _dot(axis, place, row.figures[column])
        axis.set_yticks(range(len(labels)), [shortened(label, 24) for label in labels])
        axis.set_ylim(len(labels) - 0.5, -0.5)
        axis.set_title(shortened(name, 34), fontsize=8.5)
        if column % 3:
            axis.set_yticklabels([])
    return figure


def _dot(axis: Axes, place: int, figure: Figure) -> None:
    if not figure.known or figure.value is None or math.isinf(figure.value):
        return
    colour = COLOURS[0]
    axis.plot(figure.value, place, "o", color=colour, ms=4.5)
    if figure.low is not None and figure.high is not None:
        axis.plot([figure.low, figure.high], [place, place], color=colour, lw=1.5)


@drawn
def curves(
    panel: OurPanel,
    settings: Sequence[str],
    across: str,
    up: str,
    levels: Mapping[str, Sequence[Figure]] | None = None,
) -> Picture:
    """A curve a column over the rows, with its intervals.

    Args:
        panel: whose first rows are of the settings.
        settings: names of these rows on the axis, at equal distances.
        across, up: labels of the axes.
        levels: by a name, a figure a column that does not depend on the setting: a dotted line.
    """
    figure, axes = paper(3.4)
    axis = axes[0, 0]
    shift = 0.06
    for column, name in enumerate(panel.columns):
        colour, marker = COLOURS[column % len(COLOURS)], MARKERS[column % len(MARKERS)]
        own = [row.figures[column] for row in panel.rows[: len(settings)]]
        places = [i + shift * (column - (len(panel.columns) - 1) / 2) for i in range(len(own))]
        known = [(x, f) for x, f in zip(places, own, strict=True) if f.value is not None]
        axis.plot([x for x, _ in known], [f.value for _, f in known], color=colour, marker=marker,
                  ms=4.5, lw=1.4, label=name)  # fmt: skip
        for x, one in known:
            if one.low is not None and one.high is not None:
                axis.plot([x, x], [one.low, one.high], color=colour, lw=1.0, alpha=0.7)
        for level in (levels or {}).values():
            if level[column].value is not None:
                axis.axhline(level[column].value, color=colour, lw=1.0, ls=":")
    for name in levels or {}:
        axis.plot([], [], color=GREY, lw=1.0, ls=":", label=name)
    axis.set_xticks(range(len(settings)), list(settings))
    axis.set(xlabel=across, ylabel=up)
    figure.legend(loc="outside right upper")
    return figure


@drawn
def scatter(
    parts: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], across: str, up: str
) -> Picture:
    """A small picture a part: points of every group, which has the same mark in all parts.

    Args:
        parts: by title, points ``(across, up)`` by group, such as a system.
        across, up: labels of the axes.
    """
    figure, axes = panels(len(parts), 2.4)
    groups = list(dict.fromkeys(group for part in parts.values() for group in part))
    for number, (axis, (title, part)) in enumerate(zip(axes, parts.items(), strict=False)):
        for group, points in part.items():
            place = groups.index(group)
            x, y = zip(*points, strict=True) if points else ((), ())
            axis.plot(x, y, MARKERS[place // len(COLOURS) % len(MARKERS)], ms=4, alpha=0.8, mew=0,
                      color=COLOURS[place % len(COLOURS)])  # fmt: skip
        axis.set_title(title, fontsize=8.5)
        axis.set_xlabel(across)
        if number % 3 == 0:
            axis.set_ylabel(up)
    for place, group in enumerate(groups):
        mark, colour = MARKERS[place // len(COLOURS) % len(MARKERS)], COLOURS[place % len(COLOURS)]
        figure.axes[0].plot([], [], mark, ms=4, mew=0, color=colour, label=shortened(group))
    figure.legend(loc="outside right upper")
    return figure
