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
from voicenym.errors import CorpusError, VoicenymError
from voicenym.metrics import EER, Affine, Speakers, eer
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.training.run.fit import Limits, Outcome, fit, share_done
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import Cyclical, seeded
from voicenym.training.speakers.margin_softmax import AngularMargin
from voicenym.training.speech.augmentation import SpecAugment, Surroundings
from voicenym.training.speech.crops import SpeakerCrops
from voicenym.training.speech.speech_cache import Utterance


@dataclass(frozen=True)
class VerifierConfig:
    """Configuration of the training.

    Args:
        encoder: kind of architecture.
        options: of its construction.
        seconds: length of a crop.
        batch: crops in a step.
        speeds: at which voices are played, see :class:`SpeakerCrops`.
        scale, margin: of the loss.
        warmup: share of the training in which the margin grows to its full size.
        rate: peak of the learning rate.
        decay: of the weights (AdamW).
        schedule: of the learning rate.
        surroundings: what happens to crops.
        blanks: what happens to their features.
        steps: maximum number of optimizer steps.
        every: steps from one validation to the next.
        patience: validations without improvement, after which the training stops; 0: no limit.
        held_out: share of the speakers held out for validation and early stopping.
        seed: of all random draws.
    """

    encoder: str = "ecapa"
    options: dict[str, Any] = field(default_factory=dict)
    seconds: float = 3.0
    batch: int = 64
    speeds: tuple[float, ...] = (1.0, 0.9, 1.1)
    scale: float = 30.0
    margin: float = 0.2
    warmup: float = 0.2
    rate: float = 1e-3
    decay: float = 1e-4
    schedule: Cyclical = field(default_factory=Cyclical)
    surroundings: Surroundings = field(default_factory=Surroundings)
    blanks: SpecAugment = field(default_factory=SpecAugment)
    steps: int = 50_000
    every: int = 250
    patience: int = 0
    held_out: float = 0.08
    seed: int = 0


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
            # Spectra need single precision.
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


def verify(
    vectors: np.ndarray,
    recordings: Sequence[Recording],
    replicates: int = 1000,
    sex: str | None = None,
) -> EER:
    """Equal error rate over all pairs of recordings of one sex, by cosine.

    Args:
        vectors: ``[recording, size]``.
        recordings: whose they are.
        replicates: of the bootstrap over speakers; 0 for the value alone.
        sex: only pairs of ``f`` or ``m``; where no sex is known all pairs count.

    Raises:
        CorpusError: no pair of one speaker, or none of two.
    """
    same, others, speakers = pairs(vectors, recordings, sex)
    return eer(same, others, speakers if replicates else None, replicates=max(replicates, 20))


def pairs(
    vectors: np.ndarray, recordings: Sequence[Recording], sex: str | None = None
) -> tuple[np.ndarray, np.ndarray, Speakers]:
    """Cosines of all pairs of one speaker, those of two of one sex, and whose they are.

    Args:
        vectors, recordings, sex: as for :func:`verify`.

    Raises:
        CorpusError: no pair of one speaker, or none of two.
    """
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    names = sorted({recording.speaker for recording in recordings})
    who = np.array([names.index(recording.speaker) for recording in recordings])
    sexes = np.array([recording.sex for recording in recordings])
    one, other = np.triu_indices(len(recordings), 1)
    counted = sexes[one] == sexes[other]
    if sex is not None:
        counted &= sexes[one] == sex
    one, other = one[counted], other[counted]
    scores = np.einsum("pd,pd->p", unit[one], unit[other])
    same = who[one] == who[other]
    if not same.any() or same.all():
        raise CorpusError(
            "no pairs of one speaker and of two to judge by; keep out more speakers, with two "
            "recordings each"
        )
    both = np.stack([who[one], who[other]], axis=1)
    return scores[same], scores[~same], Speakers(both[same], both[~same])


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
    limits = Limits(config.steps, config.every, seconds, config.patience or None)
    outcome = fit(
        module,
        loader,
        kept,
        folder,
        limits,
        monitor="EER %",
        schedule=config.schedule,
        machine=machine,
        seed=config.seed,
        say=say,
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


def error_rates(
    encoder: Encoder, utterances: Sequence[Utterance]
) -> dict[str, tuple[float, float, float]]:
    """Equal error rates in percent with their intervals, of one sex and by sex.

    Args:
        encoder: trained.
        utterances: of speakers that nothing was trained or chosen by.
    """
    recordings = [utterance.recording for utterance in utterances]
    vectors = encoder.embed([torch.from_numpy(u.samples()) for u in utterances]).numpy()
    figures = {}
    for name, sex in (("same sex", None), ("women", "f"), ("men", "m")):
        if sex is None or any(recording.sex == sex for recording in recordings):
            found = verify(vectors, recordings, sex=sex)
            low, high = found.interval
            figures[name] = (100 * found.value, 100 * low, 100 * high)
    return figures


def calibrated(encoder: Encoder, utterances: Sequence[Utterance]) -> Affine:
    """What a cosine of two recordings says, as a log-likelihood ratio in nats.

    Args:
        encoder: trained.
        utterances: of speakers that it did not learn from.
    """
    recordings = [utterance.recording for utterance in utterances]
    vectors = encoder.embed([torch.from_numpy(u.samples()) for u in utterances]).numpy()
    same, others, _ = pairs(vectors, recordings)
    return Affine.fit(same, others)
