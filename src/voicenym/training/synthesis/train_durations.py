"""Training of a duration predictor: ratios of typical to found durations of phones, given content.

A phone loop finds phones and their durations. Each frame of a phone is to give the ratio of the
phone's mean duration, over all speakers, to the one that it has, so that the ratios of a phone sum
up to its mean duration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import lightning.pytorch as pl
import numpy as np
import numpy.typing as npt
import torch

from voicenym.errors import CorpusError
from voicenym.nets.content.content_encoder import RATE
from voicenym.nets.masked_batch import valid
from voicenym.nets.synthesis.duration_predictor import DurationPredictor
from voicenym.nets.words.phone_states.phones import SILENCE
from voicenym.recognition.sphinx_processes.segment_decoding import FRAME
from voicenym.training.run.adamw_config import AdamWConfig
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine
from voicenym.training.speech.epoch_sampling import PaddedCrops

FEWEST_PHONES = 8
"""Phones below which an utterance is left out."""
MONITORED = "deviance"

Timed = tuple[str, int]
"""A phone or silence, and its number of frames of 10 ms."""


@dataclass(frozen=True)
class DurationConfig(AdamWConfig):
    """Configuration of the training.

    Args:
        options: of :class:`~voicenym.nets.synthesis.duration_predictor.DurationPredictor`, without
            ``content`` and ``hop``.
        seconds: length of a crop; shorter utterances are padded.
        batch: crops in a step.
    """

    options: dict[str, Any] = field(default_factory=dict)
    seconds: float = 4.0
    batch: int = 16
    steps: int = 3000


@dataclass(frozen=True)
class TimedUtterance:
    """An utterance's content, and the phones in it.

    Args:
        content: a ``.npy`` of the content encoder's frames, ``[frame, element]`` float32.
        phones: in order, silences among them.
    """

    content: Path
    phones: tuple[Timed, ...]

    @property
    def frames(self) -> int:
        """Frames of content."""
        return len(np.load(self.content, mmap_mode="r", allow_pickle=False))


class Ratios(NamedTuple):
    """A crop, or a batch of crops.

    Args:
        content: ``[frame, element]``, zeros after the end.
        length: content frames.
        ratio: ``[frame]``, of typical to found durations.
        share: ``[frame]``, share of the frame that is speech.
    """

    content: torch.Tensor
    length: torch.Tensor
    ratio: torch.Tensor
    share: torch.Tensor


def typical_durations(items: Iterable[TimedUtterance]) -> dict[str, float]:
    """Mean duration of each phone, in frames of 10 ms.

    Example:
        >>> some = TimedUtterance(Path("a.npy"), (("SIL", 9), ("M", 4), ("AA", 9), ("M", 8)))
        >>> typical_durations([some])
        {'M': 6.0, 'AA': 9.0}
    """
    found: dict[str, list[int]] = {}
    for item in items:
        for name, frames in item.phones:
            if name != SILENCE:
                found.setdefault(name, []).append(frames)
    return {name: float(np.mean(each)) for name, each in found.items()}


def targets(
    phones: Sequence[Timed], typical: Mapping[str, float], frames: int, hop: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Ratios and shares of speech of content frames, each ``[frame]``.

    Args:
        phones: of the utterance.
        typical: of :func:`typical_durations`; phones without one are no speech.
        frames: of content.
        hop: samples of a content frame.
    """
    known = [name in typical for name, _ in phones]
    counts = [count for _, count in phones]
    ratio = np.repeat(
        [
            typical[name] / count if there else 1.0
            for (name, count), there in zip(phones, known, strict=True)
        ],
        counts,
    )
    speech = np.repeat(np.array(known, dtype=np.float64), counts)
    edges = np.arange(frames + 1) * (hop / RATE / FRAME)
    place = np.arange(len(ratio) + 1)
    sums = [np.append(0.0, np.cumsum(values)) for values in (ratio * speech, speech)]
    of_ratio, of_speech = (np.diff(np.interp(edges, place, total)) for total in sums)
    mean = np.divide(of_ratio, of_speech, out=np.ones(frames), where=of_speech > 0.0)
    return mean.astype(np.float32), (of_speech / (hop / RATE / FRAME)).astype(np.float32)


def crop(
    item: TimedUtterance, typical: Mapping[str, float], hop: int, first: int, count: int
) -> Ratios:
    """``count`` content frames of an item from ``first`` on, padded with zeros."""
    whole = np.load(item.content, mmap_mode="r", allow_pickle=False)
    rows = whole[first : first + count]
    ratio, share = targets(item.phones, typical, len(whole), hop)
    content = np.zeros((count, whole.shape[1]), dtype=np.float32)
    content[: len(rows)] = rows
    padding = (0, count - len(rows))
    return Ratios(
        torch.from_numpy(content),
        torch.tensor(len(rows)),
        torch.from_numpy(np.pad(ratio[first : first + count], padding, constant_values=1.0)),
        torch.from_numpy(np.pad(share[first : first + count], padding)),
    )


class RatioCrops(PaddedCrops[TimedUtterance, Ratios]):
    """An epoch of crops.

    Args:
        items: to crop.
        typical: durations of phones.
        hop: samples of a content frame.
        frames: content frames of a crop.
        count: crops in an epoch.
        seed: of the draws.
    """

    def __init__(
        self,
        items: Sequence[TimedUtterance],
        typical: Mapping[str, float],
        hop: int,
        frames: int,
        count: int,
        seed: int,
    ) -> None:
        super().__init__(items, [item.frames for item in items], frames, count, seed)
        self._typical, self._hop = typical, hop

    def drawn(self, rng: np.random.Generator) -> Ratios:
        item, first = self.placed(rng)
        return crop(item, self._typical, self._hop, first, self.size)


class WholeRatios(torch.utils.data.Dataset[Ratios]):
    """Whole held-out utterances.

    Args:
        items: utterances.
        typical: durations of phones.
        hop: samples of a content frame.
    """

    def __init__(
        self, items: Sequence[TimedUtterance], typical: Mapping[str, float], hop: int
    ) -> None:
        self._items, self._typical, self._hop = list(items), typical, hop

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> Ratios:
        item = self._items[index]
        return crop(item, self._typical, self._hop, 0, item.frames)


def deviance(network: DurationPredictor, batch: Ratios) -> torch.Tensor:
    """Mean of half the Poisson deviance of the ratios over speech.

    It is least where the predicted ratio is the mean of the true ones, so that durations of phrases
    are right on average.
    """
    log_ratio = network(batch.content, batch.length)
    weight = batch.share * valid(batch.length, batch.share.shape[1])
    true = batch.ratio.clamp_min(1e-3)
    each = log_ratio.exp() - true + true * (true.log() - log_ratio)
    return (each * weight).sum() / weight.sum().clamp_min(1e-6)


def rate_errors(network: DurationPredictor, batch: Ratios) -> tuple[float, float]:
    """Logarithms of an utterance's duration of speech and of its prediction, each over the typical.

    Args:
        network: that predicts.
        batch: of one utterance.
    """
    predicted = (network(batch.content, batch.length).exp() * batch.share).sum()
    typical, found = (batch.ratio * batch.share).sum(), batch.share.sum()
    return float((found / typical).log()), float((predicted / typical).log())


class PredictingDurations(pl.LightningModule):
    """The training step and the validation.

    Args:
        network: to train.
        config: of the training.
    """

    def __init__(self, network: DurationPredictor, config: DurationConfig) -> None:
        super().__init__()
        self.network, self.recipe = network, config

    def configure_optimizers(self) -> torch.optim.Optimizer:
        recipe = self.recipe
        return torch.optim.AdamW(
            self.network.parameters(), lr=recipe.rate, weight_decay=recipe.decay
        )

    def training_step(self, batch: Sequence[torch.Tensor], index: int) -> torch.Tensor:
        loss = deviance(self.network, Ratios(*batch))
        self.log("train/deviance", loss.detach())
        return loss

    def validation_step(self, batch: Sequence[torch.Tensor], index: int) -> None:
        one = Ratios(*batch)
        size = int(one.length.sum())
        self.log(MONITORED, deviance(self.network, one), batch_size=size, sync_dist=True)
        if one.share.any():
            found, predicted = rate_errors(self.network, one)
            self.log("rate of speech, squared log", found**2, batch_size=1, sync_dist=True)
            self.log("of it not predicted", predicted**2, batch_size=1, sync_dist=True)


def train(
    network: DurationPredictor,
    items: Sequence[TimedUtterance],
    held_out: Sequence[TimedUtterance],
    config: DurationConfig,
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
    chosen, watched = (
        [item for item in some if sum(name != SILENCE for name, _ in item.phones) >= FEWEST_PHONES]
        for some in (items, held_out)
    )
    if not chosen or not watched:
        raise CorpusError(
            "no speech in which phones are found; give other speech, or more speakers"
        )
    typical, hop = typical_durations(chosen), network.hop
    frames = max(1, round(config.seconds * RATE / hop))
    count = machine.crops(config.every, config.batch)
    crops = RatioCrops(chosen, typical, hop, frames, count, config.seed)
    outcome = fit_configured(
        PredictingDurations(network, config),
        torch.utils.data.DataLoader(crops, config.batch, drop_last=True, **machine.loading),
        torch.utils.data.DataLoader(WholeRatios(watched, typical, hop), 1),
        folder,
        config,
        seconds,
        monitor=MONITORED,
        machine=machine,
        say=say,
    )
    network.eval()
    return outcome
