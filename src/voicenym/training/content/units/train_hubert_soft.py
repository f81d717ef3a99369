"""Training of HuBERT-soft: a transformer learns to predict discovered units, also at masked frames.

van Niekerk et al. (ICASSP 2022): HuBERT with a new projection, cross-entropy over units at the
masked frames (and, with a lower weight, at the others), AdamW, crops. The same recipe trains a
HuBERT from scratch on clusters of cepstra, as in the first iteration of Hsu et al. (TASLP 2021).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch

from voicenym.nets.architectures import options_checked
from voicenym.nets.content.content_encoder import Content
from voicenym.nets.content.hubert import HOP, HubertSoft
from voicenym.nets.content.units import Units
from voicenym.nets.masked_batch import valid
from voicenym.training.content.units.train_units import identity, labels
from voicenym.training.content.units.unit_crops import NONE, Item, UnitCrops, WholeUtterances
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import Cyclical, seeded
from voicenym.training.speech.speech_cache import Utterance

LABELS = "labels"


@dataclass(frozen=True)
class SoftConfig:
    """Configuration of the training.

    Args:
        options: of a network from scratch, as of :class:`HubertSoft`; with published weights their
            options hold.
        size: elements of a soft unit: 256, or 200 in Miao et al.
        layers: number of the transformer's first layers to use; 0 for all.
        seconds: length of a crop.
        batch: crops in a step.
        hidden: share of masked frames if spans did not overlap; with 0 no frame is masked, and
            every frame counts.
        span: frames of a masked span.
        weight: of masked frames in the loss; others have the rest.
        rate: peak of the learning rate.
        decay: of the weights (AdamW).
        schedule: of the learning rate.
        steps: maximum number of optimizer steps.
        every: steps from one validation to the next.
        patience: validations without improvement, after which the training stops; 0: no limit.
        held_out: share of the speakers held out for validation and early stopping.
        seed: of all random draws.
    """

    options: dict[str, Any] = field(default_factory=dict)
    size: int = 256
    layers: int = 0
    seconds: float = 8.0
    batch: int = 32
    hidden: float = 0.8
    span: int = 10
    weight: float = 1.0
    rate: float = 2e-5
    decay: float = 0.01
    schedule: Cyclical = field(default_factory=Cyclical)
    steps: int = 25_000
    every: int = 500
    patience: int = 0
    held_out: float = 0.05
    seed: int = 0


def spans(
    counts: torch.Tensor, most: int, share: float, span: int, generator: torch.Generator
) -> torch.Tensor:
    """Mask of frames ``[batch, most]``: spans that may overlap, at least two.

    Baevski et al. (NeurIPS 2020, section 3.1): ``share * frames / span`` starts, drawn from all
    positions with room for a span.

    Args:
        counts: frames of each row, ``[batch]``.
        most: largest number of frames of a row.
        share, span: as of :class:`SoftConfig`.
        generator: of the draws.
    """
    draws = torch.rand(len(counts), most, generator=generator, device=generator.device)
    room = (counts - span + 1).clamp_min(1)
    draws = draws.masked_fill(~valid(room, most), 2.0)
    number = (share * counts / span).round().clamp_min(2).minimum(room)
    order = draws.argsort(1).argsort(1)
    begins = (order < number[:, None]).to(torch.float32)
    run = torch.nn.functional.pad(begins, (span - 1, 0))[:, None]
    hidden = torch.nn.functional.max_pool1d(run, span, 1)[:, 0] > 0
    return hidden & valid(counts, most)


class Prediction(pl.LightningModule):
    """The training step and the validation of HuBERT-soft.

    Args:
        network: to train.
        config: of the training.
    """

    def __init__(self, network: HubertSoft, config: SoftConfig) -> None:
        super().__init__()
        self.network = network
        self.recipe = config

    def configure_optimizers(self) -> torch.optim.Optimizer:
        recipe = self.recipe
        return torch.optim.AdamW(
            self.parameters(), recipe.rate, betas=(0.9, 0.98), eps=1e-6, weight_decay=recipe.decay
        )

    def training_step(self, batch: Item, index: int) -> torch.Tensor:
        samples, units, counts = batch
        hidden = None
        if self.recipe.hidden:
            generator = seeded(self.device, self.recipe.seed, self.global_rank, self.global_step)
            recipe = self.recipe
            hidden = spans(counts, units.shape[1], recipe.hidden, recipe.span, generator)
        losses = self._losses(samples, units, counts, hidden)
        known = units != NONE
        if hidden is None:
            loss = losses[known].mean()
        else:
            weight = self.recipe.weight
            loss = weight * losses[known & hidden].mean()
            visible = known & ~hidden
            if weight < 1.0 and bool(visible.any()):
                loss = loss + (1.0 - weight) * losses[visible].mean()
        self.log("loss", loss, on_step=True, on_epoch=False, prog_bar=True)
        return loss

    def validation_step(self, batch: Item, index: int) -> None:
        samples, units, counts = batch
        soft = self.network.encode(samples)
        logits = self.network.logits(soft).float()
        loss = torch.nn.functional.cross_entropy(logits[0], units[0])
        right = (logits[0].argmax(-1) == units[0]).float().mean()
        number, among = int(counts), self.trainer.world_size > 1
        self.log("nats a frame", loss, batch_size=number, sync_dist=among)
        self.log("units right %", 100.0 * right, batch_size=number, sync_dist=among)

    def _losses(
        self,
        samples: torch.Tensor,
        units: torch.Tensor,
        counts: torch.Tensor,
        hidden: torch.Tensor | None,
    ) -> torch.Tensor:
        """Cross-entropy ``[batch, frame]`` in nats; 0 for padding."""
        found = self.network.hidden(samples, counts * HOP, masked=hidden)
        logits = self.network.logits(self.network.proj(found)).float()
        return torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), units, ignore_index=NONE, reduction="none"
        )


def network(config: SoftConfig, units: Units) -> HubertSoft:
    """A new network, whose weights depend on the seed alone.

    Raises:
        VoicenymError: options that it does not take.
    """
    options = {**config.options, "size": config.size, "units": len(units)}
    if config.layers:
        options["layers"] = config.layers
    with torch.random.fork_rng(devices=[]), options_checked("hubert-soft, options"):
        torch.manual_seed(config.seed)
        return HubertSoft(**options)


def train(
    network: HubertSoft,
    features: Content,
    units: Units,
    speech: Sequence[Utterance],
    held_out: Sequence[Utterance],
    config: SoftConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train a soft encoder; afterwards it has the weights of its best validation.

    Args:
        network: new, or HuBERT with a new projection, or with weights to continue from.
        features: the features that the units cluster.
        units: to predict.
        speech: training utterances.
        held_out: the same of held-out speakers, for validation and early stopping.
        config: of the training.
        folder: of checkpoints, logs and units of frames; an interrupted run there continues.
        seconds: time limit, excluding the computation of units of frames.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        ValueError: a network of another number of units.
        CorpusError: no training utterances.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`, and if units cannot be stored.
    """
    if network.units != len(units):
        raise ValueError(f"the network predicts {network.units} units, not {len(units)}")
    machine = machine or Machine()
    place = folder / LABELS / identity({"source": units.source, "units": len(units)})

    def of(utterance: Utterance) -> np.ndarray:
        return labels(features, units, utterance, place)

    for done, utterance in enumerate([*speech, *held_out], start=1):
        of(utterance)
        if done % 500 == 0:
            say(f"units of {done} of {len(speech) + len(held_out)} utterances are known")
    count = machine.crops(config.every, config.batch)
    crops = UnitCrops(speech, _Kept(place), config.seconds, count, config.seed)
    loader = torch.utils.data.DataLoader(crops, config.batch, **machine.loading)
    kept = torch.utils.data.DataLoader(WholeUtterances(held_out, _Kept(place)), batch_size=None)
    outcome = fit_configured(
        Prediction(network, config),
        loader,
        kept,
        folder,
        config,
        seconds,
        monitor="nats a frame",
        machine=machine,
        clip=10.0,
        say=say,
    )
    network.eval()
    return outcome


class _Kept:
    """Stored units, which are passed to the processes that make crops."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, utterance: Utterance) -> np.ndarray:
        found: np.ndarray = np.load(self._folder / f"{utterance.path.stem}.npy", allow_pickle=False)
        return found
