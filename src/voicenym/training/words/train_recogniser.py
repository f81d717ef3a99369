"""Training of a recogniser with CTC over characters, on any transcribed speech.

The VoicePrivacy 2020 Challenge evaluates with two recognisers: ``ASR_eval`` is trained on original
speech, ``ASR_eval^anon`` on anonymized speech; both transcribe the anonymized speech. The character
error rate of held-out speakers, decoded greedily, chooses the checkpoint; afterwards the weight of
a bigram of the transcripts is tuned on the same speakers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import lightning.pytorch as pl
import torch

from voicenym.corpus.recording import Recording
from voicenym.metrics import word_errors
from voicenym.nets.masked_batch import valid
from voicenym.nets.words.ctc_networks import ctc
from voicenym.nets.words.ctc_networks.character_model import CharacterModel
from voicenym.nets.words.ctc_networks.ctc import Alphabet
from voicenym.training.run.adamw_config import AdamWConfig
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import seeded
from voicenym.training.speech.augmentation import SpecAugment, Surroundings
from voicenym.training.speech.speaker_split import speaker_split
from voicenym.training.speech.speech_cache import Utterance
from voicenym.training.speech.transcribed_dataset import Batch, Sentences, collated, transcribed


@dataclass(frozen=True)
class RecogniserConfig(AdamWConfig):
    """Configuration of the training.

    Args:
        net: ``conformer``, ``deepspeech2`` or ``tdnnf``.
        options: of its construction; ``size`` names one of the Conformer's sizes.
        batch: utterances in a step, of similar length.
        longest: utterance that is used, in seconds.
        speeds: of playback.
        surroundings: augmentation of utterances.
        blanks: SpecAugment of their features.
        patience: validations without improvement, after which the training stops; 0: no limit.
        order: of the n-gram of words; 0 for none.
    """

    net: str = "conformer"
    options: dict[str, Any] = field(default_factory=lambda: {"size": "laptop"})
    batch: int = 16
    longest: float = 20.0
    speeds: tuple[float, ...] = (0.9, 1.0, 1.1)
    rate: float = 2e-3
    decay: float = 1e-3
    surroundings: Surroundings = field(
        default_factory=lambda: Surroundings(noise=0.2, babble=0.0, room=0.1, band=0.1)
    )
    blanks: SpecAugment = field(default_factory=SpecAugment)
    patience: int = 0
    held_out: float = 0.05
    order: int = 2


class Recognition(pl.LightningModule):
    """The training step and the validation of a CTC net.

    Args:
        net: to train: ``features`` and ``logits``, as of a Conformer.
        alphabet: its tokens.
        config: of the training.
    """

    def __init__(self, net: torch.nn.Module, alphabet: Alphabet, config: RecogniserConfig) -> None:
        super().__init__()
        self.net: Any = net
        self.alphabet = alphabet
        self.recipe = config
        self._pairs: list[tuple[str, str]] = []

    def configure_optimizers(self) -> torch.optim.Optimizer:
        # No weight decay of biases and of the scales of normalisation.
        matrices = [p for p in self.parameters() if p.ndim > 1]
        others = [p for p in self.parameters() if p.ndim <= 1]
        groups = [
            {"params": matrices, "weight_decay": self.recipe.decay},
            {"params": others, "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, self.recipe.rate, betas=(0.9, 0.98))

    def on_train_epoch_start(self) -> None:
        sentences = self.trainer.train_dataloader.dataset  # type: ignore[union-attr]
        sentences.advance(self.current_epoch)

    def training_step(self, batch: Batch, index: int) -> torch.Tensor:
        speech, lengths, texts, sizes = batch
        features, frames = self.prepared(speech, lengths)
        logits, frames = self.net.logits(features, frames)
        loss = self.spelt(logits, frames, texts, sizes)
        self.log("loss", loss, on_step=True, on_epoch=False, prog_bar=True)
        return loss

    def prepared(
        self, speech: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Features of augmented speech, and frames ``[batch]``."""
        generator = seeded(self.device, self.recipe.seed, self.global_rank, self.global_step)
        with torch.autocast(self.device.type, enabled=False):
            # Spectra are computed in single precision.
            samples = self.disturbed(speech, generator)
            samples = samples * valid(lengths, samples.shape[1])
            features, frames = self.net.features(samples, lengths)
            features = self.recipe.blanks(features, generator)
            return features * valid(frames, features.shape[1])[..., None], frames

    def disturbed(self, speech: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Speech ``[batch, time]`` with augmentation by rooms and noise."""
        return self.recipe.surroundings(speech, generator)

    @staticmethod
    def spelt(
        logits: torch.Tensor, frames: torch.Tensor, texts: torch.Tensor, sizes: torch.Tensor
    ) -> torch.Tensor:
        """Loss per character, so that long utterances do not count more."""
        return ctc.loss(logits, frames, texts, sizes).sum() / sizes.sum()

    def validation_step(self, batch: Batch, index: int) -> None:
        speech, lengths, texts, sizes = batch
        logits, frames = self.net(speech, lengths)
        for found, text, size in zip(
            ctc.greedy(logits, frames), texts.tolist(), sizes.tolist(), strict=True
        ):
            self._pairs.append((self.alphabet.decode(text[:size]), self.alphabet.decode(found)))

    def on_validation_epoch_end(self) -> None:
        references, hypotheses = zip(*self._pairs, strict=True)
        self._pairs = []
        for name, characters in (("CER %", True), ("WER %", False)):
            rate = word_errors(references, hypotheses, characters=characters)
            errors = torch.tensor(
                [rate.substitutions + rate.deletions + rate.insertions, rate.length],
                dtype=torch.float64 if self.device.type != "mps" else torch.float32,
                device=self.device,
            )
            if self.trainer.world_size > 1:
                errors = self.trainer.strategy.reduce(errors, reduce_op="sum")
            self.log(name, (100.0 * errors[0] / errors[1]).float())


def transcribed_split(
    recordings: Sequence[Recording], share: float, seed: int
) -> tuple[list[Recording], list[Recording]]:
    """Training recordings, and those of held-out speakers; of a single speaker, some of both.

    Raises:
        CorpusError: a single recording with text.
    """
    spoken = [recording for recording in recordings if recording.text]
    return speaker_split(spoken, share, seed, "recordings with text")


def train(
    model: CharacterModel,
    speech: Sequence[Utterance],
    held_out: Sequence[Utterance],
    config: RecogniserConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
    recognition: Callable[..., Recognition] = Recognition,
    sentences: type[Sentences] = Sentences,
    collate: Callable[[Any], Any] = collated,
    keep: Literal["best", "last"] = "best",
) -> Outcome:
    """Train a recogniser; afterwards it has the weights of its best validation, or of its last.

    Args:
        model: new, or with weights to continue from.
        speech: training utterances, with text.
        held_out: the same of held-out speakers, for validation and early stopping.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        seconds: time limit.
        machine: what to train on.
        say: receives the recordings left out, and the figures of every validation.
        recognition: creates the training step from net, alphabet and configuration.
        sentences, collate: create its batches.
        keep: which validation's weights.

    Raises:
        CorpusError: no training utterances.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    limits: dict[str, float] = {"longest": config.longest, "frame": model.frame}
    learnt, left = transcribed(speech, model.alphabet, **limits, fastest=max(config.speeds))
    judged, _ = transcribed(held_out, model.alphabet, **limits)
    for reason, count in left.items():
        say(f"{count} of {len(speech)} utterances left out: {reason}")
    count = machine.crops(config.every, config.batch)
    spoken = sentences(learnt, config.batch * machine.devices, count, config.speeds, config.seed)
    loader = torch.utils.data.DataLoader(
        spoken, config.batch, collate_fn=collate, **machine.loading
    )
    whole = Sentences(judged, 1, len(judged))  # the shortest first
    kept = torch.utils.data.DataLoader(
        whole, config.batch, collate_fn=collated, pin_memory=machine.cuda
    )
    outcome = fit_configured(
        recognition(model.net, model.alphabet, config),
        loader,
        kept,
        folder,
        config,
        seconds,
        monitor="CER %",
        machine=machine,
        say=say,
        keep=keep,
    )
    model.net.eval()
    return outcome
