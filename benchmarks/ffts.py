"""Filter systems against the Fourier transforms that they contain.

    python benchmarks/ffts.py [--speech FILE.wav] [--seconds 4 60] [--rounds 5] [--system vtln ...]

Prints, for each system and length of recording, processing time over duration, the same of its
Fourier transforms alone (same number, sizes, precisions; in arrays of the same shapes), and their
ratio: both by the processor's clock on one core, in turns, the median of the rounds with the least
and the greatest. The speaker's voice is drawn once before, as in a folder with several recordings
of a speaker.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import torch

import voicenym
from speed import KEY, RATE, signal
from voicenym.memory import keep_freed_blocks

SYSTEMS = ("vtln", "pv-tsm", "formant", "recast")
LIMIT = 3.0
"""Largest ratio that counts as near the limit."""
NAMES = ("rfft", "irfft", "fft", "ifft")


@contextmanager
def recorded(calls: list[Callable[[], object]]) -> Iterator[None]:
    """Context manager that appends each Fourier transform, with an array of its own, to a list."""
    originals = {name: getattr(torch.fft, name) for name in NAMES}

    def recording(name: str, x: torch.Tensor, *arguments: object, **options: object) -> object:
        whole = torch.rand(x.shape, dtype=x.dtype)
        calls.append(partial(originals[name], whole, *arguments, **options))
        return originals[name](x, *arguments, **options)

    try:
        for name in NAMES:
            setattr(torch.fft, name, partial(recording, name))
        yield
    finally:
        for name, original in originals.items():
            setattr(torch.fft, name, original)


def repeated(calls: list[Callable[[], object]]) -> None:
    """Repeats transforms; their results are dropped, so that the next one reuses the memory."""
    for call in calls:
        call()


def timed(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


@torch.inference_mode()
def row(name: str, samples: torch.Tensor, rounds: int) -> tuple[float, float, list[float], int]:
    """Time over duration of a system and of its transforms, their ratios, and transforms of a
    second.
    """
    system, audio = voicenym.load(name), voicenym.Audio(samples, RATE)
    pseudonym = KEY.pseudonym("benchmark")
    system(audio, pseudonym)
    calls: list[Callable[[], object]] = []
    with recorded(calls):
        system(audio, pseudonym)
    duration = len(samples) / RATE
    pairs = []
    for _ in range(rounds):
        own = timed(lambda: system(audio, pseudonym))
        pairs.append((own, timed(partial(repeated, calls))))
    count = sum(call.args[0].numel() // call.args[0].shape[-1] for call in calls)  # type: ignore[attr-defined]
    own, ffts = (statistics.median(pair[k] for pair in pairs) / duration for k in (0, 1))
    return own, ffts, sorted(a / b for a, b in pairs), round(count / duration)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", help="a mono recording at 16 kHz")
    parser.add_argument("--seconds", type=float, nargs="+", default=[4.0, 60.0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--system", action="append")
    options = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_blocks()
    for seconds in options.seconds:
        samples = signal(seconds, options.speech)
        for name in options.system or SYSTEMS:
            own, ffts, ratios, count = row(name, samples, options.rounds)
            print(
                f"{name:10s} {seconds:5g} s: {own:8.5f}, FFTs {ffts:8.5f} ({count} a second)  "
                f"{statistics.median(ratios):5.2f} x ({ratios[0]:.2f} to {ratios[-1]:.2f})  "
                f"limit {LIMIT:g}",
                flush=True,
            )


if __name__ == "__main__":
    main()
