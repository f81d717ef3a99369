"""Trains a speaker encoder with AAM-softmax.

Additive angular margin softmax over random crops, with speed perturbation as further speakers, with
simulated rooms and noise, under cyclical learning rates; validated by the equal error rate on
held-out speakers. After Desplanques et al. (Interspeech 2020, section 4.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import VoicenymError
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.training.run.adamw_config import AdamWConfig
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome, share_done
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import seeded
from voicenym.training.speakers.margin_softmax import AngularMargin
from voicenym.training.speakers.pair_verification import verify
from voicenym.training.speech.augmentation import SpecAugment, Surroundings
from voicenym.training.speech.crops import SpeakerCrops
from voicenym.training.speech.speech_cache import Utterance


@dataclass(frozen=True)
class VerifierConfig(AdamWConfig):
    """Configuration of the training.

    Args:
        encoder: kind of architecture.
        options: of its construction.
        seconds: length of a crop.
        batch: crops in a step.
        speeds: at which voices are played, see :class:`SpeakerCrops`.
        scale, margin: of the loss.
        warmup: share of the training in which the margin grows to its full size.
        surroundings: augmentation of crops.
        blanks: SpecAugment of their features.
        patience: validations without improvement, after which the training stops; 0: no limit.
    """

    encoder: str = "ecapa"
    options: dict[str, Any] = field(default_factory=dict)
    seconds: float = 3.0
    batch: int = 64
    speeds: tuple[float, ...] = (1.0, 0.9, 1.1)
    scale: float = 30.0
    margin: float = 0.2
    warmup: float = 0.2
    decay: float = 1e-4
    surroundings: Surroundings = field(default_factory=Surroundings)
    blanks: SpecAugment = field(default_factory=SpecAugment)
    steps: int = 50_000
    every: int = 250
    patience: int = 0
    held_out: float = 0.08


class Verification(pl.LightningModule):
    """The training step and the validation of a speaker encoder.

    Args:
        encoder: to train.
        classes: speakers, at all speeds.
        config: of the training.
        kept: recordings of the validation loader, in its order.
    """

    def __init__(
        self, encoder: Encoder, classes: int, config: VerifierConfig, kept: Sequence[Recording]
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = AngularMargin(encoder.size, classes, config.scale, config.margin)
        self.recipe = config
        self.kept = list(kept)
        self._heard: dict[int, torch.Tensor] = {}

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(
            self.parameters(), self.recipe.rate, weight_decay=self.recipe.decay
        )

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], index: int) -> torch.Tensor:
        crops, labels = batch
        generator = seeded(self.device, self.recipe.seed, self.global_rank, self.global_step)
        with torch.autocast(self.device.type, enabled=False):
            # Spectra are computed in single precision.
            crops = self.recipe.surroundings(crops, generator)
            features = self.encoder.features(crops)
            features = self.recipe.blanks(features, generator)
        vectors = self.encoder.encode(features)
        share = self.progress()
        self.head.margin = self.recipe.margin * min(1.0, share / max(self.recipe.warmup, 1e-9))
        loss = self.head(vectors, labels)
        self.log("loss", loss, on_step=True, on_epoch=False, prog_bar=True)
        return loss

    def progress(self) -> float:
        """Share of the training that is done."""
        return share_done(self)

    def validation_step(self, batch: tuple[int, torch.Tensor], index: int) -> None:
        number, samples = batch
        with torch.autocast(self.device.type, enabled=False):
            self._heard[number] = self.encoder.embed([samples])[0]

    def on_validation_epoch_end(self) -> None:
        numbers = torch.tensor(sorted(self._heard), device=self.device)
        vectors = torch.stack([self._heard[int(n)] for n in numbers]).to(self.device)
        self._heard = {}
        if self.trainer.world_size > 1:
            numbers = torch.as_tensor(self.all_gather(numbers)).flatten()
            vectors = torch.as_tensor(self.all_gather(vectors)).flatten(0, 1)
        order = {int(n): v for n, v in zip(numbers, vectors.cpu().numpy(), strict=True)}
        found = verify(np.stack([order[i] for i in range(len(self.kept))]), self.kept, replicates=0)
        self.log("EER %", 100.0 * found.value, sync_dist=self.trainer.world_size > 1)


class _Whole(torch.utils.data.Dataset[tuple[int, torch.Tensor]]):
    """Whole utterances, with their numbers."""

    def __init__(self, utterances: Sequence[Utterance], longest: float = 10.0) -> None:
        self._utterances, self._most = list(utterances), round(16_000 * longest)

    def __len__(self) -> int:
        return len(self._utterances)

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        return index, torch.from_numpy(self._utterances[index].samples(0, self._most))


def train(
    encoder: Encoder,
    speech: Sequence[Utterance],
    held_out: Sequence[Utterance],
    config: VerifierConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train an encoder; afterwards it has the weights of its best validation.

    Args:
        encoder: new, or with weights to continue from.
        speech: training utterances.
        held_out: the same of held-out speakers, for validation and early stopping.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: too few speakers.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    crops = SpeakerCrops(
        speech,
        config.seconds,
        machine.crops(config.every, config.batch),
        config.speeds,
        config.seed,
    )
    loader = torch.utils.data.DataLoader(
        crops,
        config.batch,
        shuffle=False,
        **machine.loading,
        drop_last=True,
    )
    kept = torch.utils.data.DataLoader(_Whole(held_out), batch_size=None)
    module = Verification(
        encoder, crops.classes, config, [utterance.recording for utterance in held_out]
    )
    outcome = fit_configured(
        module, loader, kept, folder, config, seconds, monitor="EER %", machine=machine, say=say
    )
    encoder.eval()
    return outcome


def encoder(config: VerifierConfig) -> Encoder:
    """A new encoder, whose weights depend on the seed alone."""
    from voicenym.nets.speakers.speaker_encoders import make

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        made = make(config.encoder, config.options)
    if made.hertz:
        raise VoicenymError(f"encoder: {made.kind} measures and learns nothing; choose another")
    return made
