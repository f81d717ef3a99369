"""Speech that would pass as background: what Silero's detector misses, and what is left.

Found: docs/measuring/diarization.md.

    python benchmarks/studies/diarization/missed_speech.py --speech DIR

Forty recordings of each corpus are joined. Speech is what stands out from the noise floor of the
clean recordings (chunks of 32 ms); each row is its share that lies outside of all regions of
possible speech, when the recordings are lower, narrower or noisier.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import soundfile
import torch

from voicenym.diarization.possible_speech import (
    SoundDetector,
    SoundLevels,
    possible_speech,
    standing_out,
)
from voicenym.diarization.speech_regions import ANY_SPEECH, speech_regions
from voicenym.nets.activity.silero import CHUNK, RATE, SpeechProbabilities

RECORDINGS = 40
ADULT = 18
BLOCK = 160_000
CHUNK_SECONDS = CHUNK / RATE
Change = Callable[[torch.Tensor], torch.Tensor]
Detector = TypeVar("Detector", SoundDetector, SoundLevels, SpeechProbabilities)


def band(signal: torch.Tensor, low: float, high: float) -> torch.Tensor:
    hertz = torch.fft.rfftfreq(len(signal), 1 / RATE)
    spectrum = torch.fft.rfft(signal) * ((hertz > low) & (hertz < high))
    return torch.fft.irfft(spectrum, len(signal))


def noisy(signal: torch.Tensor, snr: float) -> torch.Tensor:
    noise = torch.randn(len(signal), generator=torch.Generator().manual_seed(0))
    return signal + noise * signal.std() * 10.0 ** (-snr / 20.0)


CHANGES: dict[str, Change] = {
    "as it is": lambda x: x,
    "30 dB lower": lambda x: x * 10.0**-1.5,
    "45 dB lower": lambda x: x * 10.0**-2.25,
    "60 dB lower": lambda x: x * 1e-3,
    "300 to 3,000 Hz": lambda x: band(x, 300.0, 3000.0),
    "white noise at 5 dB": lambda x: noisy(x, 5.0),
    "white noise at 0 dB": lambda x: noisy(x, 0.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--speech", type=Path, required=True, help="folder with manifest.tsv")
    given = parser.parse_args()
    torch.set_num_threads(1)
    print("| speech | change | missed by the detector | by it and by level |")
    print("| --- | --- | --- | --- |")
    for name, signal in corpora(given.speech).items():
        loud = standing_out(through(SoundLevels(), signal).result())
        for change, function in CHANGES.items():
            changed = function(signal)
            seconds = len(changed) / RATE
            alone = through(SpeechProbabilities(), changed).result().numpy()
            both = through(SoundDetector(float(changed.abs().max())), changed)
            shares = [
                100.0 * float((loud & ~inside(regions, len(loud))).sum() / loud.sum())
                for regions in (
                    speech_regions(alone, seconds, ANY_SPEECH),
                    possible_speech([both], seconds),
                )
            ]
            print(f"| {name} | {change} | {shares[0]:.1f} % | {shares[1]:.1f} % |", flush=True)


def corpora(root: Path) -> dict[str, torch.Tensor]:
    """Joined recordings by name."""
    with (root / "manifest.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    own = [row for row in rows if row["corpus"] == "speechocean762" and row["split"] == "dev"]
    found = {
        "adults": [row for row in own if int(row["age"]) >= ADULT],
        "children under 10": [row for row in own if int(row["age"]) < 10],
    }
    for corpus in ("librispeech", "arabic_cmds"):
        found[corpus] = [row for row in rows if row["corpus"] == corpus]
    return {name: joined(root, some) for name, some in found.items() if some}


def joined(root: Path, rows: list[dict[str, str]]) -> torch.Tensor:
    spread = rows[:: max(1, len(rows) // RECORDINGS)][:RECORDINGS]
    parts = []
    for row in spread:
        samples, rate = soundfile.read(root / row["path"], dtype="float32")
        if rate == RATE:
            parts.append(samples)
    return torch.from_numpy(np.concatenate(parts))


def through(detector: Detector, signal: torch.Tensor) -> Detector:
    for block in signal.split(BLOCK):
        detector.push(block)
    return detector


def inside(regions: np.ndarray, chunks: int) -> np.ndarray:
    """Whether the middles of chunks lie in a region."""
    middles = (np.arange(chunks) + 0.5) * CHUNK_SECONDS
    found = np.zeros(chunks, bool)
    for start, end in regions.tolist():
        found |= (middles >= start) & (middles < end)
    return found


if __name__ == "__main__":
    main()
