"""Training of a tokenizer: a codebook that reconstructs frames of features.

Huang et al. ("RepCodec", arXiv 2309.00169): the squared distance of rebuilt frames, and commitment;
the codebook is updated by moving averages. Frames of every utterance are stored in the folder,
readable by their owner alone, because speech can be rebuilt from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch

from voicenym.errors import CorpusError
from voicenym.nets.architectures import options_checked
from voicenym.nets.content.content_encoder import Content
from voicenym.nets.content.tokenizer import Tokenizer
from voicenym.training.content.units.train_units import FRAMES, extracted, identity, keep
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import Cyclical
from voicenym.training.speech.speech_cache import Utterance

COUNTED = 200_000
"""Number of frames for the estimation of mean and deviation."""
VALIDATION_CROPS = 64
"""Crops in a validation."""


@dataclass(frozen=True)
class TokenizerConfig:
    """Configuration of the training.

    Args:
        options: of :class:`~voicenym.nets.content.tokenizer.Tokenizer`, without ``size``.
        frames: of a crop.
        batch: crops in a step.
        commitment: weight beside the distance of normalised frames.
        rate: peak of the learning rate (AdamW).
        decay: of the weights.
        schedule: of the learning rate.
        steps: maximum number of optimizer steps.
        every: steps from one validation to the next.
        held_out: share of the speakers held out for validation.
        seed: of all random draws.
    """

    options: dict[str, Any] = field(default_factory=dict)
    frames: int = 96
    batch: int = 16
    commitment: float = 0.25
    rate: float = 1e-3
    decay: float = 1e-3
    schedule: Cyclical = field(default_factory=Cyclical)
    steps: int = 20_000
    every: int = 500
    held_out: float = 0.04
    seed: int = 0


class FrameCrops(torch.utils.data.Dataset[torch.Tensor]):
    """An epoch of crops ``[frame, size]`` of stored frames; the crop of an index depends on the
    seed, the epoch and the index alone.

    Args:
        paths: arrays ``[frame, size]``; those that are shorter than a crop are left out.
        frames: of a crop.
        count: crops in an epoch.
        seed: of the draws.

    Raises:
        CorpusError: none is long enough.
    """

    def __init__(self, paths: Sequence[Path], frames: int, count: int, seed: int) -> None:
        lengths = [len(np.load(path, mmap_mode="r", allow_pickle=False)) for path in paths]
        self._paths = [p for p, n in zip(paths, lengths, strict=True) if n >= frames]
        if not self._paths:
            raise CorpusError(f"no recording has {frames} frames; give longer ones, or fewer")
        self._share = np.cumsum([float(n) for n in lengths if n >= frames])
        self._share /= self._share[-1]
        self._frames, self._count, self._seed, self._epoch = frames, count, seed, 0

    def advance(self, epoch: int) -> None:
        """Go to an epoch."""
        self._epoch = epoch

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> torch.Tensor:
        if not 0 <= index < self._count:
            raise IndexError(index)
        rng = np.random.default_rng((self._seed, self._epoch, index))
        which = min(int(np.searchsorted(self._share, rng.random())), len(self._paths) - 1)
        kept = np.load(self._paths[which], mmap_mode="r", allow_pickle=False)
        first = int(rng.integers(len(kept) - self._frames + 1))
        return torch.from_numpy(kept[first : first + self._frames].astype(np.float32))


class Tokenizing(pl.LightningModule):
    """The training step and the validation.

    Args:
        tokenizer: to train.
        config: of the training.
    """

    def __init__(self, tokenizer: Tokenizer, config: TokenizerConfig) -> None:
        super().__init__()
        self.tokenizer, self.recipe = tokenizer, config

    def configure_optimizers(self) -> torch.optim.Optimizer:
        recipe = self.recipe
        parameters = self.tokenizer.parameters()
        return torch.optim.AdamW(parameters, lr=recipe.rate, weight_decay=recipe.decay)

    def training_step(self, batch: torch.Tensor, index: int) -> torch.Tensor:
        frames = self.tokenizer.normalised(batch)
        result = self.tokenizer.through(frames)
        loss = (result.rebuilt.float() - frames).square().mean()
        self.log("lost", loss, prog_bar=True)
        self.log("perplexity", result.perplexity)
        return loss + self.recipe.commitment * result.commitment

    def validation_step(self, batch: torch.Tensor, index: int) -> None:
        frames = self.tokenizer.normalised(batch)
        result = self.tokenizer.through(frames)
        loss = (result.rebuilt.float() - frames).square().mean()
        self.log("share lost", loss, batch_size=len(batch), sync_dist=True)
        self.log("entries in use", result.perplexity, batch_size=len(batch), sync_dist=True)


def train(
    tokenizer: Tokenizer,
    files: Sequence[Path],
    held_out: Sequence[Path],
    config: TokenizerConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train a tokenizer; afterwards it has the weights of its best validation.

    Args:
        tokenizer: new, or with weights to continue from.
        files, held_out: frames of training and of validation utterances, of :func:`frames`.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: no training utterances, or fewer frames than entries.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    crops = FrameCrops(files, config.frames, machine.crops(config.every, config.batch), config.seed)
    some = _sample(files)
    if len(some) < len(tokenizer):
        raise CorpusError(
            f"{len(some)} frames are too few for {len(tokenizer)} entries; give more speech, or "
            "take fewer entries"
        )
    tokenizer.learn_statistics(torch.from_numpy(some))
    loader = torch.utils.data.DataLoader(crops, config.batch, **machine.loading, drop_last=True)
    kept = torch.utils.data.DataLoader(
        FrameCrops(held_out, config.frames, VALIDATION_CROPS, config.seed), config.batch
    )
    outcome = fit_configured(
        Tokenizing(tokenizer, config),
        loader,
        kept,
        folder,
        config,
        seconds,
        monitor="share lost",
        machine=machine,
        say=say,
    )
    tokenizer.eval()
    return outcome


def frames(
    features: Content,
    source: Mapping[str, Any],
    speech: Sequence[Utterance],
    folder: Path,
    say: Callable[[str], None] = lambda text: None,
) -> list[Path]:
    """Frames ``[frame, size]`` float16 of utterances, cached in a folder, one file each.

    Args:
        features: the feature extractor.
        source: description for JSON; stored frames of another source are not used.
        speech: utterances; frames of an earlier run are reused.
        folder: of the stored frames.
        say: receives lines of progress.

    Raises:
        VoicenymError: they cannot be kept.
    """
    place = folder / FRAMES / identity({**source, "each": "whole"})
    paths = []
    for done, utterance in enumerate(speech):
        path = place / f"{utterance.path.stem}.npy"
        if not path.is_file():
            keep(path, extracted(features, utterance).cpu().numpy().astype(np.float16))
        paths.append(path)
        if (done + 1) % 500 == 0:
            say(f"{done + 1} of {len(speech)} utterances analysed")
    return paths


def _sample(paths: Sequence[Path]) -> np.ndarray:
    """Some frames of each file, ``[frame, size]``."""
    each = max(1, COUNTED // max(1, len(paths)))
    found = []
    for path in paths:
        kept = np.load(path, mmap_mode="r", allow_pickle=False)
        found.append(kept[:: max(1, -(-len(kept) // each))].astype(np.float32))
    return np.concatenate(found)


def new(config: TokenizerConfig, size: int, source: Mapping[str, Any]) -> Tokenizer:
    """A tokenizer of frames of so many elements, whose weights depend on the seed alone.

    Raises:
        VoicenymError: options of which there is no tokenizer.
    """
    with torch.random.fork_rng(devices=[]), options_checked("tokenizer, options"):
        torch.manual_seed(config.seed)
        return Tokenizer(size, **config.options, source=source)
