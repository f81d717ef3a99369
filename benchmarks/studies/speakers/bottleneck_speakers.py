r"""Measures how well bottlenecks of recognisers identify the speaker, as M1 and M1c1 compare them.

Found (docs/research/pipelines.md): with a branch of weight 1 the bottleneck loses most phones, and
supervectors still find speakers at 19.8 %; with 0.3 it hides nothing. Bottlenecks to compare:

    voicenym train phone-bottleneck -d DIR --split train --codes bundled --from bundled \
        -c bottleneck-words --steps 2000 --adversary 0 -o M1/      # and --adversary 1 -o M1c1/

    pip install -e .[evaluate]
    python benchmarks/studies/speakers/bottleneck_speakers.py --speech DIR --content NAME=FOLDER ...
        [--half report]

The attackers read the content itself, as in ``content_speakers.py``, which has their trials: they
train on every third recording of speechocean762's train; trials are of the speakers of one half of
dev, six enrolment recordings and five trials, of one sex, pooled. EER in % of three attackers, each
a two-covariance model: of the mean over frames with speech, of mean and deviation, and of
supervectors. ``bundled`` is the content of ``b1b``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import soundfile
import torch
from content_speakers import Array, Said, attack, mean, rows_of, supervectors

from voicenym.nets.content import content_encoders
from voicenym.resynthesis.pipeline.assembly import BUNDLED

QUIET_DB = 35.0
"""Frames this far below a recording's loudest are no speech."""


def heard(speech: Path, folder: Path, half: str) -> list[Said]:
    """Content of all recordings for training and trials."""
    content = content_encoders.load(folder)
    found = []
    for row in rows_of(speech, half):
        samples, _ = soundfile.read(speech / row["path"], dtype="float32")
        with torch.inference_mode():
            numbers = content(torch.from_numpy(samples)[None])[0]
        length = len(numbers) * content.hop  # the last frame may be longer than the samples
        frames = np.pad(samples, (0, max(0, length - len(samples))))[:length].reshape(
            -1, content.hop
        )
        level = torch.from_numpy(10.0 * np.log10((frames**2).mean(1) + 1e-10))
        found.append(Said(row["speaker"], row["gender"], row["split"] == "dev", numbers, level))
    return found


def spoken(one: Said) -> Array:
    """Frames with speech."""
    inside = one.level > one.level.max() - QUIET_DB
    return (one.numbers[inside] if inside.sum() > 10 else one.numbers).double().numpy()


def spread(frames: Array) -> Array:
    """Mean and deviation."""
    return np.concatenate([frames.mean(0), frames.std(0)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--content", action="append", required=True, metavar="NAME=FOLDER")
    parser.add_argument("--half", choices=["tune", "report"], default="tune")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| content | mean | mean and deviation | supervectors |\n| --- | --- | --- | --- |")
    for text in options.content:
        name, _, place = text.partition("=")
        folder = BUNDLED / "b1b" / "content" if place == "bundled" else Path(place)
        found = heard(options.speech, folder, options.half)
        frames = [spoken(one) for one in found]
        learnt = [one for one, said in zip(frames, found, strict=True) if not said.tried]
        rates = [attack(found, frames, f) for f in (mean, spread, supervectors(learnt))]
        cells = [
            f"{100 * rate.value:.1f} ({100 * rate.interval[0]:.1f} to {100 * rate.interval[1]:.1f})"
            for rate in rates
        ]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
