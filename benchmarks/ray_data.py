"""Ray Data in the place of voicenym's own pool of actors: rate, start, and Ray's object store.

    python benchmarks/ray_data.py [--files 120] [--seconds 10] [--rounds 3] [--speech FILE.wav]
                                  [--workers 2] [--killer]

Three ways to anonymize the same files by the same code in the workers:

- actors: the pool of `--engine ray` (voicenym.corpus.workers.ray_pool);
- data, files: `read_binary_files(...).map_batches(Class, compute=ActorPoolStrategy(N))`; tasks of
  Ray read the recordings, and its object store passes them to the workers; Ray is told of a
  processor more, since it waits without end where the workers hold all of them;
- data, paths: `from_items(...).map_batches(Class, compute=ActorPoolStrategy(N))`; the workers read
  them.

Each line has the seconds until the first output, the milliseconds of a file afterwards (the last
three quarters of the files, by the clock, and by processors as in benchmarks/engines.py), what
Ray's object store has held in memory, and whether a voice's secret and a recording's samples are
found there. With --killer, one recording kills the process that works on it, as a hostile one may;
the lines say how many of the other recordings were anonymized, and how the run ended.
"""

from __future__ import annotations

import argparse
import errno
import io
import logging
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from engines import make, processor_seconds
from voicenym.corpus.batches.batch_runner import Job
from voicenym.corpus.batches.batch_task import Task, Worker
from voicenym.corpus.plans.file_plan import plan
from voicenym.corpus.workers.ray_pool import RayPool
from voicenym.corpus.workers.ray_session import RaySession
from voicenym.corpus.workers.worker_pool import Death
from voicenym.pseudonym import Key

KEY = Key(bytes(range(100, 132)), None)
JOB = Job("mcadams", {}, KEY)
SETTINGS = JOB.for_workers()
WAYS = ("actors", "data, files", "data, paths")
KILLER = "killer.wav"
PAUSE = 0.2
"""Seconds between two looks at the processors."""
PATIENCE = 120
"""Seconds for a run with a recording that kills."""
BATCH = 16
"""Recordings of a batch, as voicenym.corpus.workers.ray_pool has at most."""


@dataclass(frozen=True)
class Sound:
    """A recording that came through the object store."""

    data: bytes
    path: Path
    stretch: tuple[float, float | None] = (0.0, None)
    part: str = ""

    def open(self, lenient: bool = False) -> BinaryIO:
        return io.BytesIO(self.data)

    def __str__(self) -> str:
        return str(self.path)


class Batches:
    """Class of a pipeline of Ray Data; keeps its model."""

    def __init__(self, tasks: dict[str, Task]) -> None:
        self._worker, self._tasks = prepare(), tasks

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        reasons = []
        for number, path in enumerate(batch["path"]):
            task = self._tasks[path]
            if "bytes" in batch:
                sound = Sound(batch["bytes"][number], Path(path))
                task = replace(task, item=replace(task.item, source=sound))
            reasons.append(self._worker(task) or "")
        return {"reason": reasons}


def prepare() -> Any:
    """Function that anonymizes a recording in a worker; returns why it failed, if it did."""
    worker = Worker(SETTINGS)

    def anonymize(task: Task) -> str | None:
        if task.item.target.name == KILLER:
            os.kill(os.getpid(), signal.SIGKILL)
        return worker(task).reason

    return anonymize


def reasons(way: str, tasks: list[Task], workers: int) -> Iterator[object]:
    """What became of the recordings, as it comes."""
    if way == "actors":
        with RayPool(workers, prepare) as pool:
            for _, answer in pool.answers(iter(tasks)):
                yield str(answer) if isinstance(answer, Death) else answer or ""
        return
    import ray.data

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context.max_errored_blocks = -1  # what fails is left out
    by_path = {str(task.item.source): task for task in tasks}
    if way == "data, files":
        found = ray.data.read_binary_files(list(by_path), include_paths=True)
    else:
        found = ray.data.from_items([{"path": path} for path in by_path])
    pool = ray.data.ActorPoolStrategy(size=workers)
    made = found.map_batches(Batches, fn_constructor_args=[by_path], batch_size=BATCH, compute=pool)
    for batch in made.iter_batches(batch_size=None):
        yield from batch["reason"]


def session(way: str, workers: int) -> RaySession:
    """Ray for a way, which reads recordings in tasks of their own or does not."""
    return RaySession(workers=workers + (way == "data, files"))


def store_memory() -> Iterator[bytes]:
    """Memory of Ray's object store on this machine that has been used, in pieces."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"raylet" not in (process / "cmdline").read_bytes().split(b"\0")[0]:
                continue
            places = {os.readlink(fd): fd for fd in (process / "fd").iterdir()}
            for place, descriptor in places.items():
                if "plasma" in place and "sock" not in place:
                    with descriptor.open("rb", buffering=0) as file:
                        yield from used(file)


def used(file: BinaryIO) -> Iterator[bytes]:
    """Stretches of a sparse file."""
    end = 0
    while True:
        try:
            start = os.lseek(file.fileno(), end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            raise
        end = os.lseek(file.fileno(), start, os.SEEK_HOLE)
        yield os.pread(file.fileno(), end - start, start)


def measured(way: str, source: Path, workers: int) -> tuple[float, float, float, float, str]:
    """Start, seconds of a file by the clock and by processors, MB of the store, what is in it."""
    out = Path(tempfile.mkdtemp())
    spent: list[tuple[float, float]] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(PAUSE):
            spent.append((time.time(), processor_seconds()))

    try:
        items = plan([source], out)
        tasks = [Task(item, JOB.pseudonym(item)) for item in items]
        watching = threading.Thread(target=watch)
        watching.start()
        started = time.time()
        with session(way, workers):
            found = list(reasons(way, tasks, workers))
            assert found == [""] * len(items), found
            done.set()
            held = b"".join(store_memory())
        watching.join()
        times = sorted(item.target.stat().st_ctime for item in items)
        first = len(times) // 4
        span, rest = (times[first], times[-1]), len(times) - 1 - first
        busy = np.interp(span, *zip(*spent, strict=True))
        secret = any(task.pseudonym._secret in held for task in tasks)
        sound = any(recording_in(held, Path(str(item.source))) for item in items)
        what = f"voices {'found' if secret else 'not found'}, samples "
        what += "found" if sound else "not found"
        each, by_processors = (span[1] - span[0]) / rest, (busy[1] - busy[0]) / rest
        return times[0] - started, each, by_processors, len(held) / 1e6, what
    finally:
        done.set()
        shutil.rmtree(out)


def recording_in(held: bytes, path: Path) -> bool:
    """Whether the memory holds a piece of a recording."""
    data = path.read_bytes()
    return data[len(data) // 2 :][:256] in held


def killed(way: str, source: Path, workers: int) -> None:
    """Prints how a run ends in which one recording kills its worker; a process of its own."""
    shutil.copy(next(source.rglob("*.wav")), source / "s0" / KILLER)
    out = Path(tempfile.mkdtemp())
    items = plan([source], out)
    tasks = [Task(item, JOB.pseudonym(item)) for item in items]
    started = time.time()
    end = "whole"
    try:
        with session(way, workers):
            signal.signal(signal.SIGALRM, _late)
            signal.alarm(PATIENCE)
            for _ in reasons(way, tasks, workers):
                pass
    except BaseException as error:
        end = f"{type(error).__name__}: {str(error).strip().splitlines()[-1:]}"
    signal.alarm(0)
    there = sum(item.target.is_file() for item in items)
    print(
        f"{way:12} {there} of {len(items) - 1} other recordings anonymized; ended after "
        f"{time.time() - started:.0f} s: {end[:200]}",
        flush=True,
    )
    shutil.rmtree(out)


def _late(number: int, frame: object) -> None:
    raise TimeoutError(f"not finished after {PATIENCE} s")


def main() -> None:
    """Prints one line for each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=120)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--speech")
    parser.add_argument("--killer", action="store_true")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        make(source, given.files, given.seconds, given.speech)
        if given.killer:
            for way in WAYS if given.way is None else [given.way]:
                if given.way is not None:
                    killed(way, source, given.workers)
                else:
                    again = [sys.executable, *sys.argv, "--way", way]
                    subprocess.run(again, check=False, timeout=2 * PATIENCE)
            return
        results: dict[str, list[tuple[float, float, float, float, str]]] = {w: [] for w in WAYS}
        for _ in range(given.rounds):
            for way in WAYS:
                results[way].append(measured(way, source, given.workers))
    for way, rounds in results.items():
        start, each, busy, held = (statistics.median(one[n] for one in rounds) for n in range(4))
        clock = [1e3 * one[1] for one in rounds]
        print(
            f"{way:12} start {start:.1f} s, {1e3 * each:.1f} ({min(clock):.1f} to "
            f"{max(clock):.1f}) ms a file, processors {1e3 * busy:.1f} ms a file, object store "
            f"{held:.1f} MB: {', '.join(sorted({one[4] for one in rounds}))}"
        )


if __name__ == "__main__":
    main()
