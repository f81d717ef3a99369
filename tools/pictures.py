"""Draws the pictures of the documentation: spectrograms of each system, and the trade-off plot.

    pip install .[evaluate]
    python tools/pictures.py [spectrograms] [trade-off]

Spectrograms are of ``samples/sample.wav``, before and after each system that needs no further
weights, under one fixed key. The trade-off plot shows the figures of
``src/voicenym/systems/figures.json``: the strongest attacker's equal error rate against the word
error rate.
"""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import torch

matplotlib.use("Agg")
from matplotlib import pyplot
from PIL import Image

from voicenym import Key, VoicenymError, available, load, read, revisions

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
FIGURES = ROOT / "src" / "voicenym" / "systems" / "figures.json"
SECRET = bytes(range(32))
"""Not secret: the pictures are the same whenever they are made."""
RATE = 16_000
WINDOW, HOP = 512, 128
RANGE_DB = 80.0
COLOURS = 96
STARTS = (0.0, 3.0)
"""Part of the sample that is shown, in seconds."""

BELOW = ("mcadams", "pv-tsm", "vtln")
"""Systems whose label lies below their point, where another one is above it."""


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


def trade_off() -> None:
    """Strongest attacker's EER against WER, with 95 % intervals, of all systems with figures."""
    cards = json.loads(FIGURES.read_text("utf-8"))
    figure, axis = pyplot.subplots(figsize=(8, 5), layout="constrained")
    points = [
        (next(row for row in rows if row["metric"] == "WER"), strongest(rows), name)
        for name, rows in cards.items()
        if ":" not in name  # live forms
    ]
    for words, rate, name in points:
        colour = "black" if name == "original" else None
        marks = axis.errorbar(
            words["value"],
            rate["value"],
            xerr=errors(words),
            yerr=errors(rate),
            fmt="s" if name == "original" else "o",
            color=colour,
            capsize=3,
            linewidth=1,
        )
        axis.annotate(
            name,
            (words["value"], rate["value"]),
            xytext=(6, -16 if name in BELOW else 7),
            textcoords="offset points",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
            color=marks[0].get_color(),
            fontsize=11,
        )
    axis.set_xlabel("WER, % (left is better)")
    axis.set_ylabel("EER of the strongest attacker, % (up is better; 50 is chance)")
    axis.set_xlim(left=0)
    axis.set_ylim(bottom=0)
    axis.grid(alpha=0.3)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    save(figure, PICTURES / "trade-off.png")


MADE = {"spectrograms": spectrograms, "trade-off": trade_off}


def main() -> None:
    """Make the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", nargs="*", metavar="|".join(MADE))
    for name in parser.parse_args().picture or MADE:
        MADE[name]()


if __name__ == "__main__":
    main()
