"""Training of a hybrid recogniser's phone network, on frame-wise targets of aligned speech.

It is hybrid in the sense of Bourlard and Morgan (1994): the network classifies states of phones,
and a graph of pronunciations and word sequences defines the paths that are texts. With a target for
each frame, minutes of one core suffice, where a flat start with CTC needs days. The cross-entropy
on held-out speakers chooses the checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from voicenym.nets.words.phone_states.phone_model import PhoneModel
from voicenym.nets.words.phone_states.phones import States
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine
from voicenym.training.speech.aligned_dataset import (
    NONE,
    Aligned,
    AlignedSentences,
    Batch,
    WholeUtterances,
    collated,
)
from voicenym.training.speech.augmentation import SpecAugment
from voicenym.training.words.train_recogniser import RecogniserConfig, Recognition

MONITOR = "cross-entropy"
"""Name of the monitored figure, in nats a frame."""


@dataclass(frozen=True)
class HybridConfig(RecogniserConfig):
    """Configuration of the training; the fields of a recogniser's, and these.

    Args:
        net: always ``frames``.
        options: of :class:`~voicenym.nets.words.phone_states.phone_state_network.FrameNetConfig`.
        speeds: of playback; any between the slowest and the fastest is drawn.
        smoothing: share of a target that is distributed over all states.
    """

    net: str = "frames"
    options: dict[str, Any] = field(default_factory=dict)
    speeds: tuple[float, ...] = (0.85, 1.15)
    blanks: SpecAugment = field(
        default_factory=lambda: SpecAugment(bands=2, stretches=2, width=8, length=15)
    )
    smoothing: float = 0.05


class FrameTraining(Recognition):
    """The training step and the validation of a network of states.

    Args:
        net: to train.
        states: its outputs.
        config: of the training.
    """

    recipe: HybridConfig

    def __init__(self, net: torch.nn.Module, states: States, config: HybridConfig) -> None:
        super().__init__(net, None, config)  # type: ignore[arg-type]
        self.states = states
        self._seen: list[tuple[float, int, int]] = []

    def training_step(self, batch: Any, index: int) -> torch.Tensor:
        speech, lengths, labels = batch
        features, frames = self.prepared(speech, lengths)
        logits, frames = self.net.logits(features, frames)
        loss = self.missed(logits, labels, self.recipe.smoothing)
        self.log("loss", loss, on_step=True, on_epoch=False, prog_bar=True)
        return loss

    @staticmethod
    def missed(logits: torch.Tensor, labels: torch.Tensor, smoothing: float = 0.0) -> torch.Tensor:
        """Cross-entropy of all frames but padding, in nats."""
        return torch.nn.functional.cross_entropy(
            logits.float().flatten(0, 1),
            labels[:, : logits.shape[1]].flatten(),
            ignore_index=NONE,
            label_smoothing=smoothing,
        )

    def validation_step(self, batch: Any, index: int) -> None:
        speech, lengths, labels = batch
        logits, _ = self.net(speech, lengths)
        labels = labels[:, : logits.shape[1]]
        known = labels != NONE
        count = int(known.sum())
        right = int((logits.argmax(-1) == labels)[known].sum())
        self._seen.append((float(self.missed(logits, labels)) * count, right, count))

    def on_validation_epoch_end(self) -> None:
        entropy, right, count = (sum(column) for column in zip(*self._seen, strict=True))
        self._seen = []
        self.log(MONITOR, entropy / count, sync_dist=True)
        self.log("frames right %", 100.0 * right / count, sync_dist=True)


def train(
    model: PhoneModel,
    speech: Sequence[Aligned],
    held_out: Sequence[Aligned],
    config: HybridConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train a recogniser of phones; afterwards it has the weights of its best validation.

    Args:
        model: new, or with weights to continue from.
        speech: training utterances.
        held_out: the same of held-out speakers, for validation and early stopping.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        VoicenymError: as :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    group = config.batch * machine.devices
    spoken = AlignedSentences(
        speech, model.states, group, config.every * group, config.speeds, config.seed
    )
    loader = torch.utils.data.DataLoader[Batch](
        spoken,  # type: ignore[arg-type]
        config.batch,
        collate_fn=collated,
        **machine.loading,
    )
    kept = torch.utils.data.DataLoader[Batch](
        WholeUtterances(held_out, model.states),  # type: ignore[arg-type]
        config.batch,
        collate_fn=collated,
        pin_memory=machine.cuda,
    )
    outcome = fit_configured(
        FrameTraining(model.net, model.states, config),
        loader,
        kept,
        folder,
        config,
        seconds,
        monitor=MONITOR,
        machine=machine,
        say=say,
    )
    model.net.eval()
    return outcome
