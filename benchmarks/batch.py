"""Overhead of a batch beside its recordings: the log, locks, checks for changes, order.

    python benchmarks/batch.py [--files 200] [--rounds 5] [--system mcadams]

Short recordings (1.5 to 4 s, 16 kHz, made here) are anonymized one by one by ``anonymize_file`` and
as a batch by ``corpus.runner.run`` with a log. The figure is the ratio of the processor's seconds,
rounds of both in turn, the least of each. The limit is 1.03.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile

from voicenym.anonymizer import load
from voicenym.corpus.batch_runner import Job, run
from voicenym.corpus.file_plan import Item, plan
from voicenym.corpus.single_file import anonymize_file
from voicenym.pseudonym import Key

LIMIT = 1.03


def make(folder: Path, count: int) -> None:
    """Write buzzes of ten speakers."""
    rng = np.random.default_rng(0)
    for number in range(count):
        seconds = np.arange(round(16_000 * rng.uniform(1.5, 4.0))) / 16_000
        pitch = 100 + number % 10
        sound = sum(np.sin(2 * np.pi * k * pitch * seconds) / k for k in range(1, 20))
        noise = 0.001 * rng.standard_normal(len(seconds))
        path = folder / f"s{number % 10}" / f"{number}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, 0.05 * sound + noise, 16_000)


def alone(system: str, items: list[Item], key: Key) -> None:
    """One file after the other, and nothing else."""
    anonymizer = load(system)
    for item in items:
        item.target.parent.mkdir(parents=True, exist_ok=True)
        anonymize_file(anonymizer, key.pseudonym(item.speaker), item.source, item.target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--system", default="mcadams")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    key = Key.generate()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make(root / "in", options.files)
        out = root / "out"
        items = plan([root / "in"], out)
        job = Job(options.system, {}, key, log=out / "voicenym.jsonl")
        ways = {
            "files alone": lambda: alone(options.system, items, key),
            "batch": lambda: run(job, items),
        }
        least = dict.fromkeys(ways, float("inf"))
        for _ in range(options.rounds + 1):  # the first warms up
            for name, way in ways.items():
                shutil.rmtree(out, ignore_errors=True)
                started = time.process_time()
                way()
                least[name] = min(least[name], time.process_time() - started)
        started = time.process_time()
        run(job, items)
        resumed = time.process_time() - started
    for name, seconds in least.items():
        print(f"{name:12} {seconds:7.3f} s, {1000 * seconds / options.files:6.2f} ms a file")
    print(f"ratio        {least['batch'] / least['files alone']:7.3f}   (limit {LIMIT})")
    print(f"all there    {resumed:7.3f} s, {1000 * resumed / options.files:6.2f} ms a file")


if __name__ == "__main__":
    main()
