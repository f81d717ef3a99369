"""Training of a content bottleneck by frames: a TDNN-F classifies states of phones and word codes.

The bottleneck of B1 (Fang et al., SSW 2019) is that of a hybrid recogniser: a TDNN-F classifies
states of phones, frame by frame, and a linear layer before the output is the content. With a target
for each frame, minutes of one core suffice, where CTC over characters needs days
(:mod:`voicenym.training.content.bottleneck.train_bottleneck`). Alignments need transcripts; codes
of words, which a larger recogniser's encoder gives
(:mod:`voicenym.nets.words.word_codes.word_code_content`), need none, and distil what it knows of
the words: a second output classifies them from four frames of the bottleneck. Mel bands are warped
at random, so that the content depends less on the length of the vocal tract. With an adversary, the
bottleneck is also trained against a branch that classifies the speaker
(:mod:`voicenym.training.content.bottleneck.speaker_branch`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.content.content_encoder import RATE
from voicenym.nets.content.tdnnf import HOP, TdnnF
from voicenym.nets.masked_batch import valid
from voicenym.nets.words.phone_states.phones import States
from voicenym.training.content.bottleneck.frame_targets import (
    NONE,
    FrameTargets,
    Labelled,
    TargetCrops,
    WholeTargets,
    numbered,
)
from voicenym.training.content.bottleneck.speaker_branch import SpeakerBranch, growth
from voicenym.training.run.adamw_config import AdamWConfig
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome, share_done
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import seeded
from voicenym.training.speech.augmentation import SpecAugment, Surroundings
from voicenym.training.speech.mel_warping import warped

MONITOR = "cross-entropy"
"""Name of the monitored figure: nats a frame of states, plus the weighted nats of a code."""
LOWEST, HIGHEST = 20.0, RATE / 2 - 400.0
"""Corners of the mel bands of :class:`TdnnF`, in Hz."""


@dataclass(frozen=True)
class PhoneBottleneckConfig(AdamWConfig):
    """Configuration of the training.

    Args:
        options: of :class:`~voicenym.nets.content.tdnnf.TdnnFConfig`.
        seconds: length of a crop.
        batch: crops in a step.
        codes: weight of the cross-entropy of word codes; that of states has 1.
        smoothing: share of a target that is distributed over all classes.
        warp: largest change of the frequency axis, as a share.
        gain: random gain of each crop, in dB up or down: the input is not normalised in level.
        surroundings: augmentation of crops.
        blanks: SpecAugment of their features.
        adversary: weight of the speaker branch; 0 for none.
        branch: units of its hidden layer.
        constrain: steps from one toward semi-orthogonality to the next.
        patience: validations without improvement, after which the training stops; 0: no limit;
            not used with an adversary.
    """

    options: dict[str, Any] = field(default_factory=dict)
    seconds: float = 3.0
    batch: int = 16
    codes: float = 0.5
    smoothing: float = 0.05
    warp: float = 0.15
    gain: float = 12.0
    surroundings: Surroundings = field(
        default_factory=lambda: Surroundings(noise=0.2, babble=0.0, room=0.1, band=0.1)
    )
    blanks: SpecAugment = field(default_factory=lambda: SpecAugment(bands=1, stretches=1))
    adversary: float = 0.0
    branch: int = 256
    constrain: int = 4
    rate: float = 2e-3
    decay: float = 1e-3
    every: int = 500
    patience: int = 0
    held_out: float = 0.05


class Head(torch.nn.Module):
    """Classifies groups of bottleneck frames: one layer, and the output.

    Args:
        size, width: of the bottleneck and of the layer.
        classes: of the output.
        every: frames of a group.
    """

    def __init__(self, size: int, width: int, classes: int, every: int = 1) -> None:
        super().__init__()
        self.widen = torch.nn.Conv1d(size, width, every, stride=every)
        self.norm = torch.nn.BatchNorm1d(width)
        self.output = torch.nn.Conv1d(width, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``[batch, frame, size]`` to logits ``[batch, class, frame / every]``."""
        found = self.norm(torch.relu(self.widen(x.transpose(1, 2))))
        return self.output(found)


class PhoneBottleneck(pl.LightningModule):
    """The training step and the validation.

    Args:
        network: to train.
        states: classes of the first output.
        codes: number of classes of the second; 0 for none.
        every: frames of a code.
        config: of the training.
        speakers: of the data; used with an adversary.
    """

    def __init__(
        self,
        network: TdnnF,
        states: States,
        codes: int,
        every: int,
        config: PhoneBottleneckConfig,
        speakers: int = 0,
    ) -> None:
        super().__init__()
        self.network, self.recipe = network, config
        width, shared = network.sizes.width, network.sizes.every
        self.of_states = Head(network.size, width, len(states))
        self.of_codes = Head(network.size, width, codes, every // shared) if codes else None
        self.branch: SpeakerBranch | None = None
        if config.adversary:
            self.branch = SpeakerBranch(network.size, speakers, config.branch)
        self._seen: list[tuple[float, int, int, float, int, int]] = []

    def configure_optimizers(self) -> torch.optim.Optimizer:
        recipe = self.recipe
        return torch.optim.AdamW(
            self.parameters(), recipe.rate, betas=(0.9, 0.98), weight_decay=recipe.decay
        )

    def training_step(self, batch: Sequence[torch.Tensor], index: int) -> torch.Tensor:
        one = FrameTargets(*batch)
        generator = seeded(self.device, self.recipe.seed, self.global_rank, self.global_step)
        content = self.network.through(self.prepared(one, generator), one.frames)
        losses = self._entropies(content, one, self.recipe.smoothing)
        self.log_dict({f"train/{name}": loss.detach() for name, (loss, *_) in losses.items()})
        loss = self._weighed(losses["states"][0], losses["codes"][0])
        if self.branch is not None:
            weight = self.recipe.adversary * growth(share_done(self))
            frames = one.frames // self.network.sizes.every
            found, right = self.branch.against(content, frames, one.speaker, weight)
            self.log("train/speakers classified %", 100.0 * right)
            loss = loss + found
        return loss

    def prepared(self, one: FrameTargets, generator: torch.Generator) -> torch.Tensor:
        """Features of augmented crops."""
        recipe, samples = self.recipe, one.samples
        inside = valid(one.frames * HOP, samples.shape[1])
        with torch.autocast(self.device.type, enabled=False):
            draws = torch.rand(3, len(samples), generator=generator, device=samples.device)
            gain, factor, bend = 2.0 * draws - 1.0
            samples = recipe.surroundings(samples, generator)
            samples = samples * 10.0 ** (recipe.gain * gain[:, None] / 20.0) * inside
            features = self.network.features(samples, one.frames)
            if recipe.warp:
                factor = torch.exp(recipe.warp * factor)
                features = warped(features, factor, 0.2 * recipe.warp * bend, LOWEST, HIGHEST)
            features = recipe.blanks(features, generator)
            return features * valid(one.frames, features.shape[1])[..., None]

    def _entropies(
        self, content: torch.Tensor, one: FrameTargets, smoothing: float = 0.0
    ) -> dict[str, tuple[torch.Tensor, int, int]]:
        """By target: cross-entropy, number of frames that are right, and of those with a target."""
        found = {}
        for name, head, labels in (
            ("states", self.of_states, one.states),
            ("codes", self.of_codes, one.codes),
        ):
            known = labels != NONE
            if head is None or not bool(known.any()):
                found[name] = content.new_zeros(()), 0, 0
                continue
            logits = head(content).float()
            loss = torch.nn.functional.cross_entropy(
                logits, labels, ignore_index=NONE, label_smoothing=smoothing
            )
            right = int((logits.argmax(1) == labels)[known].sum())
            found[name] = loss, right, int(known.sum())
        return found

    def _weighed(self, states: Any, codes: Any) -> Any:
        return states + self.recipe.codes * codes

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:
        if self.global_step % self.recipe.constrain == 0:
            for part in self.network.constrained():
                part.constrain()

    def validation_step(self, batch: Sequence[torch.Tensor], index: int) -> None:
        one = FrameTargets(*batch)
        found = self._entropies(self.network.encode(one.samples), one)
        rows = ((float(loss) * count, right, count) for loss, right, count in found.values())
        self._seen.append(tuple(value for row in rows for value in row))  # type: ignore[arg-type]

    def on_validation_epoch_end(self) -> None:
        sums = [float(sum(column)) for column in zip(*self._seen, strict=True)]
        self._seen = []
        states, codes = (sums[i] / max(1.0, sums[i + 2]) for i in (0, 3))
        self.log(MONITOR, self._weighed(states, codes), sync_dist=True)
        self.log("states right %", 100.0 * sums[1] / max(1.0, sums[2]), sync_dist=True)
        if self.of_codes is not None:
            self.log("codes right %", 100.0 * sums[4] / max(1.0, sums[5]), sync_dist=True)


def train(
    network: TdnnF,
    states: States,
    codes: int,
    every: int,
    speech: Sequence[Labelled],
    held_out: Sequence[Labelled],
    config: PhoneBottleneckConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train a bottleneck; afterwards it has the weights of its best validation.

    With an adversary it has the last: the branch costs cross-entropy, so that the best validation
    is one before it had much effect.

    Args:
        network: new, or with weights to continue from.
        states: of the phones.
        codes: entries of the codebook; 0 for none.
        every: frames of a code.
        speech: training utterances.
        held_out: the same of held-out speakers, for validation and early stopping.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: no training utterances.
        VoicenymError: frames of the bottleneck of which a code does not last a whole number; as of
            :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    shared = network.sizes.every
    if every % shared:
        raise VoicenymError(
            f"options, every: {shared} frames of 10 ms do not divide a word code's {every}"
        )
    count = machine.crops(config.every, config.batch)
    speakers = len(numbered(one.utterance for one in speech))
    crops = TargetCrops(speech, states, every, config.seconds, count, config.seed, shared)
    outcome = fit_configured(
        PhoneBottleneck(network, states, codes, every, config, speakers),
        torch.utils.data.DataLoader(crops, config.batch, drop_last=True, **machine.loading),
        torch.utils.data.DataLoader(WholeTargets(held_out, states, every, shared), 1),
        folder,
        config,
        seconds,
        monitor=MONITOR,
        machine=machine,
        say=say,
        keep="last" if config.adversary else "best",
    )
    network.eval()
    return outcome
