"""Time from the start of Python to the end of a command, against Python, typer and torch alone.

    python benchmarks/startup.py [--rounds 11]

The limits are measured in the same run, in turns with the commands: ``python -c pass``, which every
command pays, ``python -c "import typer"``, which every command of a typer program pays, and
``python -c "import torch"``, which every command pays that touches a sample. Printed are the least
time by the clock, the least time of the processor, which other programs on the machine change less,
and the ratios of the latter to the limits. The first round warms the file cache and is not counted.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import wave
from pathlib import Path

import numpy as np

PYTHON, TYPER, TORCH = "python -c pass", "python -c 'import typer'", "python -c 'import torch'"
SECONDS, RATE = 5, 16_000
RUNS = {
    PYTHON: ["-c", "pass"],
    TYPER: ["-c", "import typer"],
    TORCH: ["-c", "import torch"],
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
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
    clock = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def anonymizing(folder: Path) -> dict[str, list[str]]:
    """Commands that anonymize one recording of :data:`SECONDS`."""
    generator = np.random.default_rng(0)
    samples = np.convolve(generator.standard_normal(SECONDS * RATE), np.hanning(16), "same")
    with wave.open(str(folder / "in.wav"), "wb") as file:
        file.setparams((1, 2, RATE, len(samples), "NONE", ""))
        file.writeframes((2000.0 * samples).astype("<i2").tobytes())
    files = [str(folder / "in.wav"), "-o", str(folder / "out.wav"), "--overwrite"]
    return {
        f"voicenym anonymize -s {system}": ["-m", "voicenym", "anonymize", *files, "-s", system]
        for system in ("mcadams", "recast")
    }


def measured(rounds: int, runs: dict[str, list[str]]) -> dict[str, list[tuple[float, float]]]:
    """Times of each run, in turns."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, arguments in runs.items():
            found = seconds(arguments)
            if number:
                times[name].append(found)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11, help="times that each is measured")
    rounds = parser.parse_args().rounds
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        times = measured(rounds, {**RUNS, **anonymizing(Path(folder))})
    least = {
        name: (min(clock for clock, _ in found), min(processor for _, processor in found))
        for name, found in times.items()
    }
    print(f"{'':30s} {'clock s':>8} {'CPU s':>8} {'/ python':>9} {'/ typer':>8} {'/ torch':>8}")
    for name, (clock, processor) in least.items():
        ratios = [processor / least[limit][1] for limit in (PYTHON, TYPER, TORCH)]
        shown = f"{ratios[0]:9.1f} {ratios[1]:8.2f} {ratios[2]:8.2f}"
        print(f"{name:30s} {clock:8.3f} {processor:8.3f} {shown}")


if __name__ == "__main__":
    main()
