"""Speed of embedding a corpus, as a share of real time, and against the rate of convolutions.

    python benchmarks/embedding.py [--recordings 48] [--threads 1 2] [--device cuda]

The corpus is noise of mixed lengths, 1 to 20 s. Networks have the published sizes and random
weights. The limit is the rate of multiplications and additions that this machine reaches in a large
convolution of PyTorch, 1,024 channels of three frames, measured between the runs of each network;
"share of it" is what the network's own multiplications and additions reach, the filterbank's time
included. "Of its own" is the share of the time in which the network's own convolutions and matrix
products, of the same shapes, are done alone: what is left are filterbank, norms, pooling, and the
order of the work. "Large batches" is the network alone, on batches of 4 recordings of 4 s.

Times on a processor are of all its threads together, divided by their number: others may use the
machine, and to wait for them is no work; but a thread that waits for its own sibling counts. On a
GPU they are those of the clock.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from voicenym.nets.speakers.dvector import LAYERS, MELS, PART_FRAMES, SIZE, DVector, part_starts
from voicenym.nets.speakers.ecapa import BANDS, Ecapa
from voicenym.nets.speakers.speaker_encoder import RATE, Encoder
from voicenym.nets.speakers.tdnn_layers import Conv, laid_out
from voicenym.nets.speakers.xvector import Projection, XVector

HOP = 160
REPEATS = 5
BATCH = (4, 4 * RATE)
LIMIT = 0.05
PRODUCTS = (
    "aten.mm", "aten.addmm", "aten.bmm", "aten.baddbmm", "aten.matmul", "aten.linear",
    "aten.convolution", "aten.conv1d", "mkldnn._linear_pointwise", "mkldnn._convolution_pointwise",
)  # fmt: skip
"""Operations that are products of matrices, or convolutions."""


def ecapa_products(network: Ecapa, frames: int) -> int:
    """Multiplications of a recording's convolutions; pooling's context is one frame's."""
    c = network.config()["channels"]
    width, joined, attention = c // 8, 3 * c, network.config()["attention"]
    block = 2 * c * c + 7 * 3 * width * width
    return frames * (5 * BANDS * c + 3 * block + joined * joined + 2 * joined * attention)


def xvector_products(network: XVector, frames: int) -> int:
    convs = [m.conv.weight.numel() for m in network.modules() if isinstance(m, Conv)]
    last = [m.w.weight.numel() for m in network.modules() if isinstance(m, Projection)]
    return frames * sum(convs) + sum(last)


def dvector_products(network: DVector, frames: int) -> int:
    frame = 4 * SIZE * (MELS + SIZE) + (LAYERS - 1) * 4 * SIZE * 2 * SIZE
    return len(part_starts(frames)) * PART_FRAMES * frame


NETWORKS: dict[str, tuple[Callable[[], Encoder], Callable[..., int]]] = {
    "ecapa-1024": (lambda: Ecapa(1_024), ecapa_products),
    "ecapa-512": (lambda: Ecapa(512), ecapa_products),
    "xvector": (XVector, xvector_products),
    "dvector": (DVector, dvector_products),
}


def corpus(count: int) -> list[torch.Tensor]:
    """Noise, ``count`` recordings ``[time]`` whose lengths have equal shares of an octave."""
    generator = torch.Generator().manual_seed(0)
    seconds = 20.0 ** torch.rand(count, generator=generator)
    return [0.1 * torch.randn(int(RATE * s), generator=generator) for s in seconds]


class Clock:
    """Seconds of a call.

    Args:
        device: what computes.
        threads: on a processor.
    """

    def __init__(self, device: str, threads: int) -> None:
        self.device, self.threads = device, threads

    def __call__(self, function: Callable[[], object]) -> float:
        if self.device != "cpu":
            torch.cuda.synchronize()
            start = time.perf_counter()
            function()
            torch.cuda.synchronize()
            return time.perf_counter() - start
        start = time.process_time()
        function()
        return (time.process_time() - start) / self.threads


def convolution(device: str) -> tuple[Callable[[], object], int]:
    """A large convolution, and its multiplications."""
    batch, channels, frames, kernel = (2, 1_024, 402, 3) if device == "cpu" else (64, 1_024, 402, 3)
    weight = torch.randn(channels, channels, kernel, device=device) / 50
    values = torch.randn(batch, channels, frames, device=device)
    products = batch * (frames - kernel + 1) * kernel * channels**2
    return lambda: torch.nn.functional.conv1d(values, weight), products


class Recorded(TorchDispatchMode):
    """Records convolutions and matrix products, for :meth:`alone`."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[tuple[Callable[..., object], tuple[object, ...], dict[str, object]]] = []
        self._arrays: dict[object, torch.Tensor] = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        if str(func.overloadpacket) in PRODUCTS:
            self._calls.append((func, tree_map(self._other, args), kwargs or {}))
        return func(*args, **(kwargs or {}))

    def _other(self, value: object) -> object:
        """An array of the same shape with other numbers, one for all calls, so that it is warm;
        the same where it is no plain array.
        """
        if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
            return value
        if not value.is_contiguous():
            return value
        name = value.shape, value.dtype
        if name not in self._arrays:
            self._arrays[name] = torch.randn(value.shape, dtype=value.dtype)
        return self._arrays[name]

    @torch.inference_mode()
    def alone(self) -> None:
        """Repeats them, and nothing else."""
        for func, args, kwargs in self._calls:
            func(*args, **kwargs)


def of_its_own(clock: Clock, function: Callable[[], object], rounds: int = REPEATS) -> list[float]:
    """Shares of a network's time that its own products need alone, in rising order."""
    function()
    recorded = Recorded()
    with recorded:
        function()
    recorded.alone()
    return sorted(clock(recorded.alone) / clock(function) for _ in range(rounds))


def against(clock: Clock, function: Callable[[], object], products: int) -> tuple[float, float]:
    """Seconds, and the share of the convolution's rate, medians of runs between convolutions."""
    peer, peers = convolution(clock.device)
    for _ in range(2):
        function()
        peer()
    spent, shares = [], []
    before = clock(peer)
    for _ in range(REPEATS):
        spent.append(clock(function))
        after = clock(peer)
        shares.append(products / spent[-1] / (2 * peers / (before + after)))
        before = after
    return statistics.median(spent), statistics.median(shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=int, default=48)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    options = parser.parse_args()
    torch.backends.cudnn.allow_tf32 = False
    recordings = corpus(options.recordings)
    duration = sum(len(r) for r in recordings) / RATE
    print(f"{len(recordings)} recordings, {duration:.0f} s; PyTorch {torch.__version__}")
    print(f"{'network':12s} {'threads':>7s} {'of real time':>13s} {'share of it':>12s} ", end="")
    print(f"{'of its own':>18s} {'large batches':>14s}")
    for threads in options.threads if options.device == "cpu" else [1]:
        torch.set_num_threads(threads)
        clock = Clock(options.device, threads)
        for name in options.networks:
            make, count = NETWORKS[name]
            network = make().eval().to(options.device)
            products = sum(count(network, len(r) // HOP + 1) for r in recordings)
            spent, share = against(clock, lambda n=network: n.embed(recordings), products)
            with torch.inference_mode(), laid_out(network):
                rows = BATCH[0] if options.device == "cpu" else 64
                waveforms = torch.randn(rows, BATCH[1], device=options.device)
                features = network.features(waveforms)
                products = rows * count(network, features.shape[1])
                work = lambda n=network, f=features: n.encode(f)  # noqa: E731
                _, large = against(clock, work, products)
            own = of_its_own(clock, lambda n=network: n.embed(recordings), 3)
            shown = f"{own[1]:.2f} ({own[0]:.2f}-{own[-1]:.2f})"
            missed = " (over the limit)" if spent / duration > LIMIT else ""
            print(
                f"{name:12s} {threads:7d} {spent / duration:13.4f} {share:12.2f} {shown:>18s} "
                f"{large:14.2f}" + missed,
                flush=True,
            )


if __name__ == "__main__":
    main()
