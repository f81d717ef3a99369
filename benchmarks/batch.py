"""Overhead of a batch beside its recordings, and what a second worker gains.

    python benchmarks/batch.py [--files 200] [--rounds 5] [--system mcadams] [--speech FILE.wav]

Short recordings (1.5 to 4 s, parts of a longer one) pass through the system in memory; are read,
anonymized and written by libsndfile, and nothing else; are anonymized one by one by
``anonymize_file``, which compares and flushes outputs; and as a batch with its log, locks and
checks for changes. Rounds of all in turn, the processor's time, least and median of each. The
limits are 1.03 for a batch against ``anonymize_file``, and 3 ms a file for a batch beside reading,
processing and writing.

Two workers are compared with one process by the time that one more file costs, so that the start of
workers does not count: the processor's time of all processes, which other programs change little,
and elapsed time. The limit is 1.85. Last come files a second for disks of some latency: each flush
then lasts so many milliseconds longer.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import soundfile
import torch

from speed import RATE, signal
from voicenym.anonymizer import load
from voicenym.audio import Audio
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.batches.single_file import anonymize_file
from voicenym.corpus.plans.file_plan import Item, plan
from voicenym.pseudonym import Key

LIMIT = 1.03
PRODUCTS = 4000
"""Products of a process that computes and does nothing else."""
OVERHEAD = 3.0
"""Milliseconds of a file."""


def make(folder: Path, count: int, speech: str | None) -> None:
    """Writes recordings of ten speakers: parts of a recording, or a noisy buzz without one."""
    rng = np.random.default_rng(0)
    sound = signal(120.0, speech).numpy()
    for number in range(count):
        length = round(RATE * rng.uniform(1.5, 4.0))
        start = rng.integers(len(sound) - length)
        path = folder / f"s{number % 10}" / f"{number}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, sound[start : start + length], RATE)


def alone(system: str, items: list[Item], key: Key) -> None:
    """One file after the other, and nothing else."""
    anonymizer = load(system)
    for item in items:
        item.target.parent.mkdir(parents=True, exist_ok=True)
        anonymize_file(anonymizer, key.pseudonym(item.speaker), item.source, item.target)


def bare(system: str, items: list[Item], key: Key, files: bool = True) -> None:
    """Reads, processes and writes, without checks; or processes alone."""
    anonymizer = load(system)
    for item in items:
        if files or item not in _sounds:
            _sounds[item] = soundfile.read(item.source, dtype="float32")
        samples, rate = _sounds[item]
        with torch.inference_mode():
            audio = Audio(torch.from_numpy(samples), rate)
            made = anonymizer(audio, key.pseudonym(item.speaker)).samples.numpy()
        if files:
            item.target.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(item.target, made, rate, subtype="PCM_16")


_sounds: dict[Item, tuple[np.ndarray, int]] = {}


def used() -> tuple[float, float]:
    """Seconds of the processor, with ended workers, and of the clock."""
    own, ended = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    spent = own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime
    return spent, time.perf_counter()


def another_file(job: Job, items: list[Item], workers: int, out: Path) -> np.ndarray:
    """Seconds that a file more costs, by the processor and by the clock."""
    spent = []
    for part in (items[: len(items) // 4], items):
        shutil.rmtree(out, ignore_errors=True)
        before = used()
        run(job, part, workers)
        spent.append(np.subtract(used(), before))
    cost: np.ndarray = (spent[1] - spent[0]) / (len(items) - len(items) // 4)
    return cost


def pure_compute() -> float:
    """Seconds by the clock of matrix products that fit the cache, in this process."""
    one = torch.ones(256, 256)
    started = time.perf_counter()
    for _ in range(PRODUCTS):
        torch.mm(one, one)
    return time.perf_counter() - started


def together(processes: int) -> float:
    """Products a second of so many busy processes, which share nothing and wait for nothing."""
    command = [sys.executable, __file__, "--compute"]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    for process in running:  # all are ready before the first one starts
        assert process.stdout is not None
        process.stdout.readline()
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return sum(PRODUCTS / float(process.communicate()[0]) for process in running)


def scaling(job: Job, items: list[Item], rounds: int, out: Path) -> None:
    """Prints how many times as fast two workers are as one process, and how many times as much two
    processes compute as one if neither reads nor writes: what the machine has for a second worker.
    """
    found = []
    for _ in range(rounds):
        bare = together(2) / together(1)
        one, two = (another_file(job, items, workers, out) for workers in (1, 2))
        # the second core counts: the same time of the processor is twice the speed
        found.append((2 * one[0] / two[0], one[1] / two[1], bare))
    ratios = np.array(found)
    for name, column in zip(("processor", "clock"), ratios.T, strict=False):
        print(f"two workers, by the {name}: {median(column)} x one   (limit 1.85)")
    print(f"two processes of products alone: {median(ratios[:, 2])} x one")
    print(f"two workers of what the machine has for two: {median(ratios[:, 1] / ratios[:, 2])}")


def slow_disk(job: Job, items: list[Item], milliseconds: float, out: Path) -> None:
    """Prints elapsed time of a batch on a disk whose flushes last longer."""
    flush = os.fsync

    def slow(file: int) -> None:
        time.sleep(milliseconds / 1000)
        flush(file)

    os.fsync = slow
    try:
        shutil.rmtree(out, ignore_errors=True)
        started = time.perf_counter()
        run(job, items)
        spent = time.perf_counter() - started
    finally:
        os.fsync = flush
    print(f"flushes {milliseconds:g} ms longer: {1000 * spent / len(items):6.2f} ms a file")


@contextmanager
def prepared(
    files: int, system: str = "mcadams", speech: str | None = None
) -> Iterator[tuple[Job, list[Item], Path]]:
    """Job and items of a folder that exists in the context, and the folder of outputs."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make(root / "in", files, speech)
        out = root / "out"
        key = Key.generate()
        yield (
            Job(system, {}, key, log=out / "voicenym.jsonl", fresh=True),
            plan([root / "in"], out),
            out,
        )


def seconds(
    job: Job, items: list[Item], out: Path, rounds: int, names: Sequence[str] = ()
) -> dict[str, list[float]]:
    """Milliseconds of a file for each way, round by round, by the processor's clock."""
    ways = {
        "in memory": lambda: bare(job.system, items, job.key, files=False),
        "read and written": lambda: bare(job.system, items, job.key),
        "files alone": lambda: alone(job.system, items, job.key),
        "batch": lambda: run(job, items),
    }
    spent: dict[str, list[float]] = {name: [] for name in names or ways}
    for _ in range(rounds + 1):  # the first warms up
        for name, figures in spent.items():
            shutil.rmtree(out, ignore_errors=True)
            started = time.process_time()
            ways[name]()
            figures.append(1000 * (time.process_time() - started) / len(items))
    return {name: figures[1:] for name, figures in spent.items()}


def median(values: Iterable[float]) -> str:
    """Median, least and greatest."""
    found = sorted(values)
    return f"{np.median(found):6.2f} ({found[0]:.2f} to {found[-1]:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--system", default="mcadams")
    parser.add_argument("--speech", help="a mono recording at 16 kHz")
    parser.add_argument("--flush", type=float, nargs="*", default=[0.0, 2.0, 10.0])
    parser.add_argument("--compute", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.compute:
        print("ready", flush=True)
        sys.stdin.readline()
        print(pure_compute())
        return
    with prepared(options.files, options.system, options.speech) as (job, items, out):
        spent = seconds(job, items, out, options.rounds)
        for name, figures in spent.items():
            print(f"{name:17} {median(figures)} ms a file")
        one, whole, plain = (spent[name] for name in ("files alone", "batch", "read and written"))
        ratios = [a / b for a, b in zip(whole, one, strict=True)]
        print(f"{'ratio':17} {median(ratios)}   (limit {LIMIT})")
        over = [a - b for a, b in zip(whole, plain, strict=True)]
        print(f"{'overhead':17} {median(over)} ms a file   (limit {OVERHEAD:g})")
        started = time.process_time()
        run(job, items)
        resumed = 1000 * (time.process_time() - started) / options.files
        print(f"{'all there':17} {resumed:6.2f} ms a file")
        scaling(job, items, options.rounds, out)
        for milliseconds in options.flush:
            slow_disk(job, items, milliseconds, out)


if __name__ == "__main__":
    main()
