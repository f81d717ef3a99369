"""Pictures of our figures: rows of a panel with intervals, curves over a setting, scatter plots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voicenym.evaluation.figures.svg import ACROSS, COLOURS, GREY, drawn, paper, shortened
from voicenym.metrics.verification.curves import det
from voicenym.reproduction.outcome import Figure, OurPanel, OurRow
from voicenym.reproduction.paper_table import Compute, Ours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

    from voicenym.reproduction.bench import Bench

MARKERS = "os^DvP*X"


def _pictures(number: int, height: float) -> tuple[Picture, list[Axes]]:
    """A figure of up to three pictures in a row, as wide as the page, and their axes."""
    across = max(1, min(ACROSS, number))
    rows = max(1, math.ceil(number / across))
    figure, axes = paper(height * rows + 0.3, rows, across)
    for axis in axes.flat[number:]:
        axis.set_visible(False)
    return figure, list(axes.flat)


def _below(figure: Picture, entries: int) -> None:
    """The legend of the first axis, below the pictures, where many names have room."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(entries, 7))


@drawn
def dots(panel: OurPanel) -> Picture:
    """A small picture a column: a row's figure as a dot with its interval, from the top down.

    Rows of which nothing is known are left out.
    """
    rows = [row for row in panel.rows if any(figure.known for figure in row.figures)]
    labels = [row.label.removeprefix("ours ") for row in rows]
    figure, axes = _pictures(len(panel.columns), 0.2 * len(labels) + 0.7)
    for column, (name, axis) in enumerate(zip(panel.columns, axes, strict=False)):
        for place, row in enumerate(rows):
            _dot(axis, place, row.figures[column])
        axis.set_yticks(range(len(labels)), [shortened(label, 24) for label in labels])
        axis.set_ylim(len(labels) - 0.5, -0.5)
        axis.set_title(shortened(name, 34), fontsize=8.5)
        if column % ACROSS:
            axis.set_yticklabels([])
    return figure


def _dot(axis: Axes, place: int, figure: Figure) -> None:
    if not figure.known or figure.value is None or math.isinf(figure.value):
        return
    colour = COLOURS[0]
    axis.plot(figure.value, place, "o", color=colour, ms=4.5)
    if figure.low is not None and figure.high is not None:
        axis.plot([figure.low, figure.high], [place, place], color=colour, lw=1.5)


def transposed(panel: OurPanel) -> OurPanel:
    """A panel with its columns as rows, without those of which nothing is known."""
    rows = [
        OurRow(name, tuple(row.figures[i] for row in panel.rows))
        for i, name in enumerate(panel.columns)
    ]
    known = tuple(row for row in rows if any(figure.known for figure in row.figures))
    titles = tuple(f"{panel.title}, {row.label.removeprefix('ours ')}" for row in panel.rows)
    return OurPanel(panel.title, titles, known, panel.digits)


def pictured(compute: Compute, *, by_column: bool = False) -> Compute:
    """A computation that also draws its panels, which lack a picture of their own.

    Args:
        compute: of panels.
        by_column: whether the columns, such as systems, are the rows of the picture.
    """

    def both(bench: Bench) -> Ours:
        ours = compute(bench)
        shown = [transposed(panel) if by_column else panel for panel in ours.panels]
        drawings = tuple((f"{number}.svg", dots(panel)) for number, panel in enumerate(shown, 1)
                         if any(f.known for row in panel.rows for f in row.figures))  # fmt: skip
        return replace(ours, drawings=(*ours.drawings, *drawings))

    return both


@drawn
def cumulative(parts: Mapping[str, Mapping[str, np.ndarray]], across: str) -> Picture:
    """A small picture a part: the share of values below each value, a curve a group.

    Args:
        parts: by title, values by group.
        across: label of the axis.
    """
    figure, axes = _pictures(len(parts), 2.4)
    every = [values for groups in parts.values() for values in groups.values()]
    low, high = min(v.min() for v in every), max(v.max() for v in every)
    for axis, (title, groups) in zip(axes, parts.items(), strict=False):
        for place, (group, values) in enumerate(groups.items()):
            held = np.sort(values)
            axis.step(held, np.arange(1, len(held) + 1) / len(held), where="post", lw=1.4,
                      color=COLOURS[place % len(COLOURS)], label=group)  # fmt: skip
        axis.set_title(title, fontsize=8.5)
        axis.set(xlabel=across, xlim=(low, high), ylim=(0, 1.02))
    figure.axes[0].set_ylabel("share below")
    _below(figure, 4)
    return figure


@drawn
def boxes(parts: Mapping[str, Mapping[str, np.ndarray]], up: str) -> Picture:
    """A small picture a part: quartiles, whiskers to 1.5 of their distance, mean as a triangle.

    Args:
        parts: by title, values by group.
        up: label of the axis.
    """
    figure, axes = _pictures(len(parts), 2.4)
    for number, (axis, (title, groups)) in enumerate(zip(axes, parts.items(), strict=False)):
        axis.boxplot(
            list(groups.values()), widths=0.6, showmeans=True,
            medianprops={"color": COLOURS[1]}, flierprops={"marker": ".", "ms": 2.5},
            meanprops={"marker": "^", "ms": 4, "mfc": COLOURS[0], "mec": COLOURS[0]},
        )  # fmt: skip
        axis.set_xticks(range(1, len(groups) + 1), [shortened(group, 14) for group in groups],
                        rotation=30, ha="right")  # fmt: skip
        axis.set_title(title, fontsize=8.5)
        if number % ACROSS == 0:
            axis.set_ylabel(up)
    return figure


@drawn
def detection(
    parts: Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[float]]]],
) -> Picture:
    """DET curves: misses against false alarms, a small picture a task, a curve a group.

    Args:
        parts: by task, scores of what is to be found and of the others, by group.
    """
    from scipy.special import ndtri

    figure, axes = _pictures(len(parts), 2.9)
    groups = list(dict.fromkeys(group for part in parts.values() for group in part))
    ticks = np.array([0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99])
    for number, (axis, (title, part)) in enumerate(zip(axes, parts.items(), strict=False)):
        for group, (found, others) in part.items():
            place = groups.index(group)
            curve = det(np.asarray(found), np.asarray(others))
            axis.plot(curve.alarm, curve.miss, lw=1.4, color=COLOURS[place % len(COLOURS)],
                      ls=("-", "--", ":")[place // len(COLOURS) % 3])  # fmt: skip
        ends = (ndtri(0.005), ndtri(0.995))
        axis.plot(ends, (-ends[0], -ends[1]), color=GREY, lw=0.8, ls=":")
        for set_ticks in (axis.set_xticks, axis.set_yticks):
            set_ticks(ndtri(ticks), [f"{100 * tick:g}" for tick in ticks])
        axis.set(xlim=ends, ylim=ends, xlabel="false alarms, %")
        if number % ACROSS == 0:
            axis.set_ylabel("misses, %")
        axis.set_title(title, fontsize=8.5)
        axis.tick_params(labelsize=7)
    for place, group in enumerate(groups):
        figure.axes[0].plot([], [], color=COLOURS[place % len(COLOURS)], label=shortened(group),
                            ls=("-", "--", ":")[place // len(COLOURS) % 3])  # fmt: skip
    _below(figure, len(groups))
    return figure


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
    if len(panel.columns) > 1 or levels:
        figure.legend(loc="outside right upper")
    return figure


@drawn
def scatter(
    parts: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], up: str, across: str = ""
) -> Picture:
    """A small picture a part: points of every group, which has the same mark in all parts.

    Args:
        parts: by title, points ``(across, up)`` by group, such as a system.
        up, across: labels of the axes; without ``across``, the part's title is below its picture.
    """
    figure, axes = _pictures(len(parts), 2.5)
    groups = sorted({group for part in parts.values() for group in part},
                    key=lambda group: (group != "Orig", group))  # fmt: skip
    marks: dict[str, dict[str, Any]] = {
        group: {"marker": MARKERS[i // len(COLOURS) % len(MARKERS)], "ms": 4, "mew": 0, "ls": "",
                "color": COLOURS[i % len(COLOURS)]}
        for i, group in enumerate(groups)
    }  # fmt: skip
    for number, (axis, (title, part)) in enumerate(zip(axes, parts.items(), strict=False)):
        for group, points in part.items():
            x, y = zip(*points, strict=True) if points else ((), ())
            axis.plot(x, y, alpha=0.8, **marks[group])
        if across:
            axis.set_title(title, fontsize=8.5)
        axis.set_xlabel(across or title)
        if number % ACROSS == 0:
            axis.set_ylabel(up)
    for group in groups:
        figure.axes[0].plot([], [], label=shortened(group), **marks[group])
    _below(figure, len(groups))
    return figure
