"""Draws the pictures of the documentation: spectrograms of each system, and the trade-off plot.

    pip install .[evaluate]
    python tools/pictures.py [spectrograms] [trade-off] [settings] [householder] [sizes]

Spectrograms are of ``samples/sample.wav``, before and after each system that needs no further
weights, under one fixed key. The trade-off plot shows the figures of
``src/voicenym/systems/figures.json``: the strongest attacker's equal error rate against the word
error rate. The plot of settings has both of the settings in
``benchmarks/studies/settings_measured.tsv``, too, a row each. The curves of Householder networks
are those of ``benchmarks/studies/speakers/householder_curves.tsv``, sizes of word codes those of
``benchmarks/studies/word_codes/word_code_sizes.tsv``.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import torch

matplotlib.use("Agg")
from matplotlib import pyplot
from PIL import Image

from voicenym import Key, VoicenymError, available, load, read, revisions
from voicenym.evaluation.card_figures import learned_from

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
FIGURES = ROOT / "src" / "voicenym" / "systems" / "figures.json"
STUDIES = ROOT / "benchmarks" / "studies"
SETTINGS = STUDIES / "settings_measured.tsv"
CURVES = STUDIES / "speakers" / "householder_curves.tsv"
SIZES = STUDIES / "word_codes" / "word_code_sizes.tsv"
SECRET = bytes(range(32))
"""Not secret: the pictures are the same whenever they are made."""
RATE = 16_000
WINDOW, HOP = 512, 128
RANGE_DB = 80.0
COLOURS = 96
USUAL = 300
"""Recordings that attackers learn from in most measurements."""
GOALS = (28.0, 35.0)
"""EER that was asked of systems that keep timing, and of others, in %."""
WORDS_GOAL = 1.3
"""WER that was asked at most, times the originals'."""
STARTS = (0.0, 3.0)
"""Part of the sample that is shown, in seconds."""


@dataclass(frozen=True)
class Point:
    """A system or a setting: WER and EER, each with ``value``, ``low`` and ``high``, in %; and
    whether the attacker who reads the content of the output ran on it; and from how many recordings
    the strongest attacker learned.
    """

    name: str
    words: dict[str, Any]
    rate: dict[str, Any]
    content: bool = False
    learned: int = 0


def spectrogram(samples: torch.Tensor) -> np.ndarray:
    """Power of a mono signal in dB, [bin, frame]."""
    spectrum = torch.stft(
        samples, WINDOW, HOP, window=torch.hann_window(WINDOW), return_complex=True
    )
    return 20.0 * spectrum.abs().clamp_min(1e-6).log10().numpy()


def spectrograms() -> None:
    """One picture for each system that needs no further weights: original and output."""
    audio = read(ROOT / "samples" / "sample.wav")
    assert audio.rate == RATE
    for name in available():
        system = load(name)
        try:
            system.check()
        except VoicenymError:  # its weights are not in the package
            continue
        key = Key(SECRET, revisions())
        output = system(audio, key.pseudonym("speaker")).samples
        first, last = (round(second * RATE) for second in STARTS)
        levels = [spectrogram(x.reshape(-1)[first:last]) for x in (audio.samples, output)]
        figure, axes = pyplot.subplots(
            1, 2, figsize=(8, 2.6), layout="constrained", sharex=True, sharey=True
        )
        for axis, level, title in zip(axes, levels, ("original", name), strict=True):
            top = levels[0].max()
            drawn = axis.imshow(
                level,
                origin="lower",
                aspect="auto",
                extent=(STARTS[0], STARTS[1], 0.0, RATE / 2000.0),
                vmin=top - RANGE_DB,
                vmax=top,
                cmap="magma",
            )
            axis.set_title(title)
            axis.set_xlabel("s")
        axes[0].set_ylabel("kHz")
        figure.colorbar(drawn, ax=axes, label="dB")
        save(figure, PICTURES / f"spectrogram-{name}.png")


def save(figure: pyplot.Figure, path: Path) -> None:
    """Write a PNG of few colours."""
    figure.savefig(buffer := io.BytesIO(), dpi=80)
    pyplot.close(figure)
    Image.open(buffer).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


def strongest(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The least EER of an attacker without the key."""
    rates = [r for r in rows if r["metric"] == "EER" and not r["condition"].startswith("key-hold")]
    return min(rates, key=lambda row: float(row["value"]))


def errors(row: dict[str, Any]) -> list[list[float]]:
    """Distances from the value to the limits of its interval, as matplotlib wants them."""
    return [[row["value"] - row["low"]], [row["high"] - row["value"]]]


def known_points() -> list[Point]:
    """Systems with default settings, and the original, by their cards."""
    cards = json.loads(FIGURES.read_text("utf-8"))
    return [
        Point(
            name,
            next(row for row in rows if row["metric"] == "WER"),
            strongest(rows),
            any("content" in row["condition"] for row in rows),
            learned_from(strongest(rows)),
        )
        for name, rows in cards.items()
        if ":" not in name  # live forms
    ]


def setting_points() -> list[Point]:
    """Other settings, and former weights."""
    with SETTINGS.open(encoding="utf-8") as table:
        return [
            Point(
                row["setting"],
                _ranged(row, "wer"),
                _ranged(row, "eer"),
                "content" in row["attacker"],
                int(row["learned_from"]),
            )
            for row in csv.DictReader(table, delimiter="\t")
        ]


def _ranged(row: dict[str, str], figure: str) -> dict[str, Any]:
    names = ("value", "low", "high")
    columns = (figure, f"{figure}_low", f"{figure}_high")
    return {name: float(row[column]) for name, column in zip(names, columns, strict=True)}


def trade_off() -> None:
    """Strongest attacker's EER against WER, with 95 % intervals, of all systems with figures."""
    crosses(known_points(), "trade-off", wide=10.0)


def settings() -> None:
    """WER and EER with 95 % intervals, a row for each system or setting that an informed attacker
    does not break at once; hollow where nobody read the content of the output, diamonds where
    attackers learned from more than the usual number of recordings.
    """
    known = known_points()
    points = [p for p in known if p.rate["value"] > 10] + setting_points()
    points.sort(key=lambda point: point.rate["value"])
    original = next(point for point in known if point.name == "original")
    figure, axes = pyplot.subplots(
        1, 2, figsize=(10, 0.28 * len(points) + 1.2), layout="constrained", sharey=True
    )
    for axis, title, of, goals in (
        (axes[0], "EER of the strongest attacker, %", "rate", GOALS),
        (axes[1], "WER, %", "words", (WORDS_GOAL * original.words["value"],)),
    ):
        for height, point in enumerate(points):
            row = getattr(point, of)
            marks = axis.errorbar(
                row["value"], height, xerr=errors(row), capsize=2, linewidth=1.0,
                fmt="D" if point.learned > USUAL else "o",
                color="C0" if point in known else "C1",
            )  # fmt: skip
            if not point.content:
                marks[0].set_markerfacecolor("white")
        for goal in goals:
            axis.axvline(goal, color="black", linewidth=0.8, linestyle="--")
        axis.set_xlabel(title)
        axis.set_xlim(left=0)
        axis.grid(alpha=0.3)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    axes[0].set_yticks(range(len(points)), [point.name for point in points])
    save(figure, PICTURES / "settings.png")


def crosses(points: list[Point], name: str, wide: float) -> None:
    """Draws points with their intervals, each with its name beside it; names are ``wide``."""
    figure, axis = pyplot.subplots(figsize=(9, 6), layout="constrained")
    labels = []
    for point in points:
        x, y = point.words["value"], point.rate["value"]
        marks = axis.errorbar(
            x, y, xerr=errors(point.words), yerr=errors(point.rate),
            fmt="s" if point.name == "original" else "o",
            color="black" if point.name == "original" else None,
            capsize=2, linewidth=0.5, markersize=6,
        )  # fmt: skip
        labels.append((x, y, point.name, marks[0].get_color()))
    top = max(y for _, y, _, _ in labels)
    spread = _apart([(x, y) for x, y, _, _ in labels], wide=wide, high=0.045 * top)
    for (x, y, text, colour), place in zip(labels, spread, strict=True):
        axis.annotate(
            text, (x, y), xytext=(x + 1.2, place), color=colour, fontsize=10, va="center",
            arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": colour},
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
        )  # fmt: skip
    axis.set_xlabel("WER, % (left is better)")
    axis.set_ylabel("EER of the strongest attacker, % (up is better; 50 is chance)")
    axis.set_xlim(left=0)
    axis.set_ylim(bottom=0)
    axis.grid(alpha=0.3)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    save(figure, PICTURES / f"{name}.png")


def _apart(points: list[tuple[float, float]], wide: float, high: float) -> list[float]:
    """Heights of labels beside points ``(x, y)``, above those that they would cover."""
    places: dict[int, float] = {}
    for number in sorted(range(len(points)), key=lambda one: points[one][1]):
        x, place = points[number]
        for other in sorted(places, key=places.__getitem__):
            if abs(points[other][0] - x) < wide and abs(places[other] - place) < high:
                place = places[other] + high
        places[number] = place
    return [places[number] for number in range(len(points))]


def householder() -> None:
    """Training curves of Householder networks by form, loss and seed."""
    with CURVES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    figures = {
        "held-out loss": "loss of held-out vectors",
        "cosine": "cosine of a vector and its pseudo-speaker",
        "classified %": "held-out pseudo-speakers classified, %",
    }
    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    runs = {row["run"]: row["run"].rsplit("-", 1) for row in rows}
    kinds = sorted({kind for kind, _ in runs.values()}, reverse=True)
    for axis, (column, title) in zip(axes, figures.items(), strict=True):
        for run, (kind, seed) in runs.items():
            own = [row for row in rows if row["run"] == run]
            axis.plot(
                [int(row["step"]) / 1000 for row in own],
                [float(row[column]) for row in own],
                color=f"C{kinds.index(kind)}",
                linestyle="-" if seed == "50" else ":",
                linewidth=1.2,
                label=kind if seed == "50" else None,
            )
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("thousand steps")
        axis.set_xscale("log")
        axis.grid(alpha=0.3)
    axes[0].set_yscale("log")
    lines = axes[1].get_legend_handles_labels()
    figure.legend(*lines, loc="outside lower center", ncols=8, fontsize=8)
    save(figure, PICTURES / "householder-curves.png")


def sizes() -> None:
    """Words that codes of a size lose, against what attackers read from the codes."""
    with SIZES.open(encoding="utf-8", newline="") as file:
        head, *rows = list(csv.reader(file, delimiter="\t"))
    figure, axis = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for (name, bits, *values), marker in zip(rows, "so^vDpPX<>h*d8H", strict=True):
        x, x_low, x_high, y, y_low, y_high = map(float, values)
        axis.errorbar(
            x, y, xerr=[[x - x_low], [x_high - x]], yerr=[[y - y_low], [y_high - y]],
            fmt=marker, capsize=2, linewidth=0.4, markersize=7, label=f"{name}: {bits} bits/s",
        )  # fmt: skip
    figure.legend(loc="outside right upper", fontsize=8)
    axis.set_xlabel(f"{head[2]}, % (left is better)")
    axis.set_ylabel("EER of attackers who read the codes, % (up is better)")
    axis.grid(alpha=0.3)
    save(figure, PICTURES / "word-code-sizes.png")


MADE = {
    "spectrograms": spectrograms,
    "trade-off": trade_off,
    "settings": settings,
    "householder": householder,
    "sizes": sizes,
}


def main() -> None:
    """Make the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", nargs="*", metavar="|".join(MADE))
    for name in parser.parse_args().picture or MADE:
        MADE[name]()


if __name__ == "__main__":
    main()
