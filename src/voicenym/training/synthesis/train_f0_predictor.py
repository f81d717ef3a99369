"""Training of an F0 predictor: likelihood of normalised ln F0, and of voicing, given content."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import lightning.pytorch as pl
import numpy as np
import torch

from voicenym.dsp.pitch.contour_changes import Moments
from voicenym.errors import CorpusError
from voicenym.nets.content.content_encoder import RATE
from voicenym.nets.masked_batch import valid
from voicenym.nets.synthesis.f0_predictor import F0Predictor
from voicenym.training.run.adamw_config import AdamWConfig
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine
from voicenym.training.speech.epoch_sampling import PaddedCrops
from voicenym.training.synthesis.synthesis_dataset import ConditionedUtterance

FEWEST_VOICED = 20
"""Voiced frames of a speaker, below which the speaker's moments are unknown."""
MONITORED = "nats"


@dataclass(frozen=True)
class F0PredictorConfig(AdamWConfig):
    """Configuration of the training.

    Args:
        options: of :class:`~voicenym.nets.synthesis.f0_predictor.F0Predictor`, without
            ``content``, ``every`` and ``hop``.
        seconds: length of a crop; shorter utterances are padded.
        batch: crops in a step.
    """

    options: dict[str, Any] = field(default_factory=dict)
    seconds: float = 4.0
    batch: int = 16
    steps: int = 6000


class Contour(NamedTuple):
    """A crop, or a batch of crops.

    Args:
        content: ``[frame, element]``, zeros after the end.
        length: content frames.
        f0: ``[frame * every]``, normalised ln F0; NaN where unvoiced.
    """

    content: torch.Tensor
    length: torch.Tensor
    f0: torch.Tensor


def speaker_moments(
    items: Sequence[ConditionedUtterance],
) -> dict[str, tuple[float, float]]:
    """Mean and deviation of ln F0 by speaker, of those with enough voiced frames."""
    by_speaker: dict[str, list[np.ndarray]] = {}
    for item in items:
        by_speaker.setdefault(item.utterance.speaker, []).append(item.f0)
    found = {}
    for speaker, contours in by_speaker.items():
        whole = np.concatenate(contours)
        if (whole > 0).sum() >= FEWEST_VOICED:
            moments = Moments(1)
            moments.add(torch.from_numpy(whole)[None])
            mean, std = moments.result()
            found[speaker] = (float(mean), float(std))
    return found


def contour(
    item: ConditionedUtterance, first: int, count: int, moments: tuple[float, float]
) -> Contour:
    """``count`` content frames of an item from ``first`` on, padded with zeros."""
    rows = np.load(item.content, mmap_mode="r", allow_pickle=False)[first : first + count]
    every, size = item.every, count * item.every
    f0 = item.f0[first * every : first * every + size]
    rows = rows[: -(-len(f0) // every)]
    z = np.full(size, np.nan, dtype=np.float32)
    voiced = np.flatnonzero(f0 > 0)
    z[voiced] = (np.log(f0[voiced]) - moments[0]) / moments[1]
    content = np.zeros((count, rows.shape[1]), dtype=np.float32)
    content[: len(rows)] = rows
    return Contour(torch.from_numpy(content), torch.tensor(len(rows)), torch.from_numpy(z))


class ContourCrops(PaddedCrops[ConditionedUtterance, Contour]):
    """An epoch of crops.

    Args:
        items: to crop.
        moments: of the speakers, of :func:`speaker_moments`; others are left out.
        frames: content frames of a crop.
        count: crops in an epoch.
        seed: of the draws.

    Raises:
        CorpusError: no speaker has moments.
    """

    def __init__(
        self,
        items: Sequence[ConditionedUtterance],
        moments: Mapping[str, tuple[float, float]],
        frames: int,
        count: int,
        seed: int,
    ) -> None:
        known = [item for item in items if item.utterance.speaker in moments]
        if not known:
            raise CorpusError("no speaker has voiced speech to learn F0 from; give other speech")
        super().__init__(known, [i.frames // i.every for i in known], frames, count, seed)
        self._moments = moments

    def drawn(self, rng: np.random.Generator) -> Contour:
        item, first = self.placed(rng)
        return contour(item, first, self.size, self._moments[item.utterance.speaker])


class WholeContours(torch.utils.data.Dataset[Contour]):
    """Whole held-out utterances.

    Args:
        items: utterances.
        moments: of the speakers; others are left out.
    """

    def __init__(
        self,
        items: Sequence[ConditionedUtterance],
        moments: Mapping[str, tuple[float, float]],
    ) -> None:
        self._items = [item for item in items if item.utterance.speaker in moments]
        self._moments = moments

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> Contour:
        item = self._items[index]
        count = -(-item.frames // item.every)
        return contour(item, 0, count, self._moments[item.utterance.speaker])


def losses(network: F0Predictor, batch: Contour) -> dict[str, torch.Tensor]:
    """Mean negative log-likelihoods, in nats: of normalised ln F0 over voiced frames, of voicing
    over all frames; and the share of frames whose voicing is wrong.
    """
    found = network(batch.content, batch.length)
    inside = valid(batch.length * network.every, batch.f0.shape[1])
    voiced = inside & ~batch.f0.isnan()
    z = torch.where(voiced, batch.f0, 0.0)
    nats = torch.nn.functional.gaussian_nll_loss(
        found.mean, z, found.deviation.square(), full=True, reduction="none"
    )
    voicing = torch.nn.functional.binary_cross_entropy_with_logits(
        found.voicing, voiced.float(), reduction="none"
    )
    wrong = ((found.voicing > 0) != voiced)[inside].float().mean()
    return {
        "F0": nats[voiced].sum() / voiced.sum().clamp_min(1),
        "voicing": voicing[inside].mean(),
        "voicing errors": wrong,
    }


class PredictingF0(pl.LightningModule):
    """The training step and the validation.

    Args:
        network: to train.
        config: of the training.
    """

    def __init__(self, network: F0Predictor, config: F0PredictorConfig) -> None:
        super().__init__()
        self.network, self.recipe = network, config

    def configure_optimizers(self) -> torch.optim.Optimizer:
        recipe = self.recipe
        return torch.optim.AdamW(
            self.network.parameters(), lr=recipe.rate, weight_decay=recipe.decay
        )

    def training_step(self, batch: Sequence[torch.Tensor], index: int) -> torch.Tensor:
        found = losses(self.network, Contour(*batch))
        self.log_dict({f"train/{name}": value.detach() for name, value in found.items()})
        return found["F0"] + found["voicing"]

    def validation_step(self, batch: Sequence[torch.Tensor], index: int) -> None:
        one = Contour(*batch)
        found = losses(self.network, one)
        size = int(one.length.sum())
        self.log(MONITORED, found["F0"] + found["voicing"], batch_size=size, sync_dist=True)
        for name, value in found.items():
            self.log(name, value, batch_size=size, sync_dist=True)


def train(
    network: F0Predictor,
    items: Sequence[ConditionedUtterance],
    held_out: Sequence[ConditionedUtterance],
    config: F0PredictorConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train a predictor; afterwards it has the weights of its best validation.

    Args:
        network: new, or with weights to continue from.
        items: training utterances.
        held_out: the same of held-out speakers.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: no training or no validation utterances.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    frames = max(1, round(config.seconds * RATE / (network.hop * network.every)))
    count = machine.crops(config.every, config.batch)
    crops = ContourCrops(items, speaker_moments(items), frames, count, config.seed)
    watched = WholeContours(held_out, speaker_moments(held_out))
    if not len(watched):
        raise CorpusError("no held-out speaker has voiced speech; give more speakers")
    outcome = fit_configured(
        PredictingF0(network, config),
        torch.utils.data.DataLoader(crops, config.batch, drop_last=True, **machine.loading),
        torch.utils.data.DataLoader(watched, 1),
        folder,
        config,
        seconds,
        monitor=MONITORED,
        machine=machine,
        say=say,
    )
    network.eval()
    return outcome
