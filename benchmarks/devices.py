"""Speed of the systems on an accelerator and on one core: one recording at a time, and batches.

    python benchmarks/devices.py SPEECH/ [--device cuda] [--rows 1 16] [--system NAME ...]

SPEECH holds recordings; the first 20 s of as many as the largest batch has are read into memory.
For each system: seconds of speech in a second of elapsed time, on one core of the processor and on
the device, the least of several times after one that is not counted. A system that fails on the
device is named with its error, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

import voicenym
from voicenym.anonymizer import usable
from voicenym.audio import Audio
from voicenym.corpus.recordings import collect

SECONDS = 20.0
KEY = voicenym.Key(bytes(32), None)


def read(folder: Path, count: int) -> list[Audio]:
    """Recordings of at least 5 s, cut to 20 s, in memory."""
    found: list[Audio] = []
    for recording in collect([folder]):
        audio = voicenym.read(recording.path)
        if audio.samples.shape[-1] >= 5 * audio.rate:
            found.append(Audio(audio.samples[..., : round(SECONDS * audio.rate)], audio.rate))
        if len(found) == count:
            return found
    raise SystemExit(f"{folder}: {len(found)} recordings of 5 s or more, {count} are needed")


def best(function: Callable[[], object], device: str, times: int) -> float:
    """Least elapsed time in seconds."""

    def once() -> float:
        start = time.perf_counter()
        function()
        if device != "cpu":
            torch.cuda.synchronize()
        return time.perf_counter() - start

    once()
    return min(once() for _ in range(times))


def rate(system: voicenym.Anonymizer, audios: list[Audio], rows: int, times: int) -> float:
    """Seconds of speech in a second, in batches of so many recordings."""
    pseudonyms = [KEY.pseudonym(str(i)) for i in range(len(audios))]
    taken = best(
        lambda: [
            system.batch(audios[i : i + rows], pseudonyms[i : i + rows])
            for i in range(0, len(audios), rows)
        ],
        system.device,
        times,
    )
    return sum(a.samples.shape[-1] / a.rate for a in audios) / taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("speech", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--system", action="append", default=[])
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--few", type=int, default=4, help="recordings for one at a time")
    options = parser.parse_args()
    torch.set_num_threads(1)
    audios = read(options.speech, max(options.few, *options.rows))
    if options.device != "cpu":
        print(torch.cuda.get_device_name(options.device))
    heads = [f"{n} at a time" for n in options.rows]
    print(f"{'':16s} {'one core':>14s}" + "".join(f" {head:>14s}" for head in heads))
    failed = False
    for name in options.system or sorted(usable()):
        try:
            speeds = [rate(voicenym.load(name), audios[: options.few], 1, 1)]
            system = voicenym.load(name, device=options.device)
            for rows in options.rows:
                some = audios[: max(options.few, rows)]
                speeds.append(rate(system, some, rows, options.times))
        except RuntimeError as error:
            failed = True
            print(f"{name:16s} {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)
            continue
        print(f"{name:16s}" + "".join(f" {speed:14.0f}" for speed in speeds), flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
