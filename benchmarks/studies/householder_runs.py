"""Householder networks of several losses and seeds at the paper's length, side by side on one GPU.

    python benchmarks/studies/householder_runs.py --vectors VECTORS/ -o runs/ [--minutes 8]

Miao et al. (2023) train ROH and LOH by AAM or w-AAM and a cosine loss, for 130,000 steps; here the
cosine loss is also left out. An attacker has networks of another seed. A step is some hundreds of
kernels that are shorter than their launches, so that each run's steps are captured in a CUDA graph,
batches and learning rates included, and all runs are replayed in turns on streams of their own. The
steps are those of ``voicenym train householder``; only the order of the operations differs where a
graph needs it: W of ROH is built, and bases of LOH are made by Gram and Schmidt's method. On a CPU,
the same steps run without graphs.

Writes, for each run, the network of its best validation as ``voicenym train householder --half``
does, and ``curves.tsv``: every 1,000 steps the training loss, the held-out one, the cosine of a
vector and its pseudo-speaker, and the share of pseudo-speakers that the loss's classifier finds.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from pathlib import Path

import numpy as np
import torch

from voicenym.identity.pools.speaker_pool import Pool
from voicenym.identity.pools.speaker_pool import load as load_pool
from voicenym.nets.identity.householder_checkpoint import Rotation, save
from voicenym.nets.identity.reflections import product
from voicenym.training.identity.train_householder import (
    HouseholderConfig,
    Pseudonymisation,
    kept_out,
    network,
)

LOSSES = {
    "aam": {"loss": "aam", "weight": 0.0},
    "w-aam": {"loss": "w-aam", "weight": 0.0},
    "aam+cos": {"loss": "aam", "weight": 20.0},
    "w-aam+cos": {"loss": "w-aam", "weight": 20.0},
}
"""The paper's are the last two; its starred systems have the last one. No run of the third is
recorded."""
FORMS = ("roh", "loh")
SEEDS = (50, 1986)
"""Of users and of attackers."""
AT_ONCE = 10
"""Steps of a graph."""
COLUMNS = ("run", "step", "loss", "held-out loss", "cosine", "classified %")


class Turning(Pseudonymisation):
    """The product's step, with operations that a CUDA graph can hold."""

    def objective(
        self, vectors: torch.Tensor, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        net = self.network
        if net.form != "roh":
            return super().objective(vectors, labels)
        whole = product(net.vectors)
        turn = whole[0]
        for layer in whole[1:]:
            turn = layer @ turn
        self.turn = turn
        return super().objective(vectors, labels)


def orthonormal(matrices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Q and R of ``[..., row, column]`` by Gram and Schmidt's method, each column twice, because a
    graph cannot hold the library's decomposition.
    """
    basis: list[torch.Tensor] = []
    for column in matrices.unbind(-1):
        rest = column
        for _ in range(2):
            for other in basis:
                rest = rest - (other * rest).sum(-1, keepdim=True) * other
        basis.append(rest / rest.norm(dim=-1, keepdim=True))
    found = torch.stack(basis, -1)
    return found, found.mT @ matrices


class Run:
    """One training.

    Args:
        name: of its folder.
        config: of the training.
        pool: vectors of utterances.
        device: ``cpu`` or ``cuda``.
    """

    def __init__(self, name: str, config: HouseholderConfig, pool: Pool, device: str) -> None:
        self.name, self.config, self.pool, self.device = name, config, pool, device
        index = {speaker: i for i, speaker in enumerate(sorted(set(pool.speakers)))}
        labels = torch.tensor([index[speaker] for speaker in pool.speakers])
        vectors = pool.vectors.float()
        out = kept_out(pool, config.held_out, config.seed)
        net = network(config, pool.size)
        net.learn_statistics(vectors[~out])
        torch.manual_seed(config.seed + 1)
        self.module = Turning(net, len(index), config).to(device)
        if net.form == "roh":
            net.rotated = lambda z: z @ self.module.turn.mT  # type: ignore[method-assign]
        self.vectors, self.labels = vectors[~out].to(device), labels[~out].to(device)
        self.out_vectors, self.out_labels = vectors[out].to(device), labels[out].to(device)
        rng = np.random.default_rng(config.seed)
        rows = rng.integers(len(self.vectors), size=(config.steps, config.batch))
        self.rows = torch.from_numpy(rows.astype(np.int32)).to(device)
        shares = [config.schedule(step / config.steps) for step in range(config.steps)]
        self.rates = torch.tensor(shares, device=device) * config.rate
        self.step = torch.zeros(1, dtype=torch.int64, device=device)
        self.rate = torch.tensor(0.0, device=device)
        self.loss = torch.tensor(0.0, device=device)
        weights = list(self.module.parameters())
        on_gpu = device == "cuda"
        self.optimizer = torch.optim.Adam(
            weights, lr=self.rate, fused=True if on_gpu else None, capturable=on_gpu
        )
        self.best = float("inf")
        self.state: dict[str, torch.Tensor] = {}
        self.best_step = self.done = 0
        self.curve: list[tuple[object, ...]] = []
        self.graph: torch.cuda.CUDAGraph | None = None
        self.stream = torch.cuda.Stream() if on_gpu else None

    def train_step(self) -> None:
        """One step, with its batch and its learning rate."""
        rows = self.rows.index_select(0, self.step)[0].long()
        self.rate.copy_(self.rates.index_select(0, self.step)[0])
        loss, _ = self.module.objective(self.vectors[rows], self.labels[rows])
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss.copy_(loss.detach())
        self.step.add_(1)

    def capture(self) -> None:
        """Make the graph; the steps before it count."""
        assert self.stream is not None
        with torch.cuda.stream(self.stream):
            for _ in range(AT_ONCE):
                self.train_step()
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=self.stream):
            for _ in range(AT_ONCE):
                self.train_step()
        self.done = AT_ONCE

    def advance(self) -> None:
        """Some steps more."""
        if self.graph is None:
            for _ in range(AT_ONCE):
                self.train_step()
        else:
            with torch.cuda.stream(self.stream):
                self.graph.replay()
        self.done += AT_ONCE

    @torch.no_grad()
    def validate(self) -> None:
        """Figures of the vectors that are held out; keeps the best network."""
        module = self.module
        loss, turned = module.objective(self.out_vectors, self.out_labels)
        cosine = torch.nn.functional.cosine_similarity(self.out_vectors, turned, dim=1).mean()
        right = module.head.logits(turned).argmax(1) == self.out_labels + module.speakers
        held_out = float(loss)
        self.curve.append(
            (
                self.name,
                self.done,
                *(f"{float(x):.4f}" for x in (self.loss, loss, cosine)),
                f"{100.0 * float(right.float().mean()):.1f}",
            )
        )
        if held_out < self.best:
            self.best, self.best_step = held_out, self.done
            self.state = {k: v.clone() for k, v in module.network.state_dict().items()}

    def write(self, folder: Path) -> None:
        """Writes the best network."""
        made = network(self.config, self.pool.size)
        made.load_state_dict({k: v.cpu() for k, v in self.state.items()})
        card = {
            "vectors": len(self.pool),
            "speakers": self.pool.people,
            "encoder": self.pool.encoder,
            "loss": self.config.loss,
            "weight of the cosine loss": self.config.weight,
            "seed": self.config.seed,
            "steps": self.best_step,
            "held-out loss": self.best,
        }
        rotation = Rotation(made.eval(), self.pool.encoder, self.pool.version)
        save(rotation, folder / self.name, card, half=True)


def check(run: Run) -> float:
    """Largest difference between the network's own results and those of the graph's operations."""
    plain = network(run.config, run.pool.size)
    plain.load_state_dict({k: v.cpu() for k, v in run.module.network.state_dict().items()})
    with torch.no_grad():
        ours = run.module.objective(run.vectors[:64], run.labels[:64])[1]
        return float((plain(run.vectors[:64].cpu()) - ours.cpu()).abs().max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--output", "-o", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=HouseholderConfig.steps)
    parser.add_argument("--every", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--only", nargs="*", default=[], help="parts of names of runs")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.linalg.qr = orthonormal
    pool = load_pool(options.vectors)
    runs = []
    for form in FORMS:
        for loss, weights in LOSSES.items():
            for seed in SEEDS:
                name = f"{form}-{loss}-{seed}"
                if not options.only or any(part in name for part in options.only):
                    config = HouseholderConfig(form=form, seed=seed, steps=options.steps, **weights)
                    runs.append(Run(name, config, pool, device))
    start = time.monotonic()
    for run in runs:
        print(f"{run.name}: off by {check(run):.1e}", flush=True)
        if device == "cuda":
            run.capture()
    print(f"{len(runs)} runs, ready after {time.monotonic() - start:.1f} s", flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    while runs[0].done < options.steps and time.monotonic() - start < 60.0 * options.minutes:
        for run in runs:
            run.advance()
        if runs[0].done % options.every == 0:
            if device == "cuda":
                torch.cuda.synchronize()
            for run in runs:
                run.validate()
            if runs[0].done % (10 * options.every) == 0:
                each = (time.monotonic() - start) / runs[0].done
                print(f"step {runs[0].done}, {1000.0 * each:.2f} ms a step of all", flush=True)
                finish(runs, options.output)
    finish(runs, options.output)
    print(f"{runs[0].done} steps in {time.monotonic() - start:.0f} s", flush=True)


def finish(runs: list[Run], folder: Path) -> None:
    """Writes networks and curves."""
    for run in runs:
        if run.state:
            run.write(folder)
    lines = ["\t".join(map(str, line)) for run in runs for line in run.curve]
    text = "\n".join(["\t".join(COLUMNS), *lines]) + "\n"
    (folder / "curves.tsv").write_text(text, "utf-8")
    fields = [f"{f.name}: {f.default}" for f in dataclasses.fields(HouseholderConfig)]
    (folder / "config.txt").write_text("\n".join(fields) + "\n", "utf-8")


if __name__ == "__main__":
    main()
