r"""Draws spectrograms of speech, of the perturbation, and of its audible part.

Found: at epsilon 0.05 the sample is 15.2 dB louder than the perturbation, which lies 7.9 dB above
the masking threshold.

    python benchmarks/studies/cloak/cloak_picture.py samples/sample.wav \
        docs/pictures/vcloak-perturbation.png [--epsilon 0.05]

Four panels: the speech; what `vcloak` adds to it; the threshold below which the speech masks what
is added (psychoacoustic model 1); and by how many dB the cloak exceeds it, its audible part. The
mean of the last, over all bins, is the excess that training limits.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import matplotlib
import numpy as np
import torch

from voicenym import Key, load, read
from voicenym.dsp.masking import LOUDEST_DB, Masking, decibels

matplotlib.use("Agg")
from matplotlib import pyplot
from PIL import Image

RATE = 16_000
HOP = 128
COLOURS = 128
KEY = Key(bytes(range(32)), None)
"""No secret: the picture is to be the same tomorrow."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("speech", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--epsilon", type=float, default=0.05)
    parser.add_argument("--weights", default="")
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    audio = read(options.speech)
    if audio.rate != RATE:
        parser.error(f"{options.speech}: is at {audio.rate} Hz; give one at {RATE} Hz")
    system = load("vcloak", epsilon=options.epsilon, weights=options.weights)
    added = system(audio, KEY.pseudonym("speaker")).samples - audio.samples
    most = round(options.seconds * RATE)
    speech, added = (x.reshape(-1, x.shape[-1])[:1, :most] for x in (audio.samples, added))
    masking = Masking(HOP)
    hidden, scale = masking.threshold(speech)
    levels = [
        decibels(masking.power(speech) * scale[:, None, None])[0],
        decibels(masking.power(added) * scale[:, None, None])[0],
        decibels(hidden)[0],
    ]
    excess = (levels[1] - levels[2]).clamp_min(0.0)
    ratio = 10.0 * torch.log10(speech.square().sum() / added.square().sum())
    print(f"excess {excess.mean():.2f} dB, speech to cloak {ratio:.1f} dB")
    names = ("speech", f"what is added, ε = {options.epsilon:g}", "what the speech hides")
    figure, axes = pyplot.subplots(2, 2, figsize=(10, 6.4), layout="constrained", sharex=True)
    place = (0.0, speech.shape[1] / RATE, 0.0, RATE / 2000.0)
    for axis, level, name in zip(axes.flat, levels, names, strict=False):
        drawn = _drawn(axis, level, name, place, (0.0, LOUDEST_DB), "magma")
    figure.colorbar(drawn, ax=axes[0, 1], label="dB, the loudest bin of the speech at 96")
    drawn = _drawn(axes.flat[3], excess, "by how much it is heard", place, (0.0, 40.0), "viridis")
    figure.colorbar(drawn, ax=axes[1, 1], label="dB above what is hidden")
    for axis in axes[1]:
        axis.set_xlabel("s")
    for axis in axes[:, 0]:
        axis.set_ylabel("kHz")
    figure.savefig(buffer := io.BytesIO(), dpi=64)
    Image.open(buffer).quantize(COLOURS).save(options.picture, optimize=True)


def _drawn(
    axis: pyplot.Axes,
    level: torch.Tensor,
    name: str,
    place: tuple[float, float, float, float],
    limits: tuple[float, float],
    colours: str,
) -> matplotlib.image.AxesImage:
    axis.set_title(name)
    return axis.imshow(
        np.asarray(level.T), origin="lower", aspect="auto", extent=place, cmap=colours,
        vmin=limits[0], vmax=limits[1],
    )  # fmt: skip


if __name__ == "__main__":
    main()
