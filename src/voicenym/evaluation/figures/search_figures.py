"""Figures of searches: first among N people, and metrics of attackers against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voicenym.evaluation.figures.score_figures import REPLICATES, Scores
from voicenym.evaluation.figures.svg import GREY, Palette, dashes, drawn, panels, paper, shortened
from voicenym.evaluation.reported_metrics import headline, metrics
from voicenym.evaluation.results import Evaluation
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.metrics.crowd import first_among
from voicenym.metrics.metric import Metric

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@drawn
def crowds(trials: Trials, curves: Scores, palette: Palette) -> Figure:
    """Share of recordings whose speaker comes first among N people, by N.

    Args:
        trials: which of the scores count.
        curves: finite scores ``[model, trial]`` of the strongest attacker by system.
        palette: colours of the systems.
    """
    from voicenym.evaluation.measurements.protection import split

    figure, axes = paper(3.6)
    axis = axes[0, 0]
    people = np.array([2.0, 100_000.0])
    for name, matrix in curves.items():
        found = first_among(*split(matrix, trials), replicates=REPLICATES)
        people = found.people
        colour = palette.get(name, GREY)
        axis.fill_between(people, 100 * found.low, 100 * found.high, color=colour, alpha=0.12, lw=0)
        known = ~found.extrapolated
        style = dashes(palette, name)
        axis.plot(people[known], 100 * found.found[known], color=colour, ls=style,
                  label=shortened(name), lw=1.6)  # fmt: skip
        beyond = found.extrapolated | np.append(found.extrapolated[1:], False)
        axis.plot(people[beyond], 100 * found.found[beyond], color=colour, ls=":", lw=1.2)
    axis.plot(people, 100.0 / people, "k--", lw=0.9, label="chance")
    axis.set(xscale="log", ylim=(0, 101), xlabel="people", ylabel="found first, %")
    axis.xaxis.set_major_formatter("{x:,.0f}")
    figure.legend(loc="outside right upper")
    return figure


def compared(evaluation: Evaluation) -> list[Metric[object]]:
    """Metrics of the attackers' table, but for the headline, that some attack has."""
    keys = {key for system in evaluation.systems for a in system.attacks for key in a.figures}
    return [
        metric
        for metric in metrics()
        if metric.display.table == "attackers" and metric is not headline() and metric.name in keys
    ]


@drawn
def against(evaluation: Evaluation, palette: Palette) -> Figure:
    """Each metric of attackers against the EER; a point is an attacker, or one in a condition.

    Args:
        evaluation: the results.
        palette: colours of the systems.
    """
    displayed = compared(evaluation)
    suffixes = ["", *(f" {c.name}" for c in evaluation.conditions if not c.lacking)]
    figure, axes = panels(len(displayed), 2.1)
    rate = headline()
    for metric, axis in zip(displayed, axes, strict=False):
        for system in evaluation.systems:
            pairs = [
                (attack.figures.get(rate.name + suffix), attack.figures.get(metric.name + suffix))
                for attack in system.attacks
                for suffix in suffixes
            ]
            known = [(x.value, y.value) for x, y in pairs if x is not None and y is not None]
            points = np.array(known).reshape(-1, 2)
            points = points[np.isfinite(points).all(1)]
            axis.plot(*points.T, "o", ms=3.2, alpha=0.7, mew=0, label=shortened(system.name),
                      color=palette.get(system.name, GREY))  # fmt: skip
        axis.set(xlabel=rate.column, ylabel=metric.column)
    if displayed:
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)))
    return figure
