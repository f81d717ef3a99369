"""Time from the start of Python to the end of a command, against Python and typer alone.

    python benchmarks/startup.py [--rounds 11]

The limits are measured in the same run, in turns with the commands: ``python -c pass``, which every
command pays, and ``python -c "import typer"``, which every command of a typer program pays. Printed
are the least time by the clock, the least time of the processor, which other programs on the
machine change less, and the ratio of the latter to both limits. The first round warms the file
cache and is not counted.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time

PYTHON, TYPER = "python -c pass", "python -c 'import typer'"
RUNS = {
    PYTHON: ["-c", "pass"],
    TYPER: ["-c", "import typer"],
    "python -c 'import voicenym'": ["-c", "import voicenym"],
    "voicenym --version": ["-m", "voicenym", "--version"],
    "voicenym --help": ["-m", "voicenym", "--help"],
    "voicenym anonymize --help": ["-m", "voicenym", "anonymize", "--help"],
    "voicenym evaluate --help": ["-m", "voicenym", "evaluate", "--help"],
    "voicenym train --help": ["-m", "voicenym", "train", "--help"],
    "voicenym systems": ["-m", "voicenym", "systems"],
}


def seconds(arguments: list[str]) -> tuple[float, float]:
    """Time of one process by the clock and of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    clock = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11, help="times that each is measured")
    rounds = parser.parse_args().rounds
    os.environ["OMP_NUM_THREADS"] = "1"
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in RUNS}
    for number in range(rounds + 1):
        for name, arguments in RUNS.items():
            found = seconds(arguments)
            if number:
                times[name].append(found)
    least = {
        name: (min(clock for clock, _ in found), min(processor for _, processor in found))
        for name, found in times.items()
    }
    print(f"{'':30s} {'clock s':>8} {'CPU s':>8} {'/ python':>9} {'/ typer':>8}")
    for name, (clock, processor) in least.items():
        ratios = [processor / least[limit][1] for limit in (PYTHON, TYPER)]
        print(f"{name:30s} {clock:8.3f} {processor:8.3f} {ratios[0]:9.1f} {ratios[1]:8.2f}")


if __name__ == "__main__":
    main()
