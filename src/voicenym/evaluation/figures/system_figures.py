"""Figures that show systems side by side, from the results alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voicenym.evaluation.figures.svg import (
    COLOURS,
    GREY,
    SMALL,
    WIDTH,
    Palette,
    dashes,
    drawn,
    panels,
    paper,
    shortened,
)
from voicenym.evaluation.grades import ungraded
from voicenym.evaluation.reported_metrics import metrics
from voicenym.evaluation.results import Measured, SystemResults
from voicenym.metrics.metric import Axis, Metric

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BARS = 10


@drawn
def attackers(systems: Sequence[SystemResults], palette: Palette) -> Figure:
    """EER of every attacker on every system, with intervals; the strongest is a full diamond."""
    heights = [max(1, len(system.attacks)) + 2.0 for system in systems]
    figure, axes = paper(0.25 * sum(heights) + 0.5, len(systems))
    axes[0, 0].get_gridspec().set_height_ratios(heights)
    limits = [a.eer.high or a.eer.value for system in systems for a in system.attacks]
    right = min(100.0, max([60.0, *(limit + 5.0 for limit in limits)]))
    for axis, system in zip(axes[:, 0], systems, strict=True):
        attacks = sorted(system.attacks, key=lambda a: -a.eer.value)
        for place, attack in enumerate(attacks):
            eer = attack.eer
            low, high = (eer.value if v is None else v for v in (eer.low, eer.high))
            strongest = attack is system.strongest and not attack.broken
            colour = GREY if attack.holds_key else palette[system.name]
            axis.plot([low, high], [place, place], color=colour, lw=3 if strongest else 1.5)
            axis.plot(
                eer.value,
                place,
                "D" if strongest else "s" if attack.holds_key else "o",
                color=colour,
                mfc=colour if strongest else "white",
                ms=7 if strongest else 5.5,
            )
            axis.annotate(
                f"{eer.value:.1f}",
                (high, place),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=SMALL,
                fontweight="bold" if strongest else "normal",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            )
        labels = [
            f"{a.attacker}, {a.verifier}"
            + (" (has the key)" if a.holds_key else " (broken)" if a.broken else "")
            for a in attacks
        ]
        axis.set_yticks(range(len(attacks)), [shortened(label, 48) for label in labels])
        axis.axvline(50, color=GREY, ls=":", lw=1.2, zorder=0)
        axis.set_xlim(0, right)
        axis.set_ylim(-0.7, len(attacks) - 0.3)
        axis.set_title(system.name, loc="left", fontweight="bold")
    axes[-1, 0].set_xlabel("EER in % (50, dotted: chance; 0: always recognised)")
    return figure


def _between(measured: Measured | None, axis: Axis) -> float:
    """From 0, worst, to 1, best; NaN, which leaves a gap in the line, without a figure."""
    if measured is None or math.isnan(measured.value):
        return math.nan
    return float(np.clip((measured.value - axis.worst) / (axis.best - axis.worst), 0.0, 1.0))


def _axes() -> list[tuple[Metric[Any], Axis]]:
    """Axes of the radar chart: the attackers' at the top, the others against the clock."""
    first, *others = [(m, m.display.axis) for m in metrics() if m.display.axis is not None]
    return [first, *reversed(others)]


def _figure(system: SystemResults, metric: Metric[Any]) -> Measured | None:
    """Figure of a system; for metrics of trials, that of its strongest attacker if it has a
    grade.
    """
    attacked = {} if ungraded(system) else system.strongest.figures
    return attacked.get(metric.name) or system.utility.get(metric.name)


@drawn
def radar(systems: Sequence[SystemResults], palette: Palette) -> Figure:
    """Privacy and utility of every system at a glance; the rim is best."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    axis = figure.add_subplot(projection="polar")
    radar_axes = _axes()
    angles = np.linspace(0, 2 * np.pi, len(radar_axes), endpoint=False)
    around = np.append(angles, angles[0])
    for number, system in enumerate(systems):
        values = [_between(_figure(system, metric), ends) for metric, ends in radar_axes]
        axis.plot(
            around,
            [*values, values[0]],
            color=palette[system.name],
            ls=dashes(palette, system.name),
            marker="osD^vP*X"[number % 8],
            ms=5,
            lw=1.5,
            label=shortened(system.name),
            clip_on=False,
        )
    axis.set_xticks(angles, [ends.label for _, ends in radar_axes])
    axis.tick_params(axis="x", pad=20)
    axis.set_yticks([0.25, 0.5, 0.75, 1.0], [])
    axis.set_ylim(0, 1.0)
    figure.legend(loc="outside right upper")
    return figure


@drawn
def exposed(systems: Sequence[SystemResults], palette: Palette) -> Figure:
    """Least protected speakers of each system, by the rate of correct first guesses."""
    displayed = [system for system in systems if system.exposed]
    most = max((min(MOST_BARS, len(system.exposed)) for system in displayed), default=1)
    figure, axes = panels(len(displayed), 0.2 * most + 0.55)
    for axis, system in zip(axes, displayed, strict=False):
        least = system.exposed[:MOST_BARS]
        found = [100.0 * e.found for e in least]
        axis.barh(range(len(least)), found, color=palette[system.name], height=0.7)
        for place, share in enumerate(found):
            axis.text(share + 2, place, f"{share:.0f}", va="center", fontsize=SMALL)
        axis.set_yticks(range(len(least)), [shortened(e.speaker, 14) for e in least])
        axis.set_ylim(most - 0.4, -0.6)
        axis.set(xlim=(0, 118), xticks=(0, 50, 100))
        axis.set_title(shortened(system.name), loc="left", fontweight="bold")
    figure.supxlabel("trials in which the speaker is the first guess, %", fontsize=9)
    return figure


@drawn
def everybody(systems: Sequence[SystemResults], palette: Palette) -> Figure:
    """Distribution of speakers by how often the strongest attacker finds them."""
    figure, axes = paper(3.0)
    axis = axes[0, 0]
    for system in systems:
        found = sorted((100.0 * e.found for e in system.exposed), reverse=True)
        share = 100.0 * (np.arange(len(found)) + 1) / max(1, len(found))
        axis.step(
            np.append(0.0, share),
            [*found[:1], *found],
            where="pre",
            color=palette.get(system.name, COLOURS[0]),
            ls=dashes(palette, system.name),
            lw=1.6,
            label=shortened(system.name),
        )
    axis.set(
        xlim=(0, 100),
        ylim=(-2, 102),
        xlabel="speakers, the least protected first, %",
        ylabel="trials in which the speaker\nis the first guess, %",
    )
    figure.legend(loc="outside right upper")
    return figure
