"""Time of a resynthesis system by part, against the limit of its arithmetic on this machine.

    python benchmarks/resynthesis.py --speech FILE.wav [--seconds 20] [--threads 1] [--weights DIR]
    python benchmarks/resynthesis.py --speech FILE.wav --device cuda --rows 64

For each part of ``base`` and for the whole: multiply-adds per second of speech, processor time over
duration, and that over the limit: its multiply-adds at the rate at which this machine multiplies
matrices, measured in the same run. Then the live form: its delay, how long its first sound takes
beyond that in blocks of 20 ms, and its time over duration. With ``--rows``, so many signals are
worked on at once; on an accelerator, elapsed time counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import soundfile
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import voicenym
from embedding import Clock
from voicenym.dsp.pitch.online import PitchStream
from voicenym.nets.content.bottleneck import EVERY, HOP, RATE
from voicenym.resynthesis.bundled.analysis import AveragesReader
from voicenym.resynthesis.bundled.base_core import ResynthesisCore, Voice
from voicenym.resynthesis.bundled.model_parts import Parts
from voicenym.systems.base import Base

BLOCK = RATE // 50


def best(clock: Clock, function: Callable[[], object], times: int = 5) -> float:
    """Least of several times in seconds, after one run that is not counted."""
    function()
    return min(clock(function) for _ in range(times))


def operations(function: Callable[[], object]) -> int:
    """Multiply-adds in matrix products, convolutions and attention, which is counted in its plain
    form.
    """
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        function()
    return int(counter.get_total_flops()) // 2


def rate_of_products(clock: Clock, width: int, rows: int) -> float:
    """Multiply-adds per second of a product the size of the networks' layers."""
    one = torch.randn(rows, width, device=clock.device)
    other = torch.randn(width, 256, device=clock.device)
    return rows * width * 256 / best(clock, lambda: one @ other, 50)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True, help="a mono recording at 16 kHz")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--weights", default="")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", type=int, default=1, help="signals at once")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device, rows = options.device, options.rows
    clock = Clock(device, options.threads)
    system = Base(weights=options.weights, device=device)
    parts = system.parts
    key = voicenym.Key(bytes(32), None)
    pseudonyms = [key.pseudonym(f"speaker {row}") for row in range(rows)]
    samples, rate = soundfile.read(options.speech, dtype="float32", always_2d=True)
    if rate != RATE:
        raise SystemExit(f"{options.speech}: needs {RATE} Hz")
    length = round(options.seconds * RATE) // (EVERY * HOP) * EVERY * HOP
    mono = torch.from_numpy(samples[:, 0].copy())
    signal = mono.repeat(-(-length // len(mono)))[None, :length].repeat(rows, 1).to(device)
    voice = system.voice(pseudonyms)
    averages = AveragesReader(parts, rows, None, device)
    averages.push(signal)
    known = averages.result()
    with torch.inference_mode():
        heard = parts.content.front_end(signal)
        numbers = parts.content(heard.bands - known.bands[:, None], voice.seeds)
        content = parts.conditions(numbers, heard.power - known.power[:, None])
        f0 = torch.full(content.shape[:2], 150.0, device=device)

    def reading() -> None:
        reader = AveragesReader(parts, rows, None, device)
        reader.push(signal)
        reader.result()

    def whole() -> None:
        core = ResynthesisCore(parts, voice, known, device)
        core.push(signal)
        core.flush()

    named: dict[str, Callable[[], object]] = {
        "averages": reading,
        "pitch": lambda: PitchStream(rows, RATE, device=device).push(signal),
        "content": lambda: parts.content(
            parts.content.front_end(signal).bands - known.bands[:, None], voice.seeds
        ),
        "synthesis": lambda: parts.synthesizer(content, f0, voice.vectors, voice.seeds),
        "whole, averages known": whole,
    }
    product = rate_of_products(clock, 768, 2000 if device == "cpu" else 200_000)
    seconds = rows * length / RATE
    where = f"{options.threads} threads" if device == "cpu" else device
    print(f"{rows} at once, {where}, {product / 1e9:.0f} billion multiply-adds a second")
    print(f"{'':24s} {'M / s':>8s} {'of real time':>12s} {'x limit':>8s}")
    with torch.inference_mode():
        for name, function in named.items():
            needed = operations(function)
            taken = best(clock, function)
            limit = needed / product
            ratio = f"{taken / limit:8.1f}" if limit else f"{'':8s}"
            print(f"{name:24s} {needed / seconds / 1e6:8.0f} {taken / seconds:12.5f} {ratio}")
    if rows == 1:
        live(parts, voice, signal, device)


def live(parts: Parts, voice: Voice, signal: torch.Tensor, device: str) -> None:
    """The line of the live form."""
    core = ResynthesisCore(parts, voice, None, device)
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
    taken = (time.process_time() - started) * RATE / signal.shape[1]
    print(
        f"live, blocks of 20 ms: delay {1000 * core.latency / RATE:.0f} ms, first sound after "
        f"{1000 * (first or 0):.0f} ms of input, slowest block {1000 * slowest:.1f} ms, "
        f"{taken:.3f} of real time"
    )


if __name__ == "__main__":
    main()
