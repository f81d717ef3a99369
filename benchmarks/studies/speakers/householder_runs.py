"""Householder networks of several losses and seeds at the paper's length, as one on a GPU.

    python benchmarks/studies/speakers/householder_runs.py --vectors VECTORS/ -o runs/ [--minutes 8]

Miao et al. (2023) train ROH and LOH by AAM or w-AAM and a cosine loss, for 130,000 steps; here the
cosine loss is also left out. An attacker has networks of another seed. A step is some hundreds of
kernels that are shorter than their launches, so that the runs of a form are one network with a
leading axis, ten steps of which are captured in a CUDA graph, batches and learning rates included.
The steps are those of ``voicenym train householder``; only the order of the operations differs. On
a CPU, the same steps run without a graph.

Writes, for each run, the network of its best validation as ``voicenym train householder --half``
does, and ``curves.tsv``: every 1,000 steps the training loss, the held-out one, the cosine of a
vector and its pseudo-speaker, and the share of pseudo-speakers that the loss's classifier finds.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch

from voicenym.identity.pools.speaker_pool import Pool
from voicenym.identity.pools.speaker_pool import load as load_pool
from voicenym.nets.identity.householder_checkpoint import Rotation, save
from voicenym.nets.identity.reflections import product
from voicenym.nets.identity.small_reflections import products
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
"""The paper's are the last two; its starred systems have the last one."""
FORMS = ("roh", "loh")
SEEDS = (50, 1986)
"""Of users and of attackers."""
AT_ONCE = 10
"""Steps of a graph."""
COLUMNS = ("run", "step", "loss", "held-out loss", "cosine", "classified %")


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
    """One training: its network, its loss, its vectors and their order."""

    def __init__(self, name: str, config: HouseholderConfig, pool: Pool) -> None:
        self.name, self.config, self.pool = name, config, pool
        index = {speaker: i for i, speaker in enumerate(sorted(set(pool.speakers)))}
        labels = torch.tensor([index[speaker] for speaker in pool.speakers])
        vectors = pool.vectors.float()
        out = kept_out(pool, config.held_out, config.seed)
        net = network(config, pool.size)
        net.learn_statistics(vectors[~out])
        torch.manual_seed(config.seed + 1)
        self.module = Pseudonymisation(net, len(index), config)
        self.vectors, self.labels = vectors[~out], labels[~out]
        self.out_vectors, self.out_labels = vectors[out], labels[out]
        rng = np.random.default_rng(config.seed)
        rows = rng.integers(len(self.vectors), size=(config.steps, config.batch))
        self.rows = torch.from_numpy(rows.astype(np.int32))
        self.best, self.best_step = float("inf"), 0
        self.state: dict[str, torch.Tensor] = {}
        self.curve: list[tuple[object, ...]] = []

    @torch.no_grad()
    def validate(self, step: int, training_loss: float) -> None:
        """Figures of the vectors that are held out; keeps the best network."""
        module = self.module
        loss, turned = module.objective(self.out_vectors, self.out_labels)
        cosine = torch.nn.functional.cosine_similarity(self.out_vectors, turned, dim=1).mean()
        right = module.head.logits(turned).argmax(1) == self.out_labels + module.speakers
        figures = (f"{float(x):.4f}" for x in (training_loss, loss, cosine))
        share = f"{100.0 * float(right.float().mean()):.1f}"
        self.curve.append((self.name, step, *figures, share))
        if float(loss) < self.best:
            self.best, self.best_step = float(loss), step
            self.state = {k: v.cpu().clone() for k, v in module.network.state_dict().items()}

    def write(self, folder: Path) -> None:
        """Writes the best network."""
        made = network(self.config, self.pool.size)
        made.load_state_dict(self.state)
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


class Together:
    """Runs of one form as one training, with a leading axis ``[run, ...]``.

    Args:
        runs: of one form and size.
        device: ``cpu`` or ``cuda``.
    """

    def __init__(self, runs: list[Run], device: str) -> None:
        self.runs, self.device, config = runs, device, runs[0].config
        self.form, self.config, self.done = config.form, config, 0
        modules = [run.module.to(device) for run in runs]
        names = [name for name, _ in modules[0].named_parameters()]
        self.weights = {
            name: torch.stack([dict(m.named_parameters())[name].detach() for m in modules])
            for name in names
        }
        for weight in self.weights.values():
            weight.requires_grad_(True)
        self.mean = torch.stack([m.network.mean for m in modules])[:, None]
        self.spread = torch.stack([m.network.spread for m in modules])[:, None, None]
        self.reflections, self.speakers = modules[0].network.reflections, modules[0].speakers

        def each(values: list[float]) -> torch.Tensor:
            return torch.tensor(values, device=device)[:, None]

        self.cosine_weight = each([run.config.weight for run in runs])[:, 0]
        margins = [run.config.pair_margin * (run.config.loss == "w-aam") for run in runs]
        self.pair_margin = each(margins)
        self.margin = each([run.config.margin for run in runs])
        most = max(len(run.vectors) for run in runs)
        self.vectors = torch.zeros(len(runs), most, runs[0].pool.size, device=device)
        self.labels = torch.zeros(len(runs), most, dtype=torch.int64, device=device)
        for row, run in enumerate(runs):
            self.vectors[row, : len(run.vectors)] = run.vectors.to(device)
            self.labels[row, : len(run.labels)] = run.labels.to(device)
            run.out_vectors, run.out_labels = run.out_vectors.to(device), run.out_labels.to(device)
        self.rows = torch.stack([run.rows for run in runs], 1).to(device)
        shares = [config.schedule(step / config.steps) for step in range(config.steps)]
        self.rates = torch.tensor(shares, device=device) * config.rate
        self.step = torch.zeros(1, dtype=torch.int64, device=device)
        self.rate = torch.tensor(0.0, device=device)
        self.losses = torch.zeros(len(runs), device=device)
        on_gpu = device == "cuda"
        self.optimizer = torch.optim.Adam(
            list(self.weights.values()),
            lr=self.rate,
            fused=True if on_gpu else None,
            capturable=on_gpu,
        )
        self.graph: torch.cuda.CUDAGraph | None = None

    def turned(self, x: torch.Tensor) -> torch.Tensor:
        """Pseudo-speakers' vectors of ``[run, row, size]`` (equation 8)."""
        z = x - self.mean
        if self.form == "roh":
            whole = product(self.weights["network.vectors"])
            turn = whole[:, 0]
            for layer in range(1, whole.shape[1]):
                turn = whole[:, layer] @ turn
            return z @ turn.mT + self.mean
        taps = torch.cat(
            (self.weights["network.weight"], self.weights["network.bias"][..., None]), 3
        )
        basis, lengths = orthonormal(taps)  # [run, layer, size, 4], [run, layer, 4, 4]
        ends = torch.nn.functional.pad(z / self.spread, (1, 1))[..., : self.reflections + 2]
        shifted = [ends[..., tap : tap + self.reflections] for tap in range(3)]
        windows = torch.stack((*shifted, torch.ones_like(shifted[0])), 0)  # [4, run, row, q]
        vectors = torch.einsum("nlik,knrq->qinlr", lengths, windows)
        runs, layers, rows = vectors.shape[2:]
        turns = products(vectors.flatten(2)).unflatten(2, (runs, layers, rows))
        turns = turns.permute(2, 3, 4, 0, 1)  # [run, layer, row, 4, 4]
        for layer in range(layers):
            seen = z @ basis[:, layer]
            moved = (turns[:, layer] @ seen[..., None])[..., 0] - seen
            z = z + moved @ basis[:, layer].mT
        return z + self.mean

    def objective(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Loss of each run (equation 5), of vectors ``[run, row, size]`` and labels."""
        normal = torch.nn.functional.normalize
        turned = self.turned(x)
        alike = torch.nn.functional.cosine_similarity(x, turned, dim=2).clamp_min(0.0).mean(1)
        cosine = (
            normal(torch.cat((x, turned), 1), dim=2)
            @ normal(self.weights["head.weight"], dim=2).mT.contiguous()
        )
        own = torch.cat((labels, labels + self.speakers), 1)
        pair = torch.cat((labels + self.speakers, labels), 1)
        at_own, at_pair = cosine.gather(2, torch.stack((own, pair), 2)).unbind(2)
        moved = torch.stack(
            (moved_by(at_own, self.margin), -moved_by(-at_pair, self.pair_margin)), 2
        )
        logits = self.config.scale * cosine.scatter(2, torch.stack((own, pair), 2), moved)
        each = torch.nn.functional.cross_entropy(logits.mT, own, reduction="none").mean(1)
        return self.cosine_weight * alike + each

    def train_step(self) -> None:
        """One step of all runs, with its batches and its learning rate."""
        rows = self.rows.index_select(0, self.step)[0].long()
        self.rate.copy_(self.rates.index_select(0, self.step)[0])
        x = self.vectors.gather(1, rows[..., None].expand(-1, -1, self.vectors.shape[2]))
        losses = self.objective(x, self.labels.gather(1, rows))
        losses.sum().backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.losses.copy_(losses.detach())
        self.step.add_(1)

    def capture(self) -> None:
        """Make the graph; the steps before it count."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(AT_ONCE):
                self.train_step()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            for _ in range(AT_ONCE):
                self.train_step()
        self.done = AT_ONCE

    def advance(self) -> None:
        """Some steps more."""
        if self.graph is None:
            for _ in range(AT_ONCE):
                self.train_step()
        else:
            self.graph.replay()
        self.done += AT_ONCE

    @torch.no_grad()
    def validate(self) -> None:
        """Validates each run."""
        losses = self.losses.tolist()
        for row, run in enumerate(self.runs):
            for name, weight in run.module.named_parameters():
                weight.copy_(self.weights[name][row])
            run.validate(self.done, losses[row])

    @torch.no_grad()
    def check(self) -> float:
        """Largest difference between these losses and those of the product's step."""
        x, labels = self.vectors[:, :64], self.labels[:, :64]
        ours = self.objective(x, labels)
        theirs = [run.module.objective(x[row], labels[row])[0] for row, run in enumerate(self.runs)]
        return float((ours - torch.stack(theirs)).abs().max())


def moved_by(cosine: torch.Tensor, margin: torch.Tensor) -> torch.Tensor:
    """``cos(theta + margin)``, as :class:`PairedMargin` has it, with a margin for each run."""
    sine = (1.0 - cosine.square()).clamp_min(1e-7).sqrt()
    turned = cosine * margin.cos() - sine * margin.sin()
    return torch.where(cosine < -margin.cos(), cosine - margin * margin.sin(), turned)


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
    pool = load_pool(options.vectors)
    options.output.mkdir(parents=True, exist_ok=True)
    start, deadline = time.monotonic(), math.inf
    deadline = start + 60.0 * options.minutes
    lines = ["\t".join(COLUMNS)]
    for form in FORMS:
        runs = []
        for loss, weights in LOSSES.items():
            for seed in SEEDS:
                name = f"{form}-{loss}-{seed}"
                if not options.only or any(part in name for part in options.only):
                    config = HouseholderConfig(form=form, seed=seed, steps=options.steps, **weights)
                    runs.append(Run(name, config, pool))
        if runs:
            lines += train(runs, device, options.every, deadline, options.output)
            (options.output / "curves.tsv").write_text("\n".join(lines) + "\n", "utf-8")


def train(runs: list[Run], device: str, every: int, deadline: float, folder: Path) -> list[str]:
    """Trains runs of one form, writes their networks, and returns their curves."""
    start, steps = time.monotonic(), runs[0].config.steps
    whole = Together(runs, device)
    print(f"{len(runs)} of {whole.form}: losses off by {whole.check():.1e}", flush=True)
    if device == "cuda":
        whole.capture()
    while whole.done < steps and time.monotonic() < deadline:
        whole.advance()
        if whole.done % every == 0:
            whole.validate()
            if whole.done % (10 * every) == 0:
                each = (time.monotonic() - start) / whole.done
                print(f"step {whole.done}, {1000.0 * each:.2f} ms a step of all", flush=True)
                for run in runs:
                    run.write(folder)
    for run in runs:
        if run.state:
            run.write(folder)
    print(f"{whole.done} steps in {time.monotonic() - start:.0f} s", flush=True)
    return ["\t".join(map(str, line)) for run in runs for line in run.curve]


if __name__ == "__main__":
    main()
