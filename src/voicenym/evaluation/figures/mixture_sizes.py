"""Diversity and entropy by size of a mixture, as in figures 3 and 4 of Turner et al. 2022."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from voicenym.evaluation.figures.svg import COLOURS, drawn, paper

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from voicenym.training.identity.train_mixture import Tried

SEXES = {"f": "women", "m": "men", "": "everybody"}


@drawn
def sizes(tried: Sequence[Tried]) -> Figure:
    """D_KS with its 90 % interval and entropy with its bounds, by share of variance.

    A row a sex, a line a number of components: across a row one sees figure 4, and between lines
    figure 3.
    """
    sexes = list(dict.fromkeys(row.sex for row in tried))
    counts = sorted({row.components for row in tried})
    figure, axes = paper(2.6 * len(sexes) + 0.4, len(sexes), 2)
    for line, sex in zip(axes, sexes, strict=True):
        for i, count in enumerate(counts):
            own = sorted(
                (row for row in tried if row.sex == sex and row.components == count),
                key=lambda row: row.share,
            )
            at = [100 * row.share for row in own]
            colour = COLOURS[i % len(COLOURS)]
            for axis, middle, low, high in (
                (line[0], "distance", "low", "high"),
                (line[1], "entropy", "lower", "upper"),
            ):
                label = f"{count} component{'s' * (count > 1)}" if axis is line[0] else None
                values = [getattr(row, middle) for row in own]
                axis.plot(at, values, marker="o", ms=3, color=colour, label=label)
                limits = ([getattr(row, name) for row in own] for name in (low, high))
                axis.fill_between(at, *limits, color=colour, alpha=0.15, lw=0)
        line[0].set(ylabel=f"D_KS, {SEXES[sex]}", ylim=(0, None))
        line[1].set_ylabel("entropy, nats")
        for axis in line:
            axis.set_xlabel("variance kept, %")
    figure.legend(loc="outside right upper")
    return figure
