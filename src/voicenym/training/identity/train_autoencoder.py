"""Training of the autoencoder of S1 and S2: reconstructs speaker vectors, and hides the speaker.

Encoder and decoder minimise MSE - sum_k w_k CE_k, each adversary k its own cross-entropy CE_k, by
reversed gradients in one step (Espinoza-Cuadros et al. 2020).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import lightning.pytorch as pl
import torch

from voicenym.errors import CorpusError
from voicenym.identity.pools.speaker_pool import Pool
from voicenym.nets.identity.vector_autoencoder import Adversaries, Autoencoder
from voicenym.training.run.fit import Limits, Outcome, fit
from voicenym.training.run.machine import Machine

UNKNOWN = -100
"""Label of a row whose speaker, sex or accent is not known."""
KEPT = 5
"""Period of held-out utterances: every so many-th of a speaker is for validation."""


@dataclass(frozen=True)
class AutoencoderConfig:
    """Configuration of the training; S2 is S1 with optimised settings.

    Args:
        code, hidden: of the network.
        speaker, sex, accent: weights of the adversaries; 0 leaves one out.
        rate: of learning.
        batch: vectors in a step.
        steps: maximum number of optimizer steps.
        every: steps from one validation to the next.
        seed: of all random draws.
    """

    code: int = 64
    hidden: int = 256
    speaker: float = 0.1
    sex: float = 0.1
    accent: float = 0.1
    rate: float = 1e-3
    batch: int = 128
    steps: int = 2000
    every: int = 200
    seed: int = 0


class Hiding(pl.LightningModule):
    """The training step and the validation.

    Args:
        network: to train.
        adversaries: classifiers.
        weights: of each adversary.
        rate: of learning.
    """

    def __init__(
        self,
        network: Autoencoder,
        adversaries: Adversaries,
        weights: Mapping[str, float],
        rate: float,
    ) -> None:
        super().__init__()
        self.network, self.adversaries = network, adversaries
        self.weights, self.rate = dict(weights), rate

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), self.rate)

    def losses(self, batch: Sequence[torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean squared error in standard deviations, and the adversaries' cross-entropies."""
        vectors, *labels = batch
        code = self.network.encode(vectors)
        rebuilt = self.network.standard(self.network.decode(code))
        error = torch.nn.functional.mse_loss(rebuilt, self.network.standard(vectors))
        logits = self.adversaries(code, self.weights)
        entropies = {
            name: _entropy(logits[name], own) for name, own in zip(logits, labels, strict=True)
        }
        return error, entropies

    def training_step(self, batch: Sequence[torch.Tensor], index: int) -> torch.Tensor:
        error, entropies = self.losses(batch)
        # the weights are in the reversed gradients; the adversaries themselves learn at full rate
        return error + sum(entropies.values(), torch.zeros_like(error))

    def validation_step(self, batch: Sequence[torch.Tensor], index: int) -> None:
        error, entropies = self.losses(batch)
        self.log("MSE", error)
        objective = error
        for name, value in entropies.items():
            self.log(f"CE {name}", value)
            # chance is the best possible result
            guess = math.log(self.adversaries.branches[name][-1].out_features)  # type: ignore
            objective = objective - self.weights[name] * value.clamp_max(guess)
        self.log("objective", objective)


def train(
    pool: Pool,
    config: AutoencoderConfig,
    folder: Path,
    *,
    accents: Sequence[str] | None = None,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[Autoencoder, Outcome]:
    """Train on vectors of utterances; afterwards the network is that of its best validation.

    Args:
        pool: utterances, several of each speaker.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        accents: of each utterance (or languages, or corpora), empty where unknown; None for none.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: speakers with a single utterance, or only one speaker.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`.
    """
    kept = _kept(pool.speakers)
    names = {"speaker": list(pool.speakers), "sex": list(pool.sexes)}
    if accents is not None:
        names["accent"] = list(accents)
    weights = {name: float(getattr(config, name)) for name in names}
    labels: dict[str, torch.Tensor] = {}
    classes: dict[str, int] = {}
    for name, values in names.items():
        known = sorted(set(values) - {""})
        if weights[name] > 0.0 and len(known) > 1:
            place = {value: i for i, value in enumerate(known)}
            labels[name] = torch.tensor([place.get(value, UNKNOWN) for value in values])
            classes[name] = len(known)
    if "speaker" not in labels and config.speaker > 0.0:
        raise CorpusError("one speaker only: two are needed; add speakers")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        network = Autoencoder(pool.size, config.code, config.hidden)
        adversaries = Adversaries(config.code, classes)
    data = torch.utils.data.TensorDataset(pool.vectors.float(), *labels.values())
    network.adapt(pool.vectors.float()[~kept])
    training = torch.utils.data.Subset(data, (~kept).nonzero().flatten().tolist())
    validation = torch.utils.data.Subset(data, kept.nonzero().flatten().tolist())
    sampler = torch.utils.data.RandomSampler(
        training,
        replacement=True,
        num_samples=config.every * config.batch,
        generator=torch.Generator().manual_seed(config.seed),
    )
    module = Hiding(network, adversaries, weights, config.rate)
    outcome = fit(
        module,
        torch.utils.data.DataLoader(training, config.batch, sampler=sampler),
        torch.utils.data.DataLoader(validation, len(validation)),
        folder,
        Limits(config.steps, config.every, seconds),
        monitor="objective",
        machine=machine or Machine("cpu"),
        seed=config.seed,
        say=say,
    )
    return network.eval().cpu(), outcome


def _entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy of the rows whose label is known; 0 without any, where a mean is NaN."""
    known = labels != UNKNOWN
    if not known.any():
        return 0.0 * logits.sum()
    return torch.nn.functional.cross_entropy(logits[known], labels[known])


def _kept(speakers: Sequence[str]) -> torch.Tensor:
    """Mask of held-out utterances ``[row]``: the last of every :data:`KEPT` of a speaker.

    Raises:
        CorpusError: no speaker has two.
    """
    count: dict[str, int] = {}
    kept = []
    for name in speakers:
        count[name] = count.get(name, 0) + 1
        kept.append(count[name] % KEPT == 2)
    if not any(kept):
        raise CorpusError(
            "no speaker has two utterances: build the vectors with voicenym pool build --utterances"
        )
    return torch.tensor(kept)
