"""Speed of i-vector extraction, as a share of real time on one core, and against a limit.

    python benchmarks/ivector.py [--seconds 8] [--recordings 32]

Models of random parameters have the sizes of a laptop's corpus, of a larger one, and of Kaldi's
recipes; recordings are noise whose level changes, so that three quarters of it count as speech.
Times are of the processor, since others may use the machine. The limit is the multiplications and
additions of frames against components, and of statistics against total variability, at the rate
of a matrix product of this machine, measured in the same run.
"""

from __future__ import annotations

import argparse
import os
from functools import partial

import torch

from processor_time import fastest
from voicenym.dsp.features.cepstra import Cepstra
from voicenym.nets.statistics.background_model import Background
from voicenym.nets.statistics.gaussian_mixture import Mixture
from voicenym.nets.statistics.total_variability import TotalVariability

RATE = 16_000
SIZES = ((64, False, 170), (512, True, 400), (2048, True, 400))
"""Components, whether covariances are matrices, numbers in an i-vector."""
LIMIT = 0.02
REPEATS = 3
seconds = partial(fastest, REPEATS)


def noise(count: int, length: float) -> list[torch.Tensor]:
    """Noise of which a quarter is nearly silent, ``count`` recordings ``[time]``."""
    generator = torch.Generator().manual_seed(0)
    samples = round(length * RATE)
    level = torch.tensor([0.1, 0.1, 1e-6, 0.1]).repeat_interleave(RATE // 4)
    level = level.repeat(-(-samples // RATE))[:samples]
    return [level * torch.randn(samples, generator=generator) for _ in range(count)]


def model(components: int, full: bool, rank: int) -> Background:
    """Random parameters."""
    cepstra = Cepstra()
    d = cepstra.dimension
    generator = torch.Generator().manual_seed(1)
    spread = 100.0 * torch.ones(components, d)
    covariances = torch.diag_embed(spread) if full else spread
    means = 10.0 * torch.randn(components, d, generator=generator)
    mixture = Mixture(torch.full((components,), 1.0 / components), means, covariances)
    factors = torch.randn(components, d, rank, generator=generator)
    return Background(cepstra, mixture, TotalVariability(means, factors, covariances))


def operations(background: Background, frames: int, recordings: int) -> float:
    """Multiplications and additions that no implementation of these formulas can do without."""
    mixture, total = background.mixture, background.variability
    assert total is not None
    d, components, rank = mixture.dimension, mixture.components, total.rank
    moments = d + d * (d + 1) // 2 if mixture.full else 2 * d
    frame = 2 * components * (moments + d)
    recording = 2 * components * (rank * (rank + 1) // 2 + d * rank) + rank**3 // 3
    return frames * frame + recordings * recording


def product_rate() -> float:
    """Operations a second of a single-precision matrix product that is too large for the cache."""
    one, other = torch.randn(1000, 2700), torch.randn(2700, 2048)
    return 2 * 1000 * 2700 * 2048 / seconds(lambda: one @ other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=8.0, help="of a recording")
    parser.add_argument("--recordings", type=int, default=32)
    options = parser.parse_args()
    torch.set_num_threads(1)
    recordings = noise(options.recordings, options.seconds)
    real = options.seconds * options.recordings
    cepstra = Cepstra()
    frames = sum(len(cepstra(x)) for x in recordings)
    rate = product_rate()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"matrix product: {rate / 1e9:.0f} billion operations a second")
    print(f"{frames / real:.0f} frames of speech a second of recording")
    print(f"{'':44s} {'of real time':>13s} {'x limit':>8s}")
    heard = seconds(lambda: [cepstra(x) for x in recordings])
    print(f"{'cepstra of frames with speech':44s} {heard / real:13.4f}")
    for components, full, rank in SIZES:
        background = model(components, full, rank)
        kind = "matrices" if full else "variances"
        whole = seconds(lambda b=background: b.ivectors(recordings))
        least = operations(background, frames, len(recordings)) / rate
        name = f"{components} components with {kind}, {rank} numbers"
        verdict = "" if whole / real <= LIMIT else f"  over {LIMIT:g}"
        print(f"{name:44s} {whole / real:13.4f} {(whole - heard) / least:8.1f}{verdict}")


if __name__ == "__main__":
    main()
