"""Speed of the systems: share of real time on one core, against a peer and a limit of this machine.

    python benchmarks/speed.py [--seconds 120] [--speech FILE.wav]

Prints, for each system, processing time over duration at 16 kHz, by the processor's clock; for
``mcadams`` also the ratio to a straightforward frame-by-frame implementation
(``mcadams_reference.py``), the ratio to a general eigenvalue solver alone, and to the limit: its
multiplications and additions at the rate at which this machine does batched vector operations,
measured in the same run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch

import mcadams_reference
import voicenym
from voicenym.anonymizer import usable
from voicenym.corpus import DEFAULT_SYSTEM
from voicenym.dsp.envelopes import lpc
from voicenym.dsp.overlap_add import root_hann
from voicenym.nets.words.word_codes.code_memory import fresh_memory

RATE = 16000
FRAMES_PER_SECOND = 100
ORDER, LENGTH = 20, 320
STEPS = 12.0
"""Weierstrass steps a frame of speech takes on average, 9.1 of them in single precision."""
PAIRS = 5
"""Times that we and the peer are measured in turns."""
LENGTHS = (4.0, 7.5, 20.0)
"""Seconds of recordings that are anonymized one by one, as in a folder of utterances."""
KEY = voicenym.Key(bytes(32), None)


def best(
    *functions: Callable[[], object],
    repeats: int = 3,
    clock: Callable[[], float] = time.process_time,
) -> list[float]:
    """Least of several times of each, in seconds, in turns, after one run that is not counted.

    By default the processor's time, which other programs on the machine change less.
    """
    least = [float("inf")] * len(functions)
    for function in functions:
        function()
    for _ in range(repeats):
        for k, function in enumerate(functions):
            start = clock()
            function()
            least[k] = min(least[k], clock() - start)
    return least


def anonymized(
    system: voicenym.Anonymizer, audio: voicenym.Audio, pseudonym: voicenym.Pseudonym
) -> voicenym.Audio:
    """Output for a recording that was not analysed before: no codes of it are remembered."""
    with fresh_memory():
        return system(audio, pseudonym)


def signal(seconds: float, path: str | None) -> torch.Tensor:
    """Speech from a file, repeated to the length, or a noisy buzz where none is given."""
    wanted = round(seconds * RATE)
    if path:
        audio = voicenym.read(path)
        samples = torch.atleast_2d(audio.samples)[0]
        if audio.rate != RATE:
            sys.exit(f"{path}: needs {RATE} Hz")
    else:
        generator = torch.Generator().manual_seed(0)
        noise = torch.randn(wanted, 1, generator=generator, dtype=torch.float64)
        pole = torch.tensor([[1.0], [-1.6], [0.9]], dtype=torch.float64)
        samples = 0.03 * lpc.synthesize(noise[: RATE * 10], pole)[:, 0].float()
    return samples.repeat(-(-wanted // len(samples)))[:wanted]


def operations_per_frame() -> float:
    """Multiplications and additions of one mcadams frame."""
    autocorrelation = 2 * LENGTH * (ORDER + 1)
    levinson = 4 * ORDER * ORDER
    half = ORDER // 2
    factors = STEPS * half * (4 * ORDER + 9 * (half - 1) + 30)
    filters = 2 * 2 * LENGTH * ORDER
    return autocorrelation + levinson + factors + filters + 12 * LENGTH


def vector_rate() -> float:
    """Float64 operations per second of one multiply-add over an array that fits the cache."""
    a, b, c = (torch.rand(4096 * 10, dtype=torch.float64) for _ in range(3))
    repeats = 200

    def run() -> None:
        for _ in range(repeats):
            a.addcmul_(b, c)

    return 2 * repeats * a.numel() / best(run)[0]


def recording_rows(samples: torch.Tensor) -> None:
    """``mcadams`` on recordings of a few seconds against the peer, pair by pair."""
    pseudonym = KEY.pseudonym("benchmark")
    for name in ("mcadams", "mcadams-radius"):
        system = voicenym.load(name)
        for seconds in LENGTHS:
            count = round(seconds * RATE)
            starts = range(0, max(1, min(len(samples) - count, 8 * count)), count)
            parts = [samples[start : start + count] for start in starts]
            audios = [voicenym.Audio(part, RATE) for part in parts]
            peer = parts[0].double().numpy()
            pairs = []
            for _ in range(PAIRS):
                (own,) = best(lambda s=system, a=audios: [s(x, pseudonym) for x in a], repeats=1)
                (other,) = best(
                    partial(
                        mcadams_reference.anonymize, peer, 0.8, predict=mcadams_reference.by_burg
                    ),
                    repeats=1,
                )
                pairs.append((own / len(parts) / seconds, other / seconds))
            ratios = sorted(other / own for own, other in pairs)
            label = f"{name}, recordings of {seconds:g} s, median of {PAIRS} pairs"
            print(
                f"{label:44s} {np.median([own for own, _ in pairs]):9.5f}   "
                f"{ratios[PAIRS // 2]:6.1f} x frame by frame ({ratios[0]:.1f} to {ratios[-1]:.1f})"
            )


def mcadams_rows(samples: torch.Tensor) -> None:
    """Compare with the peer and the limits, in seconds per second of audio."""
    duration = len(samples) / RATE
    part = samples[: RATE * 10].double().numpy()
    system, audio = voicenym.load("mcadams"), voicenym.Audio(samples, RATE)
    pseudonym = KEY.pseudonym("benchmark")
    names = ("by_burg", "by_autocorrelation")
    peers = [
        partial(mcadams_reference.anonymize, part, 0.8, predict=getattr(mcadams_reference, name))
        for name in names
    ]
    own, *others = best(lambda: system(audio, pseudonym), *peers, repeats=PAIRS)
    own /= duration
    for name, seconds in zip(names, others, strict=True):
        peer = seconds / (len(part) / RATE)
        label = f"mcadams: frame by frame, {name.replace('_', ' ')}"
        print(f"{label:44s} {peer:9.5f}   {peer / own:6.1f} x ours")
    frames = (samples.unfold(0, LENGTH, LENGTH // 2) * root_hann(LENGTH)).T.double()[:, :1000]
    a, _ = lpc.levinson(lpc.autocorrelation(frames.contiguous(), ORDER))
    companion = torch.diag(torch.ones(ORDER - 1, dtype=torch.float64), -1).repeat(1000, 1, 1)
    companion[:, 0] = -a[1:].T[: len(companion)]
    solver = best(lambda: torch.linalg.eigvals(companion))[0] / (1000 / FRAMES_PER_SECOND)
    print(f"{'mcadams: eigenvalues alone':44s} {solver:9.5f}   {solver / own:6.1f} x ours")
    limit = operations_per_frame() * FRAMES_PER_SECOND / vector_rate()
    print(f"{'mcadams: limit by operations':44s} {limit:9.5f}   {limit / own:6.2f} x ours")


def start_rows(samples: torch.Tensor) -> None:
    """Import and ``--help`` against importing torch, as whole processes."""

    def process(*arguments: str) -> float:
        return best(
            lambda: subprocess.run(arguments, check=True, capture_output=True),
            clock=time.perf_counter,
        )[0]

    torch_import = process(sys.executable, "-c", "import torch")
    for name, arguments in (
        ("import voicenym", (sys.executable, "-c", "import voicenym")),
        ("voicenym --help", (sys.executable, "-m", "voicenym", "--help")),
    ):
        seconds = process(*arguments)
        print(f"{name:44s} {seconds:7.3f} s   {seconds / torch_import:6.2f} x import torch")
    print(f"{'import torch':44s} {torch_import:7.3f} s")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.wav"), Path(folder, "out.wav")
        voicenym.write(source, voicenym.Audio(samples[: 10 * RATE], RATE))
        for name in ("mcadams", DEFAULT_SYSTEM):
            command = ("anonymize", str(source), "-o", str(target), "--overwrite")
            seconds = process(sys.executable, "-m", "voicenym", *command, "--system", name)
            system, audio = voicenym.load(name), voicenym.read(source)
            pseudonym = KEY.pseudonym("benchmark")
            work = best(lambda s=system, a=audio, p=pseudonym: anonymized(s, a, p))[0]
            print(
                f"{f'start to finish, 10 s, {name}':44s} {seconds:7.3f} s   "
                f"{seconds / (torch_import + work):6.2f} of 1.5 x import torch + processing"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--speech", help="a mono recording at 16 kHz")
    options = parser.parse_args()
    torch.set_num_threads(1)
    samples = signal(options.seconds, options.speech)
    audio = voicenym.Audio(samples, RATE)
    print(f"{options.seconds:g} s of {'speech' if options.speech else 'noise'}, one core")
    print(f"{'':44s} time / duration")
    own = {}
    for name in usable():
        system = voicenym.load(name)
        pseudonym = KEY.pseudonym("benchmark")
        (seconds,) = best(lambda s=system, p=pseudonym: anonymized(s, audio, p), repeats=2)
        own[name] = seconds / options.seconds
        limit = 0.003 if name.startswith("mcadams") else 0.05
        print(f"{name:44s} {own[name]:9.5f}   {own[name] / limit:6.2f} of {limit}")
    doubled = voicenym.Audio(torch.cat([samples, samples]), RATE)
    (twice,) = best(lambda: voicenym.load("mcadams")(doubled, KEY.pseudonym("benchmark")))
    linear = twice / options.seconds / own["mcadams"] / 2
    print(f"{'mcadams: twice the length, per second':44s} {'':9s}   {linear:6.2f} x")
    recording_rows(samples)
    mcadams_rows(samples)
    start_rows(samples)


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
