"""Trains the bundled detector of overlapped speech.

    python benchmarks/studies/diarization/train_overlap_detector.py --speech DIR --out FOLDER
        [--steps N]

A chunk of 4 s holds utterances of two speakers of speechocean762's and LibriSpeech's ``train`` at
random places and levels within 10 dB, and in half of the chunks pink noise at 5 to 40 dB. A frame
is overlapped where both clean signals are within 30 dB of their loud frames. Figures of the bundled
detector: docs/measuring/diarization.md.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import soundfile
import torch

from voicenym.nets.activity.overlap_detector import FRAME, KINDS, RATE, OverlapDetector

CHUNK = 4 * RATE
BATCH = 8
ACTIVE_DB = 30.0
EACH = 5
"""Utterances of a speaker."""


def speech(root: Path) -> dict[str, list[np.ndarray]]:
    """Utterances of training speakers at 16 kHz, 16 bits."""
    found: dict[str, list[np.ndarray]] = {}
    with (root / "manifest.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["split"] != "train" or row["corpus"] not in ("speechocean762", "librispeech"):
                continue
            own = found.setdefault(row["speaker"], [])
            if len(own) < EACH:
                sound, _ = soundfile.read(root / row["path"], dtype="int16")
                own.append(sound)
    return found


def active(sound: np.ndarray) -> np.ndarray:
    """Frames of 20 ms in which somebody speaks, smoothed over five."""
    power = np.square(sound[: len(sound) // FRAME * FRAME]).reshape(-1, FRAME).mean(1)
    loud = np.percentile(power[power > 0], 90) if power.any() else 1.0
    speaks = (power > loud * 10 ** (-ACTIVE_DB / 10)).astype(float)
    return np.convolve(speaks, np.ones(5) / 5, "same") > 0.5


def mixture(
    rng: np.random.Generator, people: list[list[np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """Chunk ``[time]`` and its overlapped frames."""
    total = np.zeros(CHUNK)
    speaks = np.zeros(CHUNK // FRAME)
    for who in rng.choice(len(people), 2, replace=False):
        own = np.zeros(CHUNK)
        place = int(rng.integers(-CHUNK // 2, CHUNK // 2))
        while place < CHUNK:
            sound = people[who][int(rng.integers(len(people[who])))] / 32768.0
            first, last = max(0, place), min(CHUNK, place + len(sound))
            if last > first:
                own[first:last] = sound[first - place : last - place]
            place += len(sound) + int(rng.exponential(2.0) * RATE)
        level = np.sqrt(np.square(own).mean() + 1e-9)
        own *= 0.05 * 10 ** (rng.uniform(-5, 5) / 20) / level
        total += own
        speaks += active(own)
    if rng.random() < 0.5:
        spectrum = np.fft.rfft(rng.standard_normal(CHUNK))
        spectrum /= np.sqrt(np.maximum(np.fft.rfftfreq(CHUNK, 1 / RATE), 50.0))
        noise = np.fft.irfft(spectrum, CHUNK)
        total += noise * 0.05 * 10 ** (-rng.uniform(5, 40) / 20) / noise.std()
    return total * rng.uniform(0.2, 2.0), speaks >= 2


def main() -> None:
    """Trains and stores a detector."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=4000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    people = list(speech(options.speech).values())
    network = OverlapDetector()
    optimizer = torch.optim.AdamW(network.parameters(), 2e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, options.steps)
    started, losses = time.monotonic(), []
    for step in range(1, options.steps + 1):
        batch = [mixture(rng, people) for _ in range(BATCH)]
        sound = torch.tensor(np.stack([b[0] for b in batch]), dtype=torch.float32)
        truth = torch.tensor(np.stack([b[1] for b in batch]), dtype=torch.float32)
        logits = network(sound)[:, : truth.shape[1]]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, truth)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % 100 == 0:
            spent = time.monotonic() - started
            print(step, f"{np.mean(losses[-100:]):.3f} {spent:.0f} s", flush=True)
            card = {
                "data": "speechocean762 train, LibriSpeech train-clean-100; mixtures of two",
                "speakers": len(people),
                "steps": step,
            }
            KINDS.save(network, options.out, card, half=True)


if __name__ == "__main__":
    main()
