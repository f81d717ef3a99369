"""Training MUSA's codec: rebuild speech, while two distillations say what goes where.

Yao et al. (paper 2), sections III and IV.B: the codec rebuilds its input (equation 5) and deceives
discriminators (6 to 8); its speaker encoder says the same of two segments of an utterance, and who
speaks (2); the first codebook says what a teacher says (4). Nobody is named to it but by the
speakers' labels, and nothing is transcribed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.codec.codec import RATE, Codec, sizes
from voicenym.nets.codec.speaker import BANDS, FFT, HOP, LEAST_SAMPLES
from voicenym.nets.synthesis.discriminators import (
    PERIODS,
    SPECTRA,
    Judgement,
    MultiPeriod,
    MultiScale,
    MultiSpectral,
)
from voicenym.nets.synthesis.losses import LogMel, mel_distance
from voicenym.nets.weight_norm import fold, normalize_weights
from voicenym.training import codec_losses as losses
from voicenym.training.codec_losses import Teacher, Weights
from voicenym.training.codec_takes import CodecCrops, Segments, Taught
from voicenym.training.fit import Limits, Machine, Outcome, fit, share_done
from voicenym.training.pace import seeded

SHOWN = 3
"""Held-out recordings that the log plays and shows."""
JUDGED = 64
"""Crops in a validation."""
MOST_VOICES = 2_000
"""Utterances whose vectors say how speakers lie."""
VOICE_SAMPLES = 10 * RATE
"""Of each, at most."""
HIFICODEC_SPECTRA = (*SPECTRA, (256, 64), (128, 32))
PERIOD_CHANNELS = (32, 128, 512, 1024, 1024)


@dataclass(frozen=True)
class Falling:
    """The learning rate falls by a factor every epoch.

    Args:
        factor: an epoch's; the paper's is 0.999.
        epochs: in the whole training. 500,000 steps of 128 are 154 passes over the paper's English
            data, two halves of LibriTTS and LibriSpeech of some 415,500 utterances together.
        rise: share of the training in which the rate rises to its peak first.
    """

    factor: float = 0.999
    epochs: float = 154.0
    rise: float = 0.0

    def __call__(self, share: float) -> float:
        """The rate, as a share of the peak, after a share of the training, 0 to 1."""
        risen = min(1.0, (share + 1e-3) / self.rise) if self.rise else 1.0
        return risen * self.factor ** (self.epochs * min(max(share, 0.0), 1.0))


@dataclass(frozen=True)
class MusaConfig:
    """A recipe; the paper's, where it names a figure.

    Args:
        codec: sizes, see :class:`voicenym.nets.codec.codec.CodecConfig`.
        weights: of the losses.
        seconds: length of a crop (the paper does not say).
        batch: crops in a step.
        other: share of crops whose speaker is heard in the other segment, so that the vector
            cannot hold what is said in this one. (The paper takes "s1 or s1", one of them a slip.)
        adversarial: share of the training after which discriminators join; 1 for never.
        judges: widths of the discriminators, as a share of the published ones.
        rate: peak of the learning rate (AdamW).
        decay: of the weights.
        clip: greatest norm of a gradient; 0 for no limit.
        schedule: of the learning rate.
        steps: at most.
        every: steps from one validation to the next.
        held_out: share of the speakers kept out, to watch by.
        seed: of everything drawn.
    """

    codec: dict[str, Any] = field(default_factory=dict)
    weights: Weights = field(default_factory=Weights)
    seconds: float = 1.0
    batch: int = 128
    other: float = 0.5
    adversarial: float = 0.0
    judges: float = 1.0
    rate: float = 2e-4
    decay: float = 0.01
    clip: float = 0.0
    schedule: Falling = field(default_factory=Falling)
    steps: int = 500_000
    every: int = 1000
    held_out: float = 0.04
    seed: int = 0


class Coding(pl.LightningModule):
    """The training step and the validation.

    Args:
        codec: what is trained.
        speakers: in the training data.
        classes: that the teacher tells apart; 0 without one.
        config: the recipe.
    """

    def __init__(self, codec: Codec, speakers: int, classes: int, config: MusaConfig) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.codec = codec
        self.recipe = config
        self.who = losses.SpeakerDistillation(codec.size, speakers)
        self.what = losses.SemanticDistillation(codec.size, classes) if classes else None
        self.judges = torch.nn.ModuleList()
        if config.adversarial < 1.0:
            self.judges.extend(discriminators(config.judges))
        self.mel = LogMel(fft=FFT, hop=HOP, bands=BANDS)

    def configure_optimizers(self) -> list[torch.optim.Optimizer]:
        settings: dict[str, Any] = {
            "lr": self.recipe.rate,
            "weight_decay": self.recipe.decay,
            "betas": (0.8, 0.99),
        }
        own = [*self.codec.parameters(), *self.who.parameters()]
        own += [] if self.what is None else [*self.what.parameters()]
        made: list[torch.optim.Optimizer] = [
            torch.optim.AdamW([p for p in own if p.requires_grad], **settings)
        ]
        if len(self.judges):
            made.append(torch.optim.AdamW(self.judges.parameters(), **settings))
        return made

    def training_step(self, batch: Sequence[torch.Tensor], index: int) -> torch.Tensor:
        crop = Segments(*batch)
        generator = seeded(self.device, self.recipe.seed, self.global_rank, self.global_step)
        lost, fake = self.lost(crop, generator)
        if self._trainer is None:
            return self.recipe.weights.total(lost)
        optimizers = self.optimizers()
        optimizers = optimizers if isinstance(optimizers, list) else [optimizers]
        if len(self.judges) and share_done(self) >= self.recipe.adversarial:
            lost.update(self._game(crop.samples, fake, optimizers[1]))
        total = self.recipe.weights.total(lost)
        for name, value in lost.items():
            self.log(f"train/{name}", value.detach(), prog_bar=name == "rebuilding")
        self._update(optimizers[0], total)
        return total.detach()

    def lost(
        self, crop: Segments, generator: torch.Generator
    ) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        """Losses by the weights' names, but for the game's, and the waveform ``[batch, time]``."""
        one, two = self.codec.speaker(crop.samples), self.codec.speaker(crop.other)
        rows = len(crop.samples)
        swapped = torch.rand(rows, 1, generator=generator, device=generator.device)
        own = torch.where(swapped < self.recipe.other, two, one)
        coded = self.codec(crop.samples, own)
        quantized = coded.quantized
        weights = self.recipe.weights
        found = {
            "rebuilding": losses.rebuilding(crop.samples, coded.waveform, self.mel),
            "commitment": quantized.commitment,
        }
        if weights.speaker:
            found["speaker"] = self.who(one, two, crop.speaker)
        if weights.semantic and self.what is not None:
            found["semantic"] = self.what(quantized.first, crop.told)
        self.log("train/perplexity", quantized.perplexity.mean())
        return found, coded.waveform

    def _update(self, optimizer: Any, loss: torch.Tensor) -> None:
        optimizer.zero_grad(set_to_none=True)
        self.manual_backward(loss)
        if self.recipe.clip:
            self.clip_gradients(optimizer, self.recipe.clip, "norm")
        optimizer.step()

    def _judged(self, waveform: torch.Tensor) -> list[Judgement]:
        return [said for judge in self.judges for said in judge(waveform)]

    def _game(
        self, real: torch.Tensor, fake: torch.Tensor, optimizer: Any
    ) -> dict[str, torch.Tensor]:
        """A step of the discriminators, and what the codec loses to them."""
        told = losses.telling(self._judged(real), self._judged(fake.detach()))
        self._update(optimizer, told)
        self.log("discriminators", told.detach())
        return losses.deceiving(self._judged(real), self._judged(fake))

    def validation_step(self, batch: Sequence[torch.Tensor], index: int) -> None:
        crop = Segments(*batch)
        coded = self.codec(crop.samples, self.codec.speaker(crop.other))
        count = len(crop.samples)
        figures = {
            "mel distance": mel_distance(crop.samples, coded.waveform.float(), self.mel),
            "same voice": torch.nn.functional.cosine_similarity(
                self.codec.speaker(crop.samples).float(), coded.own.float(), dim=1
            ).mean(),
            "perplexity": coded.quantized.perplexity.mean(),
        }
        if self.what is not None:
            figures["told right"] = self.what.right(coded.quantized.first, crop.told)
        for name, value in figures.items():
            self.log(name, value, batch_size=count, sync_dist=True)
        if index == 0 and self.logger is not None:
            empty = torch.zeros_like(coded.own)
            nobody = self.codec.decode(coded.quantized.total, empty)
            self._show(crop.samples, coded.waveform.float(), nobody.float())

    def _show(self, real: torch.Tensor, rebuilt: torch.Tensor, nobody: torch.Tensor) -> None:
        """Sounds and spectrograms, original above rebuilt above anonymized, to the log."""
        writer: Any = self.logger.experiment  # type: ignore[union-attr]
        for i, row in enumerate(zip(real[:SHOWN], rebuilt, nobody, strict=False)):
            for name, sound in zip(("original", "rebuilt", "nobody"), row, strict=True):
                writer.add_audio(f"{name} {i}", sound[None].cpu(), self.global_step, RATE)
            mels = torch.cat([self.mel(sound[None])[0].T.flip(0) for sound in row])
            low, high = mels.aminmax()
            picture = ((mels - low) / (high - low + 1e-9))[None]
            writer.add_image(f"mels {i}", picture.cpu(), self.global_step)


def discriminators(share: float) -> list[torch.nn.Module]:
    """HiFi-Codec's: of spectra in five resolutions, of periods, of scales.

    Args:
        share: of the published widths.
    """
    return [
        MultiSpectral(HIFICODEC_SPECTRA, max(1, round(32 * share))),
        MultiPeriod(PERIODS, [max(1, round(c * share)) for c in PERIOD_CHANNELS]),
        MultiScale(width=16 * max(1, round(8 * share))),
    ]


def new(config: MusaConfig) -> Codec:
    """A new codec, whose weights depend on the seed alone.

    Raises:
        VoicenymError: sizes of which there is none.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return Codec(sizes(config.codec, "codec"))


def train(
    codec: Codec,
    heard: Sequence[Taught],
    held_out: Sequence[Taught],
    config: MusaConfig,
    folder: Path,
    *,
    teacher: Teacher | None = None,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train a codec; afterwards it has the weights of its best validation.

    Args:
        codec: new, or with weights to go on from.
        heard: to learn from.
        held_out: of other speakers, to watch by.
        config: the recipe.
        folder: of checkpoints and logs; an interrupted run there is gone on with.
        teacher: who told of what was heard; None without semantic distillation.
        seconds: time at most.
        machine: what to train on.
        say: told every validation's figures.

    Returns:
        Its steps are the optimizers': where discriminators play, each step of theirs counts too.

    Raises:
        CorpusError: nothing to learn from.
        VoicenymError: a recipe or a teacher that does not fit the codec, and as
            :func:`voicenym.training.fit.fit`.
    """
    checked(config, codec, teacher)
    machine = machine or Machine()
    crops = CodecCrops(heard, config.seconds, codec.hop, config.every * config.batch, config.seed)
    kept = CodecCrops(held_out, config.seconds, codec.hop, JUDGED, config.seed + 1)
    loader: dict[str, Any] = {"num_workers": machine.loaders, "pin_memory": machine.cuda}
    classes = 0 if teacher is None else teacher.classes
    ends = (codec.encoder, codec.decoder)
    for end in ends:
        normalize_weights(end)
    try:
        outcome = fit(
            Coding(codec, len(crops.speakers), classes, config),
            torch.utils.data.DataLoader(crops, config.batch, drop_last=True, **loader),
            torch.utils.data.DataLoader(kept, min(16, JUDGED)),
            folder,
            Limits(config.steps, config.every, seconds),
            monitor="mel distance",
            schedule=config.schedule,
            machine=machine,
            clip=None,
            seed=config.seed,
            say=say,
        )
    finally:
        for end in ends:
            fold(end)
    codec.eval()
    voices(codec, heard, config.seed)
    return outcome


def checked(config: MusaConfig, codec: Codec, teacher: Teacher | None) -> None:
    """Refuse what could not be trained.

    Raises:
        VoicenymError: says what to give instead.
    """
    least = LEAST_SAMPLES / RATE
    if config.seconds < least:
        raise VoicenymError(f"seconds: crops of {config.seconds} s are too short; give {least:g}")
    if teacher is None and config.weights.semantic:
        raise VoicenymError(
            "nobody says what the first codebook is to mean; give units (voicenym train units), "
            "or leave it out: weights: {semantic: 0}"
        )
    if teacher is not None and teacher.hop != codec.hop:
        raise VoicenymError(
            f"the teacher's frames are of {teacher.hop} samples, the codec's of {codec.hop}; "
            f"choose strides whose product is {teacher.hop}, or another teacher"
        )


@torch.inference_mode()
def voices(codec: Codec, heard: Sequence[Taught], seed: int) -> None:
    """Let the codec know how speakers' vectors lie: what a rotation turns about and in."""
    order = np.random.default_rng((seed, 19)).permutation(len(heard))
    device = codec.voices.mean.device
    found = []
    for i in order[:MOST_VOICES]:
        samples = heard[i].utterance.samples(0, VOICE_SAMPLES)
        if len(samples) >= LEAST_SAMPLES:
            found.append(codec.speaker(torch.from_numpy(samples)[None].to(device))[0])
    codec.voices.learn_statistics(torch.stack(found))
