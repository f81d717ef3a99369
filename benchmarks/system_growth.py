"""Growth of anonymization with the number of files, the length of a recording and the keys.

    python benchmarks/system_growth.py [--plot growth.png] [--hours 1] [--files 3000] [--only keys]

Each row is a size with the processor's seconds and the peak of resident memory, each in a process
of its own, after a short recording that is not counted. Below each table are the exponents of both,
the slope of a line through the logarithms of the larger half of the sizes. Recordings are made
here: 16 kHz, 16 bit, mono.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile

from metrics_growth import Curve, exponent, plot

RATE = 16_000
FILE_SECONDS = 2.0
"""Length of each of many files."""
KEY_SECONDS = 10.0
"""Length of the recording that several keys anonymize."""
MOST_KEYS = 64


def make(path: Path, seconds: float) -> None:
    """Writes bursts of a buzz in noise, the same ten seconds again and again."""
    rng = np.random.default_rng(0)
    count = round(10 * RATE)
    phase = 2 * np.pi * np.cumsum(120 + 20 * np.sin(np.arange(count) / RATE)) / RATE
    buzz = sum(np.sin(k * phase) / k for k in range(1, 20))
    syllables = np.sin(2 * np.pi * 2 * np.arange(count) / RATE).clip(0)
    ten = 0.05 * buzz * syllables + 0.0005 * rng.standard_normal(count)
    path.parent.mkdir(parents=True, exist_ok=True)
    with soundfile.SoundFile(path, "w", RATE, 1, "PCM_16", format="RF64") as file:
        left = round(seconds * RATE)
        while left > 0:
            file.write(ten[:left])
            left -= count


def files(system: str, count: int, folder: Path, again: bool = False, of_each: int = 10) -> float:
    """A folder of short files, so many of each speaker; ``again``: they are there already."""
    from voicenym.corpus.batches.batch_runner import Job, run
    from voicenym.corpus.plans.file_plan import plan
    from voicenym.pseudonym import Key

    make(folder / "first.wav", FILE_SECONDS)
    for number in range(count):
        path = folder / "in" / f"s{number // of_each}" / f"{number}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        os.link(folder / "first.wav", path)
    key = Key(bytes(32), None)
    warm = Job(system, {}, key)
    run(warm, plan([folder / "first.wav"], folder / "warm.wav"))
    items = plan([folder / "in"], folder / "out")
    job = Job(system, {}, key, log=folder / "out" / "voicenym.jsonl")
    spent = 0.0
    for _ in range(1 + again):
        start = time.process_time()
        run(job, items)
        spent = time.process_time() - start
    return spent


def length(system: str, seconds: int, folder: Path) -> float:
    """One recording."""
    from voicenym.anonymizer import load
    from voicenym.corpus.batches.single_file import anonymize_file
    from voicenym.pseudonym import Key

    anonymizer, pseudonym = load(system), Key(bytes(32), None).pseudonym("growth")
    make(folder / "short.wav", FILE_SECONDS)
    make(folder / "long.wav", seconds)
    anonymize_file(anonymizer, pseudonym, folder / "short.wav", folder / "warm.wav")
    start = time.process_time()
    anonymize_file(anonymizer, pseudonym, folder / "long.wav", folder / "out.wav")
    return time.process_time() - start


def keys(system: str, count: int, folder: Path, kept: bool = False) -> float:
    """One recording under several keys; ``kept``: with its analysis in memory, as an attacker that
    searches for the key has it.
    """
    import voicenym
    from voicenym.dsp.analysis_memory import AnalysisMemory, keeping_analyses

    make(folder / "in.wav", KEY_SECONDS)
    audio, anonymizer = voicenym.read(folder / "in.wav"), voicenym.load(system)
    guesses = [voicenym.Key(bytes([k]) * 32, None) for k in range(count)]
    anonymizer(audio, voicenym.Key(bytes([255]) * 32, None).pseudonym("growth"))
    start = time.process_time()
    with keeping_analyses(AnalysisMemory() if kept else None):
        for guess in guesses:
            anonymizer(audio, guess.pseudonym("growth"))
    return time.process_time() - start


def speakers(system: str, count: int, folder: Path) -> float:
    """Files of as many speakers, one each."""
    return files(system, count, folder, of_each=1)


WAYS = {
    "files": files,
    "files that are there": lambda *case: files(*case, again=True),
    "seconds": length,
    "keys": keys,
    "keys, analysed once": lambda *case: keys(*case, kept=True),
    "speakers": speakers,
}


def one(way: str, system: str, size: int) -> tuple[float, float]:
    """Seconds and MB of a case, in a process of its own."""
    arguments = [sys.executable, __file__, "--case", way, system, str(size)]
    printed = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout
    seconds, megabytes = map(float, printed.split()[-2:])
    return seconds, megabytes


def sizes(most: int, least: int, factor: float) -> list[int]:
    """From ``least`` to ``most``, each ``factor`` times the one before, or less for the last."""
    found = [least]
    while found[-1] < most:
        found.append(min(most, round(found[-1] * factor)))
    return found


def run_case(way: str, system: str, size: str) -> None:
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        spent = WAYS[way](system, int(size), Path(folder))
    print(spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", default="")
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--files", type=int, default=3000)
    parser.add_argument("--only", default="", help="tables whose name has this in it")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.case:
        run_case(*options.case)
        return
    counts = sizes(options.files, 10, 10**0.5)
    lengths = sizes(round(options.hours * 3600), 10, 360**0.25)
    tables = {
        "mcadams, by files of 2 s": ("files", "mcadams", counts),
        "files that are there already, by files": ("files that are there", "mcadams", counts),
        "mcadams, by seconds": ("seconds", "mcadams", lengths),
        "recast, by seconds": ("seconds", "recast", lengths),
        "mcadams, by speakers of one file": ("speakers", "mcadams", counts),
        "mcadams, 10 s, by keys": ("keys", "mcadams", sizes(MOST_KEYS, 1, 4)),
        "mcadams, 10 s, by keys, analysed once": (
            "keys, analysed once",
            "mcadams",
            sizes(MOST_KEYS, 1, 4),
        ),
        "recast, 10 s, by keys, analysed once": (
            "keys, analysed once",
            "recast",
            sizes(MOST_KEYS, 1, 4),
        ),
    }
    curves: dict[str, Curve] = {}
    for name, (way, system, of) in tables.items():
        if options.only not in name:
            continue
        print(name)
        spent, peak = [], []
        for size in of:
            seconds, megabytes = one(way, system, size)
            spent.append(seconds)
            peak.append(megabytes)
            print(f"{size:8,d} {seconds:9.3f} s {megabytes:8.1f} MB", flush=True)
        print(f"    exponent {exponent(of, spent):5.2f}   {exponent(of, peak):8.2f}\n", flush=True)
        curves[name] = (of, spent, peak)
    if options.plot:
        plot(curves, options.plot, "files, seconds or keys", "peak resident memory, MB")


if __name__ == "__main__":
    main()
