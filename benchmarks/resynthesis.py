"""Where the time of a resynthesis system goes, against what its arithmetic must take here.

    python benchmarks/resynthesis.py --speech FILE.wav [--seconds 20] [--threads 1] [--weights DIR]

For each part of ``base`` and for the whole: multiply-adds per second of speech, processor time over
duration, and that over the limit: its multiply-adds at the rate at which this machine multiplies
matrices, measured in the same run. Then the live form: its delay, how long its first sound takes
beyond that in blocks of 20 ms, and its time over duration.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import soundfile
import torch
from torch.utils.flop_counter import FlopCounterMode

import voicenym
from voicenym.dsp.pitch.online import PitchStream
from voicenym.nets.content.bottleneck import EVERY, HOP, RATE
from voicenym.resynthesis.core import ResynthesisCore
from voicenym.resynthesis.recording import AveragesReader
from voicenym.systems.base import Base

BLOCK = RATE // 50


def best(function: Callable[[], object], times: int = 5) -> float:
    """Least of several times in seconds, after one run that is not counted.

    Processor time divided by the threads that may work: others' work counts little.
    """
    function()
    found = []
    for _ in range(times):
        started = time.process_time()
        function()
        found.append((time.process_time() - started) / torch.get_num_threads())
    return min(found)


def operations(function: Callable[[], object]) -> int:
    """Multiply-adds in matrix products and convolutions."""
    with FlopCounterMode(display=False) as counter:
        function()
    return int(counter.get_total_flops()) // 2


def rate_of_products(width: int = 768, rows: int = 2000) -> float:
    """Multiply-adds per second of a product the size of the networks' layers."""
    one, other = torch.randn(rows, width), torch.randn(width, 256)
    return rows * width * 256 / best(lambda: one @ other, 50)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True, help="a mono recording at 16 kHz")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--weights", default="")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    system = Base(weights=options.weights)
    parts = system.parts
    pseudonym = voicenym.Key(bytes(32)).pseudonym("speaker")
    samples, rate = soundfile.read(options.speech, dtype="float32", always_2d=True)
    if rate != RATE:
        raise SystemExit(f"{options.speech}: needs {RATE} Hz")
    length = round(options.seconds * RATE) // (EVERY * HOP) * EVERY * HOP
    mono = torch.from_numpy(samples[:, 0].copy())
    signal = mono.repeat(-(-length // len(mono)))[None, :length]
    voice = system.voice([pseudonym])
    averages = AveragesReader(parts, 1, None)
    averages.push(signal)
    known = averages.result()
    with torch.inference_mode():
        heard = parts.content.ear(signal)
        numbers = parts.content(heard.bands - known.bands[:, None], voice.seeds)
        content = parts.conditions(numbers, heard.power - known.power[:, None])
        f0 = torch.full(content.shape[:2], 150.0)

    def reading() -> None:
        reader = AveragesReader(parts, 1, None)
        reader.push(signal)
        reader.result()

    def whole() -> None:
        core = ResynthesisCore(parts, voice, known)
        core.push(signal)
        core.flush()

    named: dict[str, Callable[[], object]] = {
        "averages": reading,
        "pitch": lambda: PitchStream(1, RATE).push(signal),
        "content": lambda: parts.content(
            parts.content.ear(signal).bands - known.bands[:, None], voice.seeds
        ),
        "synthesis": lambda: parts.synthesizer(content, f0, voice.vectors, voice.seeds),
        "whole, averages known": whole,
    }
    product = rate_of_products()
    seconds = length / RATE
    print(f"{options.threads} threads, {product / 1e9:.0f} billion multiply-adds a second")
    print(f"{'':24s} {'M / s':>8s} {'of real time':>12s} {'x limit':>8s}")
    with torch.inference_mode():
        for name, function in named.items():
            needed = operations(function)
            taken = best(function)
            limit = needed / product
            ratio = f"{taken / limit:8.1f}" if limit else f"{'':8s}"
            print(f"{name:24s} {needed / seconds / 1e6:8.0f} {taken / seconds:12.4f} {ratio}")
    core = ResynthesisCore(parts, voice, None)
    given, pushed, slowest = 0, 0, 0.0
    started = time.process_time()
    first = None
    for block in signal.split(BLOCK, dim=1):
        began = time.process_time()
        given += core.push(block).shape[1]
        slowest = max(slowest, time.process_time() - began)
        pushed += block.shape[1]
        if given and first is None:
            first = pushed / RATE
    taken = (time.process_time() - started) / seconds
    print(
        f"live, blocks of 20 ms: delay {1000 * core.latency / RATE:.0f} ms, first sound after "
        f"{1000 * (first or 0):.0f} ms of input, slowest block {1000 * slowest:.1f} ms, "
        f"{taken:.3f} of real time"
    )


if __name__ == "__main__":
    main()
