"""Training step of the MUSA codec: reconstruction, adversarial losses and two distillations.

Yao et al. (MUSA), sections III and IV.B: the codec reconstructs its input (equation 5) against
discriminators (6 to 8); its speaker encoder gives similar vectors for two segments of an utterance,
from which a classifier predicts the speaker (2); the first codebook predicts a teacher's labels
(4). Training needs speaker labels and no transcripts. Beyond the paper, the states of a recogniser
over original and decoded speech may be made to agree.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import lightning.pytorch as pl
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.codec.codec import RATE, Codec
from voicenym.nets.codec.style_encoder import BANDS, FFT, HOP
from voicenym.nets.synthesis.discriminators import (
    PERIODS,
    SPECTRA,
    DiscriminatorOutput,
    MultiPeriod,
    MultiScale,
    MultiSpectral,
)
from voicenym.nets.synthesis.synthesis_losses import LogMel, mel_distance
from voicenym.nets.words.whisper.whisper import Encoder as WhisperEncoder
from voicenym.training.codec import codec_losses
from voicenym.training.codec.codec_dataset import Segments
from voicenym.training.codec.musa_config import MusaConfig
from voicenym.training.run.fit import share_done
from voicenym.training.run.former_run_names import rename_state
from voicenym.training.run.run_callbacks import steps_done
from voicenym.training.run.schedule import seeded
from voicenym.training.synthesis.discriminator_setup import make_discriminators
from voicenym.training.synthesis.recogniser_loss import RecogniserLoss

CLUSTERED = 32
"""Number of latest steps whose frames initialise the codebooks by clustering."""
LOGGED = 3
"""Number of held-out recordings in the log, as sound and spectrogram."""
HIFICODEC_SPECTRA = (*SPECTRA, (256, 64), (128, 32))
PERIOD_CHANNELS = (32, 128, 512, 1024, 1024)


class Coding(pl.LightningModule):
    """The training step and the validation.

    Args:
        codec: to train.
        speakers: in the training data.
        classes: of the teacher; 0 without one.
        config: of the training.
        recogniser: encoder of the distance that ``config.weights.words`` weighs.
    """

    def __init__(
        self,
        codec: Codec,
        speakers: int,
        classes: int,
        config: MusaConfig,
        recogniser: WhisperEncoder | None = None,
    ) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.codec = codec
        self.recipe = config
        self.who = codec_losses.SpeakerDistillation(codec.size, speakers)
        self.what = codec_losses.SemanticDistillation(codec.size, classes) if classes else None
        self.discriminators = torch.nn.ModuleList()
        if config.adversarial < 1.0:
            options = config.discriminators
            self.discriminators.extend(
                make_discriminators(options)
                if options
                else discriminators(config.discriminator_width)
            )
        self._recent: deque[torch.Tensor] = deque(maxlen=CLUSTERED)
        self.mel = LogMel(fft=FFT, hop=HOP, bands=BANDS)
        self.mels = torch.nn.ModuleList([mel_of(points) for points in config.mels])
        # in a list, so that checkpoints do not contain it
        self._states = [RecogniserLoss(recogniser)] if recogniser and config.weights.words else []

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        rename_state(checkpoint, {"judges.": "discriminators."})

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
        if len(self.discriminators):
            made.append(torch.optim.AdamW(self.discriminators.parameters(), **settings))
        return made

    def training_step(self, batch: Sequence[torch.Tensor], index: int) -> torch.Tensor:
        crop = Segments(*batch)
        generator = seeded(self.device, self.recipe.seed, self.global_rank, self.global_step)
        losses, fake = self.losses(crop, generator)
        if self._trainer is None:
            return self.recipe.weights.total(losses)
        optimizers = self.optimizers()
        optimizers = optimizers if isinstance(optimizers, list) else [optimizers]
        if len(self.discriminators) and share_done(self) >= self.recipe.adversarial:
            losses.update(self._adversarial_step(crop.samples, fake, optimizers[1]))
        total = self.recipe.weights.total(losses)
        for name, value in losses.items():
            self.log(f"train/{name}", value.detach(), prog_bar=name == "rebuilding")
        self._update(optimizers[0], total)
        return total.detach()

    def losses(
        self, crop: Segments, generator: torch.Generator
    ) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        """Losses by the names of the weights, without the adversarial ones, and the waveform
        ``[batch, time]``.
        """
        one, two = self.codec.speaker(crop.samples), self.codec.speaker(crop.other)
        rows = len(crop.samples)
        swapped = torch.rand(rows, 1, generator=generator, device=generator.device)
        own = torch.where(swapped < self.recipe.other, two, one)
        weights = self.recipe.weights
        found = {}
        frames = self.codec.frames(crop.samples, own)
        if self._trainer is not None and steps_done(self.trainer) < self.recipe.unquantized:
            self._recent.append(frames.detach())
            first = total = frames
        else:
            self._begin()
            quantized = self.codec.quantizer(frames, self._codebooks(rows, generator))
            first, total = quantized.first, quantized.total
            found["commitment"] = quantized.commitment
            self.log("train/perplexity", quantized.perplexity.mean())
        waveform = self.codec.decode(total, own)[:, : crop.samples.shape[1]]
        found["rebuilding"] = codec_losses.rebuilding(crop.samples, waveform, *self.mels)
        if weights.speaker:
            found["speaker"] = self.who(one, two, crop.speaker)
        if weights.semantic and self.what is not None:
            found["semantic"] = self.what(first, crop.labels)
        for recogniser in self._states:
            found["words"] = recogniser.to(self.device)(crop.samples, waveform.float())
        return found, waveform

    def _codebooks(self, rows: int, generator: torch.Generator) -> torch.Tensor | None:
        """Number of codebooks from which each crop is decoded: ``[row]``; None for all."""
        if not self.recipe.partial:
            return None
        every = self.codec.sizes.codebooks
        chance, place = torch.rand(2, rows, generator=generator, device=generator.device)
        few = 1 + (every * place.square()).long()
        return torch.where(chance < self.recipe.partial, few, every)

    def on_validation_start(self) -> None:
        self._begin()  # what is kept is a codec, whenever

    def _begin(self) -> None:
        """Initialise new codebooks as clusters of the latest frames."""
        if self._recent:
            self.codec.quantizer.begin(self._recent)
            self._recent.clear()

    def _update(self, optimizer: Any, loss: torch.Tensor) -> None:
        optimizer.zero_grad(set_to_none=True)
        self.manual_backward(loss)
        if self.recipe.clip:
            self.clip_gradients(optimizer, self.recipe.clip, "norm")
        optimizer.step()

    def _discriminated(self, waveform: torch.Tensor) -> list[DiscriminatorOutput]:
        return [
            output for discriminator in self.discriminators for output in discriminator(waveform)
        ]

    def _adversarial_step(
        self, real: torch.Tensor, fake: torch.Tensor, optimizer: Any
    ) -> dict[str, torch.Tensor]:
        """A step of the discriminators, and the adversarial losses of the codec."""
        seen = round(self.recipe.discriminator_seconds * RATE) or real.shape[1]
        real, fake = real[:, :seen], fake[:, :seen]
        loss = codec_losses.discriminator_loss(
            self._discriminated(real), self._discriminated(fake.detach())
        )
        self._update(optimizer, loss)
        self.log("discriminators", loss.detach())
        return codec_losses.generator_losses(self._discriminated(real), self._discriminated(fake))

    def validation_step(self, batch: Sequence[torch.Tensor], index: int) -> None:
        crop = Segments(*batch)
        count = len(crop.samples)
        own = self.codec.speaker(crop.other)
        # validated as it is trained: from few codebooks if it is trained on few
        most = self._codebooks(count, seeded(self.device, self.recipe.seed, 911, index))
        quantized = self.codec.quantizer(self.codec.frames(crop.samples, own), most)
        rebuilt = self.codec.decode(quantized.total, own)[:, : crop.samples.shape[1]].float()
        figures = {
            "mel distance": mel_distance(crop.samples, rebuilt, self.mel),
            "same voice": torch.nn.functional.cosine_similarity(
                self.codec.speaker(crop.samples).float(), own.float(), dim=1
            ).mean(),
            "perplexity": quantized.perplexity.mean(),
        }
        if self.what is not None:
            figures["units right"] = self.what.right(quantized.first, crop.labels)
        for name, value in figures.items():
            self.log(name, value, batch_size=count, sync_dist=True)
        if index == 0 and self.logger is not None:
            empty_voice = self.codec.decode(quantized.total, torch.zeros_like(own))
            self._show(crop.samples, rebuilt, empty_voice.float())

    def _show(self, real: torch.Tensor, rebuilt: torch.Tensor, empty_voice: torch.Tensor) -> None:
        """Writes sounds and spectrograms to the log: original, rebuilt and anonymized."""
        writer: Any = self.logger.experiment  # type: ignore[union-attr]
        step = steps_done(self.trainer)
        for i, row in enumerate(zip(real[:LOGGED], rebuilt, empty_voice, strict=False)):
            for name, sound in zip(("original", "rebuilt", "nobody"), row, strict=True):
                writer.add_audio(f"{name} {i}", sound[None].cpu(), step, RATE)
            mels = torch.cat([self.mel(sound[None])[0].T.flip(0) for sound in row])
            low, high = mels.aminmax()
            picture = ((mels - low) / (high - low + 1e-9))[None]
            writer.add_image(f"mels {i}", picture.cpu(), step)


def mel_of(points: int) -> LogMel:
    """Mels of a transform of so many points: 80 bands, or as many as short windows resolve.

    Raises:
        VoicenymError: no transform.
    """
    if points < 64 or points % 4:
        raise VoicenymError(f"mels: {points} points; give 64 or more, a multiple of 4")
    return LogMel(fft=points, hop=points // 4, bands=min(BANDS, points // 12))


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
