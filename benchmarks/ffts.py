"""Filter systems against the Fourier transforms that they contain.

    python benchmarks/ffts.py [--speech FILE.wav] [--seconds 4 60] [--rounds 5] [--system vtln ...]

Prints, for each system and length of recording, processing time over duration, the same of its
Fourier transforms alone (same number, sizes, precisions; in arrays of the same shapes), and their
ratio: both by the processor's clock on one core, in turns, the median of the rounds with the least
and the greatest. The speaker's voice is drawn once before, as in a folder with several recordings
of a speaker.

A second ratio is to these transforms and the work of libraries that takes their place or is not a
transform: matrix products (the inverse transform of ``pv-tsm``, at steps that are no whole number
of samples), the low-pass filter of the pitch tracker, rate conversion by soxr and random noise.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import soxr
import torch
from torch.overrides import TorchFunctionMode

import voicenym
from speed import KEY, RATE, signal
from voicenym.dsp.voice_source import Noise
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


class Filters(TorchFunctionMode):
    """Mode that appends each matrix product and convolution, with its own arrays, to a list."""

    def __init__(self, calls: list[Callable[[], object]]) -> None:
        super().__init__()
        self._calls = calls

    def __torch_function__(
        self, function: Callable[..., object], types: object, args: Any = (), kwargs: Any = None
    ) -> object:
        if getattr(function, "__name__", "") in ("matmul", "conv1d"):
            self._calls.append(partial(function, *args, **(kwargs or {})))
        return function(*args, **(kwargs or {}))


@contextmanager
def recorded_filters(calls: list[Callable[[], object]]) -> Iterator[None]:
    """Context manager that appends each product, convolution, rate conversion and draw of noise."""
    convert, draw = soxr.ResampleStream.resample_chunk, Noise.next

    def converted(stream: soxr.ResampleStream, x: Any, last: bool = False) -> object:
        def again() -> None:
            stream.clear()
            convert(stream, x, last)

        found = convert(stream, x, last)
        calls.append(again)
        return found

    def drawn(noise: Noise, length: int) -> torch.Tensor:
        calls.append(partial(draw, noise, length))
        return draw(noise, length)

    try:
        soxr.ResampleStream.resample_chunk, Noise.next = converted, drawn  # type: ignore[method-assign]
        with Filters(calls):
            yield
    finally:
        soxr.ResampleStream.resample_chunk, Noise.next = convert, draw  # type: ignore[method-assign]


def repeated(calls: list[Callable[[], object]]) -> None:
    """Repeats transforms; their results are dropped, so that the next one reuses the memory."""
    for call in calls:
        call()


def timed(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


class Row(NamedTuple):
    """Figures of a system and a length."""

    own: float
    """Time over duration."""
    ffts: float
    """The same of its transforms."""
    times: list[float]
    """The system's time over that of the transforms, of all rounds, in rising order."""
    times_all: list[float]
    """The same over that of transforms, products, filters and noise."""
    count: int
    """Transforms of a second."""


@torch.inference_mode()
def row(name: str, samples: torch.Tensor, rounds: int) -> Row:
    """Measures a system."""
    system, audio = voicenym.load(name), voicenym.Audio(samples, RATE)
    pseudonym = KEY.pseudonym("benchmark")
    system(audio, pseudonym)
    calls: list[Callable[[], object]] = []
    others: list[Callable[[], object]] = []
    with recorded(calls):
        system(audio, pseudonym)
    with recorded_filters(others):
        system(audio, pseudonym)
    duration = len(samples) / RATE
    rows = []
    for _ in range(rounds):
        own = timed(lambda: system(audio, pseudonym))
        rows.append((own, timed(partial(repeated, calls)), timed(partial(repeated, others))))
    count = sum(call.args[0].numel() // call.args[0].shape[-1] for call in calls)  # type: ignore[attr-defined]
    own, ffts = (statistics.median(one[k] for one in rows) / duration for k in (0, 1))
    return Row(
        own,
        ffts,
        sorted(own / ffts for own, ffts, _ in rows),
        sorted(own / (ffts + filters) for own, ffts, filters in rows),
        round(count / duration),
    )


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
            found = row(name, samples, options.rounds)
            shown = [
                f"{statistics.median(times):5.2f} x ({times[0]:.2f} to {times[-1]:.2f})"
                for times in (found.times, found.times_all)
            ]
            print(
                f"{name:10s} {seconds:5g} s: {found.own:8.5f}, FFTs {found.ffts:8.5f} "
                f"({found.count} a second)  {shown[0]}  limit {LIMIT:g}; "
                f"with products, filters and noise {shown[1]}",
                flush=True,
            )


if __name__ == "__main__":
    main()
