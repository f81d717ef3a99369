"""Figures of a listening report: means, violins, DET curves, and objective against subjective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from voicenym.evaluation.figures.svg import (
    COLOURS,
    GREY,
    SMALL,
    Palette,
    dashes,
    drawn,
    panels,
    paper,
    shortened,
)
from voicenym.listening.analysis.ear_verification import EarVerification
from voicenym.listening.analysis.listening_analysis import QuestionFigures
from voicenym.listening.analysis.objective_agreement import Correlation
from voicenym.listening.analysis.system_comparisons import ranked
from voicenym.listening.ratings import Rating, in_order
from voicenym.metrics import det

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def palette_of(names: Sequence[str]) -> Palette:
    """A colour for each system; the original is grey."""
    others = [name for name in in_order(names) if name != "original"]
    return {"original": GREY} | {n: COLOURS[i % len(COLOURS)] for i, n in enumerate(others)}


@drawn
def means_by_system(questions: Sequence[QuestionFigures], palette: Palette) -> Figure:
    """Means and intervals of each question, a panel each."""
    figure, axes = panels(len(questions), 0.6 + 0.25 * max(len(q.means) for q in questions))
    for axis, found in zip(axes, questions, strict=False):
        for place, one in enumerate(found.means):
            colour = palette.get(one.system, COLOURS[0])
            value = found.factor * one.mean.value
            if one.mean.low is not None and one.mean.high is not None:
                limits = [found.factor * one.mean.low, found.factor * one.mean.high]
                axis.plot(limits, [place, place], color=colour, lw=2)
            axis.plot(value, place, "o", color=colour, ms=5)
        axis.set_yticks(range(len(found.means)), [shortened(m.system, 18) for m in found.means])
        axis.set_ylim(len(found.means) - 0.5, -0.5)
        axis.set_title(shortened(f"{found.title} {f'({found.unit})' if found.unit else ''}", 40))
        axis.grid(axis="x", lw=0.3)
    return figure


@drawn
def violins(
    ratings: Sequence[Rating], questions: Sequence[QuestionFigures], palette: Palette
) -> Figure:
    """Densities of normalised ranks by system, a panel for each question, with means."""
    figure, axes = panels(len(questions), 1.9)
    for axis, found in zip(axes, questions, strict=False):
        own = [r for r in ratings
               if r.question == found.question and found.kind in ("", r.kind)]  # fmt: skip
        scores = ranked(own, items=False)
        systems = in_order(one.system for one in own)
        parts = [scores[[one.system == name for one in own]] for name in systems]
        for place, (name, part) in enumerate(zip(systems, parts, strict=True)):
            _violin(axis, place, part, palette.get(name, COLOURS[0]))
        axis.set_xticks(range(len(systems)), [shortened(name, 12) for name in systems],
                        rotation=30, ha="right")  # fmt: skip
        axis.set(ylim=(0, 1), title=shortened(found.title, 34))
        axis.tick_params(labelsize=SMALL)
    return figure


def _violin(axis: Axes, place: int, scores: np.ndarray, colour: str) -> None:
    """A density by a Gaussian kernel of Silverman's width, mirrored."""
    if len(scores) > 2 and scores.std() > 0.0:
        grid = np.linspace(0.0, 1.0, 101)
        width = max(1.06 * scores.std() * len(scores) ** -0.2, 0.02)
        density = np.exp(-0.5 * ((grid[:, None] - scores) / width) ** 2).sum(1)
        half = 0.42 * density / density.max()
        axis.fill_betweenx(grid, place - half, place + half, color=colour, alpha=0.3, lw=0)
        quartiles = np.percentile(scores, (25, 75))
        axis.plot([place, place], quartiles, color=colour, lw=3)
    axis.plot(place, float(scores.mean()), "o", color="k", ms=3.5)
    axis.text(place, 0.02, f"{scores.mean():.2f}", ha="center", fontsize=SMALL)


@drawn
def det_by_ear(found: Sequence[EarVerification], palette: Palette) -> Figure:
    """Misses against false alarms of listeners' scores."""
    from scipy.special import ndtri

    figure, axes = paper(4.2)
    axis = axes[0, 0]
    for one in found:
        curve = det(one.trials.target, one.trials.nontarget)
        axis.plot(curve.alarm, curve.miss, color=palette.get(one.system, COLOURS[0]), lw=1.6,
                  ls=dashes(palette, one.system), marker=".",
                  label=shortened(f"{one.system}, {one.question}", 34))  # fmt: skip
    ticks = np.array([0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95])
    for set_ticks in (axis.set_xticks, axis.set_yticks):
        set_ticks(ndtri(ticks), [f"{100 * t:g}" for t in ticks])
    limits = (ndtri(0.005), ndtri(0.97))
    axis.plot(limits, (-limits[0], -limits[1]), color="k", lw=0.9, ls="--", label="chance")
    axis.set(xlim=limits, ylim=limits, xlabel="different speakers taken for the same, %",
             ylabel="same speaker taken for different, %")  # fmt: skip
    axis.set_aspect("equal")
    figure.legend(loc="outside right upper")
    return figure


@drawn
def objective_and_people(found: Sequence[Correlation]) -> Figure:
    """Mean ratings over an objective measure, a panel for each pair."""
    figure, axes = panels(len(found), 2.0)
    for axis, one in zip(axes, found, strict=False):
        x, y = (np.array([pair[i] for pair in one.pairs]) for i in range(2))
        axis.plot(x, y, "o", color=COLOURS[0], ms=4, alpha=0.8)
        if len(one.pairs) <= 8:
            for across, up, name in one.pairs:
                axis.annotate(shortened(name, 14), (across, up), fontsize=SMALL - 1,
                              xytext=(3, 3), textcoords="offset points")  # fmt: skip
        axis.set_title(f"r = {one.pearson:.2f}")
        axis.set_xlabel(shortened(one.measure, 24))
        axis.set_ylabel(shortened(one.question, 24))
    return figure
