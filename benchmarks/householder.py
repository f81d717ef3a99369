"""Householder networks at the size of Miao et al. 2023: speed against reflections in sequence.

    python benchmarks/householder.py [--threads 1] [--clock process] [--device cuda]

Vectors of 192 elements, 12 layers of 50 reflections (192 in ``roh``), batches of 64. Forward and
backward passes, gradients of all weights. "In sequence" applies one reflection after another, to
all rows at once, by ``x - 2 v (v'x) / (v'v)``, the cheapest way of writing it, with vectors of the
same convolutions and no more of them than are needed. The last columns are a training step, with
both losses over 406 speakers and Adam, and the hours that 130,000 of them would take.

"Of the limit" is the share of this machine's rate of multiplications and additions, in a product of
two matrices of 1,024 rows and columns, that the passes reach with the multiplications that
reflections in sequence need at least: the 2 d of each reflection in each row, three times for both
passes. The compact form needs other ones, and fewer where vectors span four dimensions.

Times are medians. ``--clock process`` counts the seconds of the process's own threads, divided by
their number, for machines that others use as well; ``wall`` counts those of the clock.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch

from voicenym.nets.identity.householder_network import Householder
from voicenym.training.identity.train_householder import (
    HouseholderConfig,
    Pseudonymisation,
    network,
)
from voicenym.training.run.config import changed

SIZE, BATCH, SPEAKERS, STEPS = 192, 64, 406, 130_000
MATRIX = 1_024
KINDS = (
    ("roh", "positions", "input"),
    ("loh", "positions", "input"),
    ("loh", "positions", "layer"),
    ("loh", "filters", "input"),
    ("loh", "filters", "layer"),
)
DENSE = (("loh", "dense", "input"),)


def in_sequence(net: Householder, z: torch.Tensor) -> torch.Tensor:
    """``W z``, one reflection after another."""
    seen = z
    for layer in range(net.layers):
        if net.form == "roh":
            vectors = net.vectors[layer][:, None].unbind(0)
        elif net.reading == "dense":
            weight, bias = net.weight[layer].flatten(0, 1), net.bias[layer].flatten()
            made = torch.nn.functional.linear(seen / net.spread, weight, bias)
            vectors = made.unflatten(1, (net.reflections, net.size)).unbind(1)
        else:
            ends = torch.nn.functional.pad(seen / net.spread, (1, 1))[:, None]
            if net.reading == "positions":
                ends = ends[..., : net.reflections + 2]
            made = torch.nn.functional.conv1d(ends, net.weight[layer][:, None], net.bias[layer])
            vectors = (made.mT.contiguous() if net.reading == "positions" else made).unbind(1)
        for v in vectors:
            z = z - 2.0 * (v * z).sum(1, keepdim=True) / (v * v).sum(1, keepdim=True) * v
        if net.sees == "layer":
            seen = z
    return z


class Clock:
    """Median seconds of a call.

    Args:
        kind: ``process`` or ``wall``.
        threads: of a processor.
        device: what computes.
    """

    def __init__(self, kind: str, threads: int, device: str) -> None:
        self.process = kind == "process" and device == "cpu"
        self.threads, self.device = threads, device

    def now(self) -> float:
        if self.device != "cpu":
            torch.cuda.synchronize()
        return time.process_time() / self.threads if self.process else time.perf_counter()

    def __call__(self, function: Callable[[], object], repeats: int) -> float:
        function()
        spent = []
        for _ in range(repeats):
            start = self.now()
            function()
            spent.append(self.now() - start)
        return statistics.median(spent)


def stepping(kind: tuple[str, str, str], device: str) -> Callable[[], object]:
    """A training step, without reading data."""
    form, reading, sees = kind
    config = changed(HouseholderConfig(), form=form, reading=reading, sees=sees)
    module = Pseudonymisation(network(config, SIZE), SPEAKERS, config).to(device)
    optimizer = module.configure_optimizers()
    vectors = torch.randn(BATCH, SIZE, device=device)
    labels = torch.randint(SPEAKERS, (BATCH,), device=device)

    def step() -> None:
        optimizer.zero_grad()
        loss, _ = module.objective(vectors, labels)
        loss.backward()
        optimizer.step()

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--clock", choices=("process", "wall"), default="process")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--dense", action="store_true", help="the dense reading, too: minutes")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    clock = Clock(options.clock, options.threads, options.device)
    square = torch.randn(MATRIX, MATRIX, device=options.device)
    rate = MATRIX**3 / clock(lambda: square @ square, options.repeats)
    print(
        f"{options.device}, {options.threads} threads, {options.clock} clock, PyTorch "
        f"{torch.__version__}; large matrices: {rate / 1e9:.1f} G multiplications a second"
    )
    head = ("form", "vectors", "see", "ms", "in sequence", "ratio", "of the limit", "step ms", "h")
    print("| " + " | ".join(head) + " |\n" + "| --- " * len(head) + "|")
    for kind in KINDS + (DENSE if options.dense else ()):
        form, reading, sees = kind
        net = Householder(form, SIZE, reading=reading, sees=sees).to(options.device)
        z = torch.randn(BATCH, SIZE, device=options.device)
        grad = torch.randn_like(z)
        weights = list(net.parameters())

        def passes(
            f: Callable[[torch.Tensor], torch.Tensor], w=weights, z=z, g=grad
        ) -> Callable[[], object]:
            return lambda: torch.autograd.grad(f(z), w, g)

        few = max(3, options.repeats // 5)
        # Before and after, so that a machine that others use more and more does not decide.
        before = clock(passes(net.rotated), options.repeats)
        plain = clock(passes(lambda z, n=net: in_sequence(n, z)), few)
        fast = 0.5 * (before + clock(passes(net.rotated), options.repeats))
        products = 3 * 2 * BATCH * net.layers * net.reflections * SIZE
        step = clock(stepping(kind, options.device), few if reading == "dense" else options.repeats)
        shown = (
            form, "free" if form == "roh" else reading, "–" if form == "roh" else sees,
            f"{1e3 * fast:.1f}", f"{1e3 * plain:.0f}", f"{plain / fast:.1f}",
            f"{products / fast / rate:.3f}", f"{1e3 * step:.1f}", f"{step * STEPS / 3600:.2f}",
        )  # fmt: skip
        print("| " + " | ".join(shown) + " |", flush=True)


if __name__ == "__main__":
    main()
