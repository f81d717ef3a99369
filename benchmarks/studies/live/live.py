"""Measures how soon a live stream of an adaptive system sounds as its file form does.

No figures are recorded: run it for the table.

    python benchmarks/studies/live/live.py --speech DIR [--system recast] [--speakers 16]

For each speaker, 40 s of speech go through the system as a file and as a live stream without a
profile. Printed is the distance between the long-term spectra of both outputs, in dB root mean
square over frequency, by time since the start of the stream: mean over speakers and its standard
error.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import soundfile
import torch

import voicenym

RATE = 16_000
SECONDS = 40
STRETCHES = ((0, 3), (3, 8), (8, 16), (20, 40))
CHUNK = 2 * RATE
WINDOW = 512
SPEECH_SHARE = 0.6
"""Share of the frames, the loudest, that are compared."""


def speakers(speech: Path, count: int) -> dict[str, torch.Tensor]:
    """40 s of each of ``count`` speakers, spread evenly over the manifest's LibriSpeech."""
    files = defaultdict(list)
    with (speech / "manifest.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["corpus"] == "librispeech":
                files[row["speaker"]].append(speech / row["path"])
    names = sorted(files)
    found = {}
    for place in np.linspace(0, len(names) - 1, min(count, len(names))).astype(int):
        parts = [soundfile.read(path, dtype="float32")[0] for path in files[names[place]]]
        whole = np.concatenate(parts)
        repeats = -(-SECONDS * RATE // len(whole))
        found[names[place]] = torch.from_numpy(np.tile(whole, repeats)[: SECONDS * RATE])
    return found


def long_term(samples: torch.Tensor) -> torch.Tensor:
    """Mean log-spectrum in dB of the louder frames, ``[bin]``, each frame's level taken off."""
    frames = samples.unfold(0, WINDOW, WINDOW // 2) * torch.hann_window(WINDOW)
    magnitude = torch.fft.rfft(frames).abs()[:, : WINDOW // 2]
    energy = magnitude.square().sum(1)
    level = 20.0 * (magnitude + 1e-6).log10()[energy > energy.quantile(1.0 - SPEECH_SHARE)]
    return (level - level.mean(1, keepdim=True)).mean(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--system", default="recast")
    parser.add_argument("--speakers", type=int, default=16)
    options = parser.parse_args()
    torch.set_num_threads(1)
    system = voicenym.load(options.system)
    if not (system.needs_profile and system.profile_optional):
        sys.exit(f"{options.system} does not adapt: its live form is its file form, or it has none")
    # A benchmark's key is no secret: everyone must get the same figures.
    key = voicenym.Key(hashlib.sha256(b"voicenym benchmark live").digest(), None)
    rows = []
    for speaker, samples in speakers(options.speech, options.speakers).items():
        pseudonym = key.pseudonym(speaker)
        file = system(voicenym.Audio(samples, RATE), pseudonym).samples
        stream = system.stream(pseudonym, RATE)
        live = torch.cat([*(stream.push(part) for part in samples.split(CHUNK)), stream.flush()])
        rows.append(
            [
                float((long_term(file[part]) - long_term(live[part])).square().mean().sqrt())
                for part in (slice(low * RATE, high * RATE) for low, high in STRETCHES)
            ]
        )
    table = np.array(rows)
    print(f"{options.system}, {len(table)} speakers: dB between live and file form")
    for (low, high), column in zip(STRETCHES, table.T, strict=True):
        error = column.std(ddof=1) / len(column) ** 0.5
        print(f"{low:3d} to {high:2d} s  {column.mean():5.2f} +- {error:.2f}")


if __name__ == "__main__":
    main()
