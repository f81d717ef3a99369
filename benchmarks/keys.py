"""A further key of a recording against its first: what an attacker who tries keys pays.

    python benchmarks/keys.py [--speech FILE.wav] [--seconds 4 20] [--rounds 8] [--system recast]

The recording is anonymized under one key, and then under another with its analysis in memory, as
attackers have it (:mod:`voicenym.dsp.analysis_memory`), and without, as a user who anonymizes it
anew has it; by the processor's clock on one core, in turns, each round with other keys. Prints the
time without memory over duration, the ratio of both (median, least and greatest), and the bytes
that a second of the recording keeps in memory. Outputs must be the same samples.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator

import torch

import voicenym
from speed import RATE, signal
from voicenym.dsp.analysis_memory import AnalysisMemory, keeping_analyses
from voicenym.memory import keep_freed_blocks

SYSTEMS = ("mcadams", "mcadams-radius", "formant", "recast", "vtln")


def timed(function: Callable[[], voicenym.Audio]) -> tuple[float, torch.Tensor]:
    start = time.process_time()
    found = function()
    return time.process_time() - start, found.samples


def pairs(name: str, samples: torch.Tensor, rounds: int) -> Iterator[tuple[float, float, int]]:
    """Seconds of a further key and of a first one, and bytes in memory, by round."""
    system, audio = voicenym.load(name), voicenym.Audio(samples, RATE)
    for number in range(rounds + 1):  # the first warms up
        pseudonym = voicenym.Key(bytes([number]) * 32, None).pseudonym("benchmark")
        other = voicenym.Key(bytes([255 - number]) * 32, None).pseudonym("benchmark")
        system(voicenym.Audio(samples[:RATE], RATE), pseudonym)  # the voice is drawn
        first, alone = timed(lambda p=pseudonym: system(audio, p))
        memory = AnalysisMemory()
        with keeping_analyses(memory):
            system(audio, other)
            further, known = timed(lambda p=pseudonym: system(audio, p))
        if not torch.equal(alone, known):
            sys.exit(f"{name}: another output from memory")
        if number:
            yield further, first, memory.bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", help="a mono recording at 16 kHz")
    parser.add_argument("--seconds", type=float, nargs="+", default=[4.0, 20.0])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--system", action="append")
    options = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_blocks()
    for seconds in options.seconds:
        samples = signal(seconds, options.speech)
        for name in options.system or SYSTEMS:
            found = list(pairs(name, samples, options.rounds))
            ratios = sorted(further / first for further, first, _ in found)
            plain = statistics.median(first for _, first, _ in found) / seconds
            print(
                f"{name:15s} {seconds:5g} s: {plain:8.5f}, a further key "
                f"{statistics.median(ratios):5.2f} x ({ratios[0]:.2f} to {ratios[-1]:.2f}), "
                f"{found[-1][2] / seconds / 1000:5.0f} KB a second",
                flush=True,
            )


if __name__ == "__main__":
    main()
