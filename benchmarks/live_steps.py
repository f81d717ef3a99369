"""Time of a block of a live stream, against the operations that it calls.

    OMP_NUM_THREADS=1 python benchmarks/live_steps.py [--block 20] [--blocks 200] [SYSTEM ...]

A stream is many small tensor operations: what limits it is how long torch takes to call one, and
for networks how fast weights come from memory. The limit is the number of a block's operations
times the least of them, an addition of one number, in the same run. Blocks come at once (*tight*)
and, as in a session, at their time (*paced*), where the caches have cooled in between. All times
are of the processor.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import voicenym
from speed import KEY, RATE, signal
from voicenym.anonymizer import usable
from voicenym.errors import VoicenymError

WARM_SECONDS = 1.5
"""Of sound before the first block that counts."""


class Counted(TorchDispatchMode):
    """Counts operations."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        self.count += 1
        return function(*arguments, **(options or {}))


def operation_seconds(count: int = 20_000) -> float:
    """Least processor time of an operation."""
    one, times = torch.ones(1), []
    for _ in range(5):
        begun = time.thread_time()
        for _ in range(count):
            one.add(one)
        times.append((time.thread_time() - begun) / count)
    return min(times)


def block_seconds(stream: Any, sound: torch.Tensor, block: int, paced: bool) -> list[float]:
    """Processor time of each block."""
    times, due = [], time.perf_counter()
    for part in sound.split(block):
        if paced:
            due += block / RATE
            time.sleep(max(0.0, due - time.perf_counter()))
        begun = time.thread_time()
        stream.push(part)
        times.append(time.thread_time() - begun)
    return times[round(WARM_SECONDS * RATE / block) :]


def main() -> None:
    """Prints one line for each system that runs live."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("system", nargs="*")
    parser.add_argument("--block", type=float, default=20.0, help="milliseconds")
    parser.add_argument("--blocks", type=int, default=200)
    given = parser.parse_args()
    torch.set_num_threads(1)
    block = round(given.block / 1000.0 * RATE)
    sound = signal(WARM_SECONDS + given.blocks * block / RATE, None)[..., :].reshape(-1)
    pseudonym, least = KEY.pseudonym("benchmark"), operation_seconds()
    print(f"blocks of {given.block:g} ms; an addition of one number takes {1e6 * least:.2f} us")
    for name in given.system or usable():
        try:
            system = voicenym.load(name, live=True)
            stream = system.stream(pseudonym, RATE)
        except VoicenymError:  # it does not run live
            continue
        tight = block_seconds(stream, sound, block, paced=False)
        paced = block_seconds(system.stream(pseudonym, RATE), sound, block, paced=True)
        with Counted() as counted:
            counting = system.stream(pseudonym, RATE)
            before = 0
            for number, part in enumerate(sound.split(block)):
                counting.push(part)
                before = counted.count if number == len(sound) // block // 2 else before
        calls = (counted.count - before) / (len(sound) // block - len(sound) // block // 2 - 1)
        usual = statistics.median(tight)
        print(
            f"{name:15} tight {1e3 * usual:5.2f} ms, paced {1e3 * statistics.median(paced):5.2f} "
            f"(90 %: {1e3 * sorted(paced)[int(0.9 * len(paced))]:.2f}), "
            f"{100 * statistics.median(paced) * RATE / block:.0f} % of the block; {calls:.0f} "
            f"operations: {usual / (calls * least):.1f} times their least"
        )


if __name__ == "__main__":
    main()
