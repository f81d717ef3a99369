"""Attackers that read word codes, or recogniser states: a network, and counts of codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from word_code_recordings import (
    ENROLLED,
    Sample,
)

from voicenym.metrics.trials.scores import Speakers
from voicenym.metrics.verification.eer import EER, eer
from voicenym.training.speakers.margin_softmax import AngularMargin
from voicenym.verification.plda import PLDA

FEW = 200
"""Frames of a crop that the network learns from, in codes."""


class Network(torch.nn.Module):
    """An attacker: frames to a vector.

    Args:
        enter: embedding of a frame.
    """

    def __init__(self, enter: torch.nn.Module, width: int = 128) -> None:
        super().__init__()
        self.enter = enter
        self.layers = torch.nn.ModuleList(
            [
                torch.nn.Sequential(
                    torch.nn.Conv1d(width, width, 5, padding=2 * d, dilation=d),
                    torch.nn.GELU(),
                    torch.nn.BatchNorm1d(width),
                )
                for d in (1, 2, 3)
            ]
        )
        self.weigh = torch.nn.Conv1d(width, 1, 1)
        self.leave = torch.nn.Sequential(
            torch.nn.BatchNorm1d(2 * width),
            torch.nn.Dropout(0.3),
            torch.nn.Linear(2 * width, width),
        )

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        """``[batch, frame, ...]`` to ``[batch, element]``."""
        x = self.enter(frames).transpose(1, 2)
        for layer in self.layers:
            x = x + layer(x)
        weights = self.weigh(x).softmax(2)
        mean = (x * weights).sum(2)
        deviation = ((x - mean[:, :, None]).square() * weights).sum(2).clamp_min(1e-6).sqrt()
        return self.leave(torch.cat([mean, deviation], 1))


class Codes(torch.nn.Module):
    """Embedded codes, books summed."""

    def __init__(self, entries: int, books: int, width: int = 128) -> None:
        super().__init__()
        self.tables = torch.nn.ModuleList(
            [torch.nn.Embedding(entries, width) for _ in range(books)]
        )

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        found = [table(codes[..., i]) for i, table in enumerate(self.tables)]
        return torch.stack(found).sum(0)


def attackers_vectors(
    enter: Callable[[], torch.nn.Module],
    known: Sequence[torch.Tensor],
    speakers: Sequence[str],
    tried: Sequence[torch.Tensor],
    steps: int,
    seed: int,
    crop: int,
) -> np.ndarray:
    """Vectors ``[recording, element]`` of the trials by a trained network."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    names = sorted(set(speakers))
    own = {name: [x for x, s in zip(known, speakers, strict=True) if s == name] for name in names}
    network = Network(enter())
    margin = AngularMargin(128, len(names), margin=0.1)
    optimizer = torch.optim.AdamW(
        [*network.parameters(), *margin.parameters()], lr=2e-3, weight_decay=1e-2
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    network.train()
    for _ in range(steps):
        labels = rng.integers(len(names), size=32)
        rows = []
        for label in labels:
            x = own[names[label]][rng.integers(len(own[names[label]]))]
            while len(x) < crop:  # recordings of a speaker, one after the other
                x = torch.cat([x, own[names[label]][rng.integers(len(own[names[label]]))]])
            start = int(rng.integers(len(x) - crop + 1))
            rows.append(x[start : start + crop])
        loss = margin(network(torch.stack(rows)), torch.from_numpy(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    network.eval()
    with torch.inference_mode():
        return np.concatenate([network(x[None]).numpy() for x in tried])


def counted(found: Sequence[torch.Tensor], entries: int) -> np.ndarray:
    """Square roots of the shares of codes ``[recording, book * entry]``."""
    return np.array(
        [
            np.concatenate(
                [
                    np.bincount(x[:, b], minlength=entries) / max(1, len(x))
                    for b in range(x.shape[1])
                ]
            )
            ** 0.5
            for x in found
        ]
    )


def trials(vectors: np.ndarray, tried: Sequence[Sample]) -> tuple[np.ndarray, np.ndarray]:
    """Cosines ``[model, trial]`` of mean vectors and single ones, and who they are."""
    who = sorted({one.speaker for one in tried})
    places = {s: [i for i, one in enumerate(tried) if one.speaker == s] for s in who}
    normal = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    models = np.stack([normal[places[s][:ENROLLED]].mean(0) for s in who])
    models /= np.linalg.norm(models, axis=1, keepdims=True)
    rest = [i for s in who for i in places[s][ENROLLED:]]
    owner = np.array([who.index(tried[i].speaker) for i in rest])
    return models @ normal[rest].T, owner


def error_rate(scores: np.ndarray, owner: np.ndarray) -> EER:
    models, which = np.indices(scores.shape).reshape(2, -1)
    pairs = np.stack([models, owner[which]], axis=1)
    same = pairs[:, 0] == pairs[:, 1]
    values = scores[models, which]
    return eer(values[same], values[~same], Speakers(pairs[same], pairs[~same]))


def with_interval(found: EER) -> str:
    low, high = found.interval
    return f"{100 * found.value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def leakage(
    name: str,
    known: list[torch.Tensor],
    learnt_: list[Sample],
    tried_: list[torch.Tensor],
    tried: list[Sample],
    entries: int,
    books: int,
    steps: int,
) -> None:
    """Print the attackers' equal error rates."""
    size = known[0].shape[-1]
    centred = np.concatenate([x.float().mean(0, keepdim=True).numpy() for x in known])

    def enter() -> torch.nn.Module:
        if entries:
            return Codes(entries, books)
        return torch.nn.Sequential(torch.nn.LayerNorm(size), torch.nn.Linear(size, 128))

    speakers = [one.speaker for one in learnt_]
    crop = FEW if entries else 2 * FEW
    sums = []
    for seed in range(3):
        vectors = attackers_vectors(enter, known, speakers, tried_, steps, seed, crop)
        sums.append(trials(vectors - vectors.mean(0), tried)[0])
    scores, owner = np.mean(sums, axis=0), trials(vectors, tried)[1]
    print(
        f"{name}: network, three seeds: EER {with_interval(error_rate(scores, owner))} %",
        flush=True,
    )
    if entries:
        x, y = counted(known, entries), counted(tried_, entries)
    else:
        x = centred
        y = np.concatenate([v.mean(0, keepdim=True).numpy() for v in tried_])
    centre = x.mean(0)
    axes = np.linalg.svd(x - centre, full_matrices=False)[2][:150]
    x, y = (x - centre) @ axes.T, (y - centre) @ axes.T
    plda = PLDA.train(x, speakers)
    who = sorted({one.speaker for one in tried})
    places = {s: [i for i, one in enumerate(tried) if one.speaker == s] for s in who}
    rest = [i for s in who for i in places[s][ENROLLED:]]
    by_counts = plda.score([y[places[s][:ENROLLED]] for s in who], y[rest])
    kind = "counts" if entries else "means"
    print(
        f"{name}: {kind}, two covariances: EER {with_interval(error_rate(by_counts, owner))} %",
        flush=True,
    )
    both = (scores - scores.mean()) / scores.std() + (
        by_counts - by_counts.mean()
    ) / by_counts.std()
    print(f"{name}: both: EER {with_interval(error_rate(both, owner))} %", flush=True)
