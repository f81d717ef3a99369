"""Page size, colours and SVG output that all figures share."""

from __future__ import annotations

import functools
import io
import math
import re
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from voicenym.evaluation.results import Evaluation
from voicenym.libraries import library

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette for colour-blind readers; two dark colours of Tol's replace its yellow,
# which has too little contrast on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#332288")
GREY, PALE = "#777777", "#BBBBBB"
WIDTH = 8.0
ACROSS = 3
SMALL = 7.5
"""Font size in points."""
STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.labelsize": 9.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    # names of speakers and systems are no formulas, whatever signs they hold
    "text.parse_math": False,
    "text.usetex": False,
    # text stays text: small files, all scripts, and the page can be searched
    "svg.fonttype": "none",
    "svg.hashsalt": "voicenym",
}

Palette = dict[str, str]
P = ParamSpec("P")


def colours(evaluation: Evaluation) -> Palette:
    """A colour for each system, the same in all figures."""
    names = dict.fromkeys(system.name for system in evaluation.systems)
    return {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}


def dashes(palette: Palette, name: str) -> str:
    """Line styles of systems: solid until all colours are used."""
    place = list(palette).index(name) if name in palette else 0
    return ("-", "--", "-.", ":")[place // len(COLOURS) % 4]


def drawn(draw: Callable[P, Figure]) -> Callable[P, str]:
    """Decorator: a function that returns a figure becomes one that returns its SVG in the common
    style.
    """

    @functools.wraps(draw)
    def svg(*args: P.args, **kwargs: P.kwargs) -> str:
        matplotlib: Any = library("matplotlib")
        with matplotlib.rc_context(STYLE), warnings.catch_warnings():
            # warnings on scripts that this font lacks; the reader's browser has other fonts
            warnings.filterwarnings("ignore", message="Glyph")
            return _svg(draw(*args, **kwargs))

    return svg


def paper(height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, np.ndarray]:
    """A figure of the page's width, and its axes ``[row, column]``."""
    library("matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def panels(number: int, height: float) -> tuple[Figure, Iterator[Axes]]:
    """A figure of small panels, three in a row, and their axes."""
    rows = max(1, math.ceil(number / ACROSS))
    figure, axes = paper(height * rows + 0.3, rows, ACROSS)
    for axis in axes.flat[number:]:
        axis.set_visible(False)
    return figure, iter(axes.flat)


def finite(scores: np.ndarray) -> np.ndarray:
    """Scores to draw: infinite ones are moved to the ends of the finite range."""
    there = scores[np.isfinite(scores)]
    low, high = (float(there.min()), float(there.max())) if there.size else (0.0, 0.0)
    return np.nan_to_num(scores, nan=low, posinf=high, neginf=low)


def shortened(name: str, most: int = 28) -> str:
    """Name shortened to fit on an axis."""
    return name if len(name) <= most else name[: most - 1] + "…"


def _svg(figure: Figure) -> str:
    """SVG of a figure without file header, date, addresses, and unused ids."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, count=1, flags=re.DOTALL)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    text = re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", text)
    return re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", text, count=1)
