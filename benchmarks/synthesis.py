"""Speed of the synthesis networks on one core, against the limit of their arithmetic on this
machine.

    python benchmarks/synthesis.py [--seconds 10] [--network istft]

For each network: parameters, multiply-adds per second of speech, processor time over duration, and
that over the limit: its multiply-adds at the rate at which this machine multiplies matrices
(layers within frames) and convolves (the rest), both measured in the same run. Then the delay of
its stream, and its stream's time over duration in blocks of 100 ms. Weights are random.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch

from voicenym.nets.synthesis.acoustic_nsf import AcousticNsf
from voicenym.nets.synthesis.hifigan import HifiGan
from voicenym.nets.synthesis.hifigan_generator import GeneratorSize
from voicenym.nets.synthesis.hifigan_nsf import HifiGanNsf
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.nets.synthesis.synthesizer import Synthesizer

CONTENT, SPEAKER = 256, 192
BLOCK_SECONDS = 0.1
SMALL = {"width": 256, "inner": 768, "blocks": 4}


def vocoder(**options: object) -> IstftVocoder:
    return IstftVocoder(CONTENT, SPEAKER, **options)  # type: ignore[arg-type]


NETWORKS: dict[str, Callable[[], Synthesizer]] = {
    "istft, 512, 8": vocoder,
    "istft, 512, 8, hop 320": lambda: vocoder(fft=1280, hop=320),
    "istft, 512, 8, phase": lambda: vocoder(excitation="phase"),
    "istft, 512, 8, as Vocos": lambda: vocoder(
        fft=1024, hop=256, excitation="none", adaptive=False
    ),
    "istft, 512, 8, bfloat16": lambda: vocoder().use_bfloat16(),
    "istft, 256, 4": lambda: vocoder(**SMALL),
    "istft, 256, 4, causal": lambda: vocoder(**SMALL, lookahead=0),
    "hifigan v1": lambda: HifiGan(CONTENT, SPEAKER),
    "hifigan v2": lambda: HifiGan(CONTENT, SPEAKER, GeneratorSize.v2(160)),
    "hifigan v3": lambda: HifiGan(CONTENT, SPEAKER, GeneratorSize.v3(160)),
    "hifigan-nsf v1 (B1.b)": lambda: HifiGanNsf(CONTENT, SPEAKER),
    "acoustic-nsf (B1.a)": lambda: AcousticNsf(CONTENT, SPEAKER),
}


def best(function: Callable[[], object], least: int = 2, seconds: float = 4.0) -> float:
    """Least of several processor times, in seconds, after one run that is not counted.

    With one thread that is the time it takes on a core of its own; others' work counts only as far
    as it crowds caches and memory.
    """
    function()
    times: list[float] = []
    while len(times) < least or sum(times) < seconds:
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def matrix_rate() -> float:
    """Multiply-adds per second of a product of matrices that fit a vocoder's layers."""
    a, b = torch.randn(1000, 512), torch.randn(1536, 512)
    return 1000 * 512 * 1536 / best(lambda: torch.nn.functional.linear(a, b), seconds=1.0)


def convolution_rate() -> float:
    """Multiply-adds per second of a convolution like those of HiFi-GAN's middle stages."""
    x, w = torch.randn(1, 128, 4000), torch.randn(128, 128, 7)
    return 4000 * 128 * 128 * 7 / best(lambda: torch.conv1d(x, w, padding=3), seconds=1.0)


class Counter:
    """Multiply-adds of a network's layers, by hooks."""

    def __init__(self, network: torch.nn.Module) -> None:
        self.matrices = self.convolutions = 0
        for part in network.modules():
            if isinstance(part, (torch.nn.Linear, torch.nn.LSTM)):
                part.register_forward_hook(self._matrix)
            elif isinstance(part, (torch.nn.Conv1d, torch.nn.ConvTranspose1d)):
                part.register_forward_hook(self._convolution)

    def _matrix(self, part: torch.nn.Module, given: tuple[torch.Tensor], _: object) -> None:
        rows = given[0].shape[:-1].numel()
        self.matrices += rows * sum(p.numel() for p in part.parameters() if p.ndim == 2)

    def _convolution(
        self, part: torch.nn.Module, given: tuple[torch.Tensor], made: torch.Tensor
    ) -> None:
        steps = given[0] if isinstance(part, torch.nn.ConvTranspose1d) else made
        weight = part.weight
        self.convolutions += steps.shape[0] * steps.shape[2] * weight.numel()


def row(name: str, network: Synthesizer, seconds: float, rates: tuple[float, float]) -> str:
    """A line of the table."""
    network.eval()
    frames = round(seconds * network.rate / network.hop)
    content, speaker = torch.randn(1, frames, CONTENT), torch.randn(1, SPEAKER)
    f0 = torch.full((1, frames), 120.0)
    f0[:, : frames // 3] = 0

    def stream() -> None:
        running = network.stream(speaker)
        size = round(BLOCK_SECONDS * network.rate / network.hop)
        for start in range(0, frames, size):
            running.push(content[:, start : start + size], f0[:, start : start + size])
        running.flush()

    with torch.inference_mode():
        whole = best(lambda: network(content, f0, speaker)) / seconds
        counter = Counter(network)
        network(content, f0, speaker)
    limit = (counter.matrices / rates[0] + counter.convolutions / rates[1]) / seconds
    parameters = sum(p.numel() for p in network.parameters()) / 1e6
    operations = (counter.matrices + counter.convolutions) / seconds / 1e9
    line = f"{name:30s} {parameters:6.1f} {operations:8.2f} {whole:9.4f} {whole / limit:7.2f}"
    if not network.streams:
        return f"{line}   needs the whole"
    delay = 1000 * network.latency / network.rate
    return f"{line} {delay:7.0f} ms {best(stream, least=1) / seconds:9.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--network", default="", help="part of the names to measure")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rates = matrix_rate(), convolution_rate()
    print(f"one core: {rates[0] / 1e9:.0f} G multiply-adds a second in products of matrices, ")
    print(f"{rates[1] / 1e9:.0f} G in convolutions; {options.seconds:g} s of speech")
    print(f"{'':30s} {'M par.':>6s} {'G ops/s':>8s} {'x real':>9s} {'x limit':>7s}", end="")
    print(f" {'delay':>10s} {'in blocks':>9s}")
    for name, make in NETWORKS.items():
        if options.network in name:
            print(row(name, make(), options.seconds, rates), flush=True)


if __name__ == "__main__":
    main()
