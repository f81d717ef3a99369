"""Engines of a batch: local processes and Ray's actors on the same recordings.

    python benchmarks/engines.py [--files 200] [--seconds 10] [--rounds 3] [--system mcadams]
                                 [--speech FILE.wav]

Each round anonymizes the files with each engine and one and two workers, in turn. The time of a
file is that of the last three quarters of the files, by the clock, so that the start of workers
does not count; the start is the time until the first output. The limit is 0.9 of the local rate
for files of 10 s. The processor's time is that of this process and of all that it started, Ray's
own processes among them; it holds on a machine that others use, too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import soundfile

from speed import RATE, signal
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.batches.engines import LOCAL, Engine, RayEngine
from voicenym.corpus.plans.file_plan import plan
from voicenym.pseudonym import Key

LIMIT = 0.9


def make(folder: Path, count: int, seconds: float, speech: str | None) -> None:
    """Writes recordings of ten speakers."""
    rng = np.random.default_rng(0)
    sound = signal(max(120.0, 2 * seconds), speech).numpy()
    for number in range(count):
        start = rng.integers(len(sound) - round(RATE * seconds))
        path = folder / f"s{number % 10}" / f"{number}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, sound[start : start + round(RATE * seconds)], RATE)


def family() -> tuple[set[int], dict[int, int]]:
    """Ids of this process and of its descendants; ticks of the processor of all processes."""
    parents, times = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)] = int(fields[1])
        times[int(entry.name)] = int(fields[11]) + int(fields[12])
    found, ours = 0, {os.getpid()}
    while len(ours) > found:
        found = len(ours)
        ours |= {process for process, parent in parents.items() if parent in ours}
    return ours, times


def processor_seconds() -> float:
    """Processor time of this process and of its descendants that live."""
    ours, times = family()
    return sum(times.get(process, 0) for process in ours) / os.sysconf("SC_CLK_TCK")


def worker_megabytes() -> float:
    """Memory of the largest process that this one has started, or of this one if it has none; what
    processes share counts in parts (PSS).
    """
    found = {}
    for process in family()[0]:
        with suppress(OSError):
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
            found[process] = int(text.partition("\nPss:")[2].split()[0]) / 1024
    own = found.pop(os.getpid())
    return max(found.values(), default=own)


def timed(
    engine: Engine, workers: int, source: Path, system: str
) -> tuple[float, float, float, float]:
    """Seconds until the first output, and a file afterwards, by the clock and by processors; MiB of
    a worker at the end.
    """
    out = Path(tempfile.mkdtemp())
    try:
        items = plan([source], out)
        job = Job(system, {}, Key(bytes(32), None), log=out / "voicenym.jsonl")
        times, spent, memory = [time.perf_counter()], {}, 0.0
        first = len(items) // 4

        def report(outcome: object) -> None:
            nonlocal memory
            times.append(time.perf_counter())
            if len(times) - 1 in (first, len(items)):
                spent[len(times) - 1] = processor_seconds()
                memory = max(memory, worker_megabytes())

        done = run(job, items, workers, report, engine=engine).done
        assert done == len(items)
        rest = len(items) - first
        busy = (spent[len(items)] - spent[first]) / rest
        return times[1] - times[0], (times[-1] - times[first]) / rest, busy, memory
    finally:
        shutil.rmtree(out)


def main() -> None:
    """Prints one line for each engine and number of workers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--system", default="mcadams")
    parser.add_argument("--speech")
    given = parser.parse_args()
    cases = {
        f"{name}, {workers}": (engine, workers)
        for name, engine in (("local", LOCAL), ("ray", RayEngine()))
        for workers in (1, 2)
    }
    files: dict[str, list[float]] = {name: [] for name in cases}
    starts: dict[str, list[float]] = {name: [] for name in cases}
    busy: dict[str, list[float]] = {name: [] for name in cases}
    memory = dict.fromkeys(cases, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        make(source, given.files, given.seconds, given.speech)
        for _ in range(given.rounds):
            for name, (engine, workers) in cases.items():
                start, each, spent, held = timed(engine, workers, source, given.system)
                memory[name] = max(memory[name], held)
                busy[name].append(spent)
                files[name].append(each)
                starts[name].append(start)
    for name in cases:
        each = statistics.median(files[name])
        print(
            f"{name:10} workers: {1e3 * each:7.1f} ({1e3 * min(files[name]):.1f} to "
            f"{1e3 * max(files[name]):.1f}) ms a file, {given.seconds / each / 3600:.3f} hours of "
            f"speech a second, start {statistics.median(starts[name]):.1f} s, processors "
            f"{1e3 * statistics.median(busy[name]):.1f} ms a file, {memory[name]:.0f} MiB a worker"
        )
    for workers in (1, 2):
        pairs = zip(files[f"local, {workers}"], files[f"ray, {workers}"], strict=True)
        ratios = [local / ray for local, ray in pairs]
        print(
            f"rate of ray against local, {workers} workers: {statistics.median(ratios):.2f} "
            f"({min(ratios):.2f} to {max(ratios):.2f})   (limit {LIMIT})"
        )
        pairs = zip(busy[f"local, {workers}"], busy[f"ray, {workers}"], strict=True)
        ratios = [local / ray for local, ray in pairs]
        print(
            f"by processor time: {statistics.median(ratios):.2f} ({min(ratios):.2f} to "
            f"{max(ratios):.2f})"
        )


if __name__ == "__main__":
    main()
