"""Speed of the cloak's network on one core, at the paper's size and at the bundled one.

    python benchmarks/vcloak.py [--seconds 10]

For each size: parameters; multiply-adds per second of speech, counted from the sizes; the delay of
its stream, and what it consists of; processor time over duration, whole and in blocks of 20 ms, in
single precision and in bf16; and the first over the limit: its multiply-adds at the rate at which
this machine convolves in single precision, measured in the same run. Weights are random.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable

import torch

from voicenym.nets.cloak.cloak import RATE, REACH, Cloak, CloakStream
from voicenym.nets.cloak.geometry import WaveUNetConfig

SIZES = {
    "paper, K 5, stride 4": WaveUNetConfig(),
    "small, K 5, stride 2": WaveUNetConfig((8, 12, 16, 24, 40, 56), stride=2),
}
BLOCK = 320


def best(function: Callable[[], object], least: int = 2) -> float:
    """Least of several processor times in seconds, after one run that is not counted."""
    function()
    times = []
    for _ in range(least):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def convolution_rate() -> float:
    """Multiply-adds per second of a convolution like those in the middle of the paper's size."""
    x, w = torch.randn(1, 128, 8_000), torch.randn(128, 128, 5)
    return 128 * 128 * 5 * 7_996 / best(lambda: torch.nn.functional.conv1d(x, w), 5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    rate = convolution_rate()
    print(f"one core: {rate / 1e9:.0f} G multiply-adds a second in convolutions")
    speech = 0.05 * torch.randn(1, round(options.seconds * RATE))
    epsilon = torch.tensor([0.05])
    for name, config in SIZES.items():
        cloak = Cloak(config).eval()
        voice = torch.randn(1, config.voiceprint)
        parameters = sum(p.numel() for p in cloak.parameters()) / 1e6
        limit = config.operations / rate
        wait = cloak.latency - 2 * REACH - config.side
        print(f"{name}: {config.operations / 1e9:.2f} G multiply-adds a second, {parameters:.2f} M")
        print(
            f"  delay {1000 * cloak.latency / RATE:.0f} ms: half a receptive field "
            f"{1000 * config.side / RATE:.0f}, waiting for the grid {1000 * wait / RATE:.0f}, "
            f"levels {1000 * 2 * REACH / RATE:.0f}"
        )

        def cloaked(
            block: int, brief: bool, cloak: Cloak = cloak, voice: torch.Tensor = voice
        ) -> torch.Tensor:
            factors = cloak.net.factors(voice, epsilon)
            running = CloakStream(cloak, factors, epsilon, brief=brief)
            parts = [running.push(part) for part in speech.split(block, dim=1)]
            return torch.cat([*parts, running.flush()], dim=1)

        exact = cloaked(speech.shape[1], False)
        for brief, called in ((False, "single"), (True, "bf16")):
            spent, live = (
                best(functools.partial(cloaked, block, brief)) / options.seconds
                for block in (speech.shape[1], BLOCK)
            )
            apart = (cloaked(speech.shape[1], brief) - exact).norm() / exact.norm()
            print(
                f"  {called}: {spent:.4f} of real time, the limit {limit:.4f}, "
                f"{spent / limit:.1f} times it; in blocks of 20 ms {live:.4f}; "
                f"apart from single by {apart:.4f} of what is added",
                flush=True,
            )


if __name__ == "__main__":
    main()
