"""First figure of the report: EER of the strongest attacker against the recogniser's error rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voicenym.evaluation.figures.svg import (
    COLOURS,
    GREY,
    PALE,
    SMALL,
    Palette,
    drawn,
    paper,
    shortened,
)
from voicenym.evaluation.grades import ungraded
from voicenym.evaluation.reported_metrics import headline, metrics
from voicenym.evaluation.results import Evaluation, Measured
from voicenym.metrics.metric_inputs import RecognisedWords

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ORIGINAL = "(original)"
LETTER, LINE = 0.0115, 0.06
"""Width of a letter and height of a name, in shares of the axes."""
STEPS = (1, -1, 2, -2, 3, -3, 4, 5, 6, 7, 8)
"""Vertical offsets of a name from its point in lines, the nearest first."""


@dataclass(frozen=True)
class Point:
    """A system in the figure.

    Args:
        name: of the system.
        eer: of the strongest attacker, in percent.
        words: error rate of the recogniser, in percent; None where it was not measured.
    """

    name: str
    eer: Measured
    words: Measured | None


def words_metric() -> str:
    """Name of the error rate of words in the report's first table."""
    found = (m.name for m in metrics() if m.data is RecognisedWords and m.display.summary)
    return next(found, "WER")


def points(evaluation: Evaluation) -> list[Point]:
    """Points of original speech and of the systems whose attacks measure their protection."""
    metric = words_metric()
    found = []
    if evaluation.unprotected:
        bare = min((attack.eer for attack in evaluation.unprotected), key=lambda eer: eer.value)
        found.append(Point(ORIGINAL, bare, evaluation.utility.get(metric)))
    for system in evaluation.systems:
        if not ungraded(system):
            found.append(Point(system.name, system.strongest.eer, system.utility.get(metric)))
    return found


@drawn
def privacy_and_words(found: Sequence[Point], palette: Palette) -> Figure:
    """A cross for each system: intervals of its EER (upwards) and its word errors (to the right).

    Systems without a word error rate have a strip of their own at the right; if no words were
    measured at all, there is no scale that their places could be read on.
    """
    figure, axes = paper(3.6)
    axis = axes[0, 0]
    tops = [limit for point in found for limit in _ends(point.eer)]
    top = min(100.0, max(55.0, *(limit + 4.0 for limit in tops)))
    limits = [limit for point in found for limit in _ends(point.words) if point.words is not None]
    right = max([20.0, *(limit * 1.05 for limit in limits)])
    measured = any(_known(point.words) for point in found)
    strip = measured and not all(_known(point.words) for point in found)
    end = right * (1.25 if strip else 1.0)
    axis.axhline(headline().chance or 50.0, color=GREY, ls=":", lw=1.2, zorder=0)
    if strip:
        axis.axvline(right, color=PALE, lw=0.8, zorder=0)
        axis.text(1.02 * right, top, "words not measured", va="top", fontsize=SMALL, color=GREY)
    labels = []
    for point in found:
        colour = GREY if point.name == ORIGINAL else palette.get(point.name, COLOURS[0])
        beside = 1.12 * right if measured else 0.5 * right
        across = point.words.value if _known(point.words) and point.words else beside
        low, high = _ends(point.eer)
        axis.plot([across, across], [low, high], color=colour, lw=1.8)
        if _known(point.words):
            axis.plot(_ends(point.words), [point.eer.value] * 2, color=colour, lw=1.8)
        axis.plot(across, point.eer.value, "o", color=colour, ms=5)
        labels.append((across, point.eer.value, point.name, colour))
    axis.set(
        xlim=(0, end),
        ylim=(0, top),
        xlabel="words that the recogniser gets wrong, % (further left: more is understood)"
        if measured
        else "words were not measured",
        ylabel="EER of the strongest attacker, %\n(50, dotted: chance)",
    )
    axis.set_xticks([tick for tick in axis.get_xticks() if measured and 0 <= tick <= right])
    _label(axis, labels)
    return figure


def _known(measured: Measured | None) -> bool:
    return measured is not None and math.isfinite(measured.value)


def _ends(measured: Measured | None) -> tuple[float, float]:
    """Limits of an interval; the value itself without one."""
    if measured is None or not math.isfinite(measured.value):
        return 0.0, 0.0
    low, high = (
        measured.value if limit is None or not math.isfinite(limit) else limit
        for limit in (measured.low, measured.high)
    )
    return low, high


Box = tuple[float, float, float, float]
"""Left, right, bottom and top, in shares of the axes."""


def _label(axis: Axes, marks: Sequence[tuple[float, float, str, str]]) -> None:
    """Draws names near their points, with a line to points that are far away."""
    (left, right), (bottom, top) = axis.get_xlim(), axis.get_ylim()
    places = [((x - left) / (right - left), (y - bottom) / (top - bottom)) for x, y, _, _ in marks]
    boxes = placed(places, [shortened(name) for _, _, name, _ in marks])
    for (_, up), (x, y, name, colour), box in zip(places, marks, boxes, strict=True):
        line = {"arrowstyle": "-", "color": colour, "lw": 0.5, "shrinkA": 0, "shrinkB": 3}
        far = abs((box[2] + box[3]) / 2 - up) > 2 * LINE
        axis.annotate(
            shortened(name),
            (x, y),
            xytext=(box[0], box[2]),
            textcoords="axes fraction",
            va="bottom",
            color=colour,
            fontsize=8,
            fontweight="bold",
            arrowprops=line if far else None,
        )


def placed(points: Sequence[tuple[float, float]], names: Sequence[str]) -> list[Box]:
    """Positions of names: each the nearest to its point that covers no point and no other name.

    A name without such a position is beside its point.

    Args:
        points: across and up, in shares of the axes.
        names: as many.
    """
    taken: list[Box] = [(x - 0.008, x + 0.008, y - 0.02, y + 0.02) for x, y in points]
    found = []
    for (across, up), name in zip(points, names, strict=True):
        width = LETTER * len(name)
        boxes = [_box(across, up, width, step, side) for step in STEPS for side in (1, -1)]
        free = (box for box in boxes if _fits(box) and not any(cover(box, one) for one in taken))
        found.append(next(free, boxes[0]))
        taken.append(found[-1])
    return found


def _box(across: float, up: float, width: float, step: int, side: int) -> Box:
    """Box of a name some lines above or below its point, to the right or to the left."""
    left = across + 0.01 if side > 0 else across - 0.01 - width
    bottom = up + (step - 1) * LINE if step > 0 else up + step * LINE
    bottom += 0.02 if step > 0 else -0.02
    return left, left + width, bottom, bottom + LINE


def _fits(box: Box) -> bool:
    return box[0] >= 0.0 and box[1] <= 1.0 and box[2] >= 0.0 and box[3] <= 1.0


def cover(one: Box, other: Box) -> bool:
    """Whether two boxes overlap."""
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
