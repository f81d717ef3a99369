"""Figures of verification scores: histograms, DET curves, ECE profiles, linkability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voicenym.evaluation.figures.svg import (
    GREY,
    PALE,
    SMALL,
    Palette,
    dashes,
    drawn,
    finite,
    panels,
    paper,
    shortened,
)
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.metrics import det, ece_profile, linkability, roc_band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Scores = dict[str, np.ndarray]
BINS = 40
REPLICATES = 200
"""Bootstrap draws for the bands of curves."""


@drawn
def histograms(trials: Trials, scores: Scores, colour: str) -> Figure:
    """Scores of target and non-target trials for each attacker of a system.

    Args:
        trials: mask of the tested pairs.
        scores: ``[model, trial]`` by attacker.
        colour: of the system.
    """
    figure, axes = panels(len(scores), 1.75)
    first = None
    for axis, (name, matrix) in zip(axes, scores.items(), strict=False):
        first = first or axis
        values = finite(matrix)
        target, nontarget = values[trials.target], values[trials.nontarget]
        ends = [np.quantile(part, [0.002, 0.998]) for part in (target, nontarget)]
        low, high = np.min(ends), np.max(ends)
        edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
        shares = []
        for part in (nontarget, target):
            counts, _ = np.histogram(np.clip(part, edges[0], edges[-1]), edges)
            shares.append(counts / counts.sum())
        _pair(axis, edges, shares[1], shares[0], colour)
        attacker, _, verifier = name.rpartition(", ")
        axis.set_title(f"{shortened(attacker, 34)}\n{shortened(verifier, 34)}", fontsize=8)
        _bare(axis)
    _legend(figure, first)
    return figure


@drawn
def det_curves(trials: Trials, curves: Scores, palette: Palette) -> Figure:
    """Misses against false alarms of the strongest attacker on each system, with its band."""
    from scipy.special import ndtri

    from voicenym.evaluation.measurements.protection import split

    figure, axes = paper(4.8)
    axis = axes[0, 0]
    for name, matrix in curves.items():
        target, nontarget, speakers = split(matrix, trials)
        curve = det(target, nontarget)
        band = roc_band(target, nontarget, speakers, replicates=REPLICATES)
        edges = (np.clip(x, 1e-5, 1 - 1e-5) for x in (band.alarm, band.low, band.high))
        axis.fill_between(*map(ndtri, edges), color=palette.get(name, GREY), alpha=0.12, lw=0)
        axis.plot(
            curve.alarm,
            curve.miss,
            color=palette.get(name, GREY),
            ls=dashes(palette, name),
            label=shortened(name),
            lw=1.6,
        )
    ticks = np.array([0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95])
    places = ndtri(ticks)
    for set_ticks in (axis.set_xticks, axis.set_yticks):
        set_ticks(places, [f"{100 * t:g}" for t in ticks])
    limits = (ndtri(0.0005), ndtri(0.97))
    axis.plot(limits, limits, color=GREY, lw=0.9, ls=":", label="EER: crossing of this line")
    axis.plot(limits, (-limits[0], -limits[1]), color="k", lw=0.9, ls="--", label="chance")
    axis.set(xlim=limits, ylim=limits, xlabel="false alarms in %", ylabel="misses in %")
    axis.set_aspect("equal")
    figure.legend(loc="outside right upper")
    return figure


@drawn
def disclosure(trials: Trials, curves: Scores, palette: Palette) -> Figure:
    """ECE profiles of the strongest attacker on each system, with their bands."""
    from voicenym.evaluation.measurements.protection import split

    figure, axes = paper(3.4)
    axis = axes[0, 0]
    profile = None
    for name, matrix in curves.items():
        target, nontarget, speakers = split(matrix, trials)
        profile = ece_profile(target, nontarget, speakers=speakers, replicates=REPLICATES)
        axis.fill_between(
            profile.log_odds,
            profile.low,
            profile.high,
            color=palette.get(name, GREY),
            alpha=0.12,
            lw=0,
        )
        axis.plot(
            profile.log_odds,
            profile.ece,
            color=palette.get(name, GREY),
            ls=dashes(palette, name),
            label=shortened(name),
        )
    if profile is not None:
        axis.plot(profile.log_odds, profile.default, "k--", lw=1, label="nothing disclosed")
    axis.set(
        xlim=(-6, 6),
        ylim=(0, 1.05),
        xlabel="prior log-odds of the same speaker (0: as likely as not)",
        ylabel="ECE, bit",
    )
    figure.legend(loc="outside right upper")
    return figure


@drawn
def linkabilities(trials: Trials, curves: Scores, palette: Palette) -> Figure:
    """Local linkability over the scores of the strongest attacker, each system a panel."""
    from voicenym.evaluation.measurements.protection import split

    figure, axes = panels(len(curves), 1.9)
    first = None
    for axis, (name, matrix) in zip(axes, curves.items(), strict=False):
        first = first or axis
        found = linkability(*split(finite(matrix), trials), replicates=REPLICATES)
        width = np.diff(found.edges)
        target, nontarget = found.target / width, found.nontarget / width
        top = max(target.max(), nontarget.max())
        _pair(axis, found.edges, target / top, nontarget / top, palette.get(name, GREY))
        axis.stairs(
            found.high, found.edges, baseline=found.low, fill=True, color="k", alpha=0.12, lw=0
        )
        axis.stairs(
            found.local, found.edges, baseline=None, color="k", lw=1.3, ls="--", label="links"
        )
        axis.set_title(f"{shortened(name, 22)}: D_sys {found.value:.2f}", fontsize=8.5)
        _bare(axis)
        axis.set(ylim=(0, 1.05), yticks=(0, 0.5, 1))
    _legend(figure, first)
    return figure


def _pair(
    axis: Axes, edges: np.ndarray, target: np.ndarray, nontarget: np.ndarray, colour: str
) -> None:
    """Two densities: grey for different speakers, the system's colour for the same one."""
    axis.stairs(nontarget, edges, fill=True, color=PALE, alpha=0.8, label="different speakers")
    mine = "#222222" if colour == GREY else colour
    axis.stairs(target, edges, fill=True, color=mine, alpha=0.35)
    axis.stairs(target, edges, color=mine, lw=1.3, label="same speaker")


def _legend(figure: Figure, axis: Axes | None) -> None:
    """Legend for all panels, below them."""
    if axis is not None:
        handles, labels = axis.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def _bare(axis: Axes) -> None:
    axis.set_yticks([])
    axis.locator_params(axis="x", nbins=5)
    axis.tick_params(labelsize=SMALL)
