"""Curves and tables of the study of codecs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from codec_words import Figures

from voicenym.evaluation.figures.svg import COLOURS, drawn, paper
from voicenym.evaluation.results import Measured, cell

HELD = ("WER", "sentences", "command words", "words taken for others")
"""Figures of words: what is lost, in percent."""


@drawn
def curve(rows: Mapping[str, Mapping[float, Figures]], lost: str) -> Any:
    """EER against what is lost of words (or another figure), a line for each voice and attacker.

    Args:
        rows: figures by label and strength.
        lost: the figure on the lower axis.
    """
    figure, axes = paper(3.4)
    axis, place = axes[0, 0], 0
    for voice, by_strength in rows.items():
        for attacker, line in (("ignorant", "--"), ("lazy-informed", "-")):
            points = [
                (strength, f[lost], f[attacker])
                for strength, f in sorted(by_strength.items())
                if lost in f and attacker in f
            ]
            if not points:
                continue
            colour = COLOURS[place % len(COLOURS)]
            place += 1
            x, y = ([point[i].value for point in points] for i in (1, 2))
            name = f"{voice}, {attacker}"
            axis.errorbar(
                x, y, yerr=_arms([p[2] for p in points]), xerr=_arms([p[1] for p in points]),
                color=colour, ls=line, marker="o", ms=4, elinewidth=0.6, label=name,
            )  # fmt: skip
            for (strength, _, _), across, up in zip(points, x, y, strict=True):
                axis.annotate(
                    f"{strength:g}", (across, up), xytext=(4, 4), textcoords="offset points"
                )
    axis.axhline(50, color="#BBBBBB", lw=0.8, ls=":")
    axis.set(xlabel=f"{lost}, %" if lost in HELD else lost, ylabel="EER, %", ylim=(0, None))
    figure.legend(loc="outside right upper")
    return figure


def _arms(found: Sequence[Measured]) -> np.ndarray:
    """Lengths of error bars, ``[2, point]``; 0 where there is no interval."""
    limits = [
        (0.0, 0.0)
        if f.low is None or f.high is None
        else (max(0.0, f.value - f.low), max(0.0, f.high - f.value))
        for f in found
    ]
    return np.nan_to_num(np.array(limits).T)


def _written(figure: Measured | None) -> str:
    return cell(figure, 1 if figure is not None and figure.unit == "%" else 2, "")


def table(rows: Mapping[str, Figures]) -> str:
    """Markdown: a line a row, a column for each figure that any has."""
    names = list(dict.fromkeys(name for figures in rows.values() for name in figures))
    lines = ["| | " + " | ".join(names) + " |", "| --- " * (len(names) + 1) + "|"]
    for label, figures in rows.items():
        lines.append(f"| {label} | " + " | ".join(_written(figures.get(n)) for n in names) + " |")
    return "\n".join(lines)
