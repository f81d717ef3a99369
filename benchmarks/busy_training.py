"""A training step of two threads beside other programs, with and without a limit of spinning.

    python benchmarks/busy_training.py [--others 0 1 2] [--steps 4] [--rounds 3]

For each number of other programs that always compute, a step of the attackers' training (a small
ECAPA-TDNN, 64 crops of 1.6 s, forward and backward) is timed by the clock in processes in turns:
with one thread, with as many threads as cores and OpenMP's own waiting, and the same with the
command line's (:mod:`voicenym.thread_spinning`). Printed are the medians, and the ratios to one
thread with the least and the greatest.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

from voicenym.corpus.workers.cpu_count import cores
from voicenym.thread_spinning import COUNT, POLICY, SPINS

BUSY = "while True: pass"
CROPS, SAMPLES = 64, 25_600


def step_seconds(threads: int, steps: int) -> float:
    """Seconds of a training step by the clock, in this process."""
    import torch

    from voicenym.nets.matrix_precision import has_bfloat16
    from voicenym.verification.verifiers import encoder_of

    torch.set_num_threads(threads)
    network = encoder_of("ecapa-small").train().requires_grad_(True)
    features = network.features(torch.randn(CROPS, SAMPLES) * 0.1)
    times = []
    for _ in range(steps + 1):
        start = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=has_bfloat16()):
            vectors = network.encode(features)
        vectors.float().square().mean().backward()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def measured(threads: int, steps: int, spins: int | None) -> float:
    """The same in a process of its own; ``spins`` None leaves waiting to OpenMP."""
    environment = {name: value for name, value in os.environ.items() if name not in (COUNT, POLICY)}
    environment.pop("OMP_NUM_THREADS", None)
    if spins is not None:
        environment[COUNT] = str(spins)
    command = [sys.executable, __file__, "--one", str(threads), "--steps", str(steps)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(run.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--others", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(step_seconds(options.one, options.steps))
        return
    ways = {
        "one thread": (1, None),
        f"{cores()} threads": (cores(), None),
        f"{cores()} threads, limited spinning": (cores(), SPINS),
    }
    for others in options.others:
        programs = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(others)]
        times: dict[str, list[float]] = {name: [] for name in ways}
        try:
            for _ in range(options.rounds):
                for name, (threads, spins) in ways.items():
                    times[name].append(measured(threads, options.steps, spins))
        finally:
            for program in programs:
                program.kill()
        for name, seconds in times.items():
            ratios = [a / b for a, b in zip(seconds, times["one thread"], strict=True)]
            print(
                f"{others} other programs, {name}: {statistics.median(seconds):.2f} s, "
                f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) times "
                "one thread"
            )


if __name__ == "__main__":
    main()
