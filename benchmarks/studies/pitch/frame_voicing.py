"""Fit of the voicing of single frames to Praat's (:mod:`voicenym.dsp.pitch.frame_voicing`).

    python benchmarks/studies/pitch/frame_voicing.py MANIFEST.tsv [--learn 150] [--test 60]

Learns from recordings of LibriSpeech and of speechocean762's train, and is tried on its dev. Prints
the weights, and the share of frames of 20 ms with Praat's voicing: of the fit, of the weights in
use, of the project's tracker, and of the tracker 50 ms late.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
import soxr
import torch
from sklearn.linear_model import LogisticRegression

import voicenym
from voicenym.dsp.pitch import frame_voicing
from voicenym.dsp.pitch.trackers import tracker

RATE, HOP, LENGTH = 16_000, 160, 320
LATE = 5
"""Frames of 10 ms by which the tracker's voicing is late."""


def measured(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Measures ``[frame, 6]``, Praat's voicing and the tracker's ``[frame]`` of a recording."""
    audio = voicenym.read(path)
    signal = torch.atleast_2d(audio.samples)[0].numpy()
    if audio.rate != RATE:
        signal = soxr.resample(signal, audio.rate, RATE).astype(np.float32)
    whole = torch.from_numpy(np.ascontiguousarray(signal))[None]
    praat, ours = (tracker(name)(whole, RATE).voiced[0] for name in ("praat", "live"))
    padded = torch.nn.functional.pad(whole, (LENGTH // 2, LENGTH))
    frames = padded.unfold(1, LENGTH, HOP)[:, : len(praat)]  # centred where the trackers' are
    late = torch.nn.functional.pad(ours.float(), (LATE, 0))[None, : frames.shape[1]]
    measures = frame_voicing.FrameVoicing(1, LENGTH, HOP, RATE).measures(frames, late)
    return measures[0].numpy(), praat.numpy(), ours.numpy()


def gathered(rows: list[dict[str, str]], folder: Path) -> tuple[np.ndarray, ...]:
    parts = [measured(folder / row["path"]) for row in rows]
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--learn", type=int, default=150)
    parser.add_argument("--test", type=int, default=60)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with options.manifest.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    held = [row for row in rows if (row["corpus"], row["split"]) == ("speechocean762", "dev")]
    known = [row for row in rows if row["corpus"] == "librispeech"]
    known += [row for row in rows if (row["corpus"], row["split"]) == ("speechocean762", "train")]
    draw = np.random.default_rng(3)
    learn, test = (
        [some[i] for i in draw.permutation(len(some))[:count]]
        for some, count in ((known, options.learn), (held, options.test))
    )
    measures, voiced, _ = gathered(learn, options.manifest.parent)
    fit = LogisticRegression(max_iter=3000).fit(measures, voiced)
    print("weights", fit.coef_[0].round(2).tolist(), "bias", round(float(fit.intercept_[0]), 2))
    measures, voiced, ours = gathered(test, options.manifest.parent)
    used = measures @ np.array(frame_voicing.WEIGHTS) + frame_voicing.BIAS > 0
    shares = {
        "fit": fit.predict(measures),
        "weights in use": used,
        "tracker": ours,
        "tracker, 50 ms late": measures[:, -1] > 0,
    }
    for name, found in shares.items():
        print(f"{name:20s} {(found == voiced).mean():.3f}")


if __name__ == "__main__":
    main()
