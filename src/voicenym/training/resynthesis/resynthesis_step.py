"""The training step of a resynthesis system, and its validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lightning.pytorch as pl
import torch

from voicenym.nets.content.bottleneck import HIGHEST, LOWEST, RATE
from voicenym.nets.gradient_reversal import reversed_gradient
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.synthesis import synthesis_losses
from voicenym.nets.words.phone_states.phone_state_network import FrameNet
from voicenym.resynthesis.bundled.model_parts import Parts
from voicenym.training.resynthesis import conversion_loss as conversion
from voicenym.training.resynthesis.phone_loss import Phones
from voicenym.training.resynthesis.resynthesis_config import ResynthesisConfig
from voicenym.training.resynthesis.resynthesis_dataset import Crop
from voicenym.training.resynthesis.speaker_classifier import SpeakerClassifier
from voicenym.training.run.audio_logging import log_audio
from voicenym.training.run.fit import share_done
from voicenym.training.run.former_run_names import rename_state
from voicenym.training.run.schedule import seeded
from voicenym.training.speech.mel_warping import warped
from voicenym.training.speech.noise_below_speech import noise_below
from voicenym.training.synthesis.discriminator_setup import make_discriminators

LOGGED = 3
"""Number of held-out recordings in the log, as sound and spectrogram."""
RESOLUTIONS = ((512, 80, 320), (1024, 160, 800))
"""Points, hop and window of the magnitudes that are compared."""


class Resynthesizing(pl.LightningModule):
    """The training step and the validation.

    Args:
        parts: to train.
        speakers: in the training data.
        config: of the training.
        encoder: of the speaker vectors; needed for the conversion loss.
        phones: recogniser of the phone loss.
    """

    def __init__(
        self,
        parts: Parts,
        speakers: int,
        config: ResynthesisConfig,
        encoder: Encoder | None = None,
        phones: FrameNet | None = None,
    ) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.parts = parts
        self.recipe = config
        if parts.everybody is not None:
            parts.content.requires_grad_(False)
        self.classifier = SpeakerClassifier(parts.content.size, speakers)
        self.discriminators = torch.nn.ModuleList()
        if config.adversarial < 1.0:
            self.discriminators.extend(make_discriminators(config.discriminators))
        self.encoder: Encoder | None = None
        if config.conversion.share > 0.0:
            if encoder is None:
                raise ValueError("the conversion loss needs the encoder of speaker vectors")
            self.encoder = encoder.requires_grad_(False)
        self.phones = None if phones is None else Phones(phones)
        self.mels = torch.nn.ModuleList(
            [synthesis_losses.LogMel(), synthesis_losses.LogMel(fft=512, hop=80, bands=40)]
        )

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        rename_state(checkpoint, {"judges.": "discriminators.", "guess.": "classifier."})

    def configure_optimizers(self) -> list[torch.optim.Optimizer]:
        settings: dict[str, Any] = {"lr": self.recipe.rate, "weight_decay": self.recipe.decay}
        made: list[torch.optim.Optimizer] = [
            torch.optim.AdamW([*self.parts.parameters(), *self.classifier.parameters()], **settings)
        ]
        if len(self.discriminators):
            made.append(
                torch.optim.AdamW(self.discriminators.parameters(), betas=(0.8, 0.99), **settings)
            )
        return made

    def on_train_batch_start(self, batch: Any, index: int) -> None:
        if self.encoder is not None:
            self.encoder.eval()

    def training_step(self, batch: Sequence[torch.Tensor], index: int) -> torch.Tensor:
        crop = Crop(*batch)
        generator = seeded(self.device, self.recipe.seed, self.global_rank, self.global_step)
        content, numbers, waveform = self.resynthesized(crop, generator)
        distance = self.distance(crop.samples, waveform)
        scores = self.classifier(reversed_gradient(numbers, self.recipe.reversal))
        adversary_loss = torch.nn.functional.cross_entropy(scores, crop.speaker)
        loss = distance + adversary_loss
        self.log("distance", distance, prog_bar=True)
        self.log("speaker entropy", adversary_loss)
        converted, conversion_losses = self.converted(crop, content, generator)
        recognition_losses = self.phone_losses(crop, waveform, converted, generator)
        loss = loss + self.weighted_loss(conversion_losses, recognition_losses)
        self.log_dict({f"other voices: {name}": value for name, value in conversion_losses.items()})
        self.log_dict(dict(recognition_losses))
        if self._trainer is None:
            return loss
        optimizers = self.optimizers()
        optimizers = optimizers if isinstance(optimizers, list) else [optimizers]
        if len(self.discriminators) and share_done(self) >= self.recipe.adversarial:
            game = self._adversarial_step(
                crop.samples, waveform, converted, optimizers[1], generator
            )
            loss = loss * self.recipe.mel + game
        self._update(optimizers[0], loss)
        return loss.detach()

    def resynthesized(
        self, crop: Crop, generator: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Content ``[batch, frame / 2, size]`` of warped crops, the same with noise, and waveform
        ``[batch, time]``.
        """
        rows = len(crop.f0)

        def normal() -> torch.Tensor:
            return torch.randn(rows, generator=generator, device=self.device)

        seed = torch.randint(2**62, (rows,), generator=generator, device=self.device)
        bands = crop.bands
        if self.parts.everybody is None:
            factor = (self.recipe.warp * normal()).clamp(-0.3, 0.3).exp()
            bands = warped(bands, factor, self.recipe.bend * normal(), LOWEST, HIGHEST)
        content = self.content_of(bands, crop)
        numbers = self.parts.content.noisy(content, seed)
        waveform = self._synthesized(numbers, crop.power, crop.f0, crop.vector, seed)
        return content, numbers, waveform

    def _synthesized(
        self,
        numbers: torch.Tensor,
        power: torch.Tensor,
        f0: torch.Tensor,
        vector: torch.Tensor,
        seed: torch.Tensor,
    ) -> torch.Tensor:
        """Waveform ``[row, time]``; content ``[row, frame / 2, size]`` has its noise already."""
        return self.parts.synthesizer(self.parts.conditions(numbers, power), f0, vector, seed)

    def content_of(self, bands: torch.Tensor, crop: Crop) -> torch.Tensor:
        """Content ``[batch, frame / 2, size]`` without noise, the input of the synthesizer."""
        numbers = self.parts.content.encode(bands)
        statistics = self.parts.everybody
        if statistics is None:
            return numbers
        normalised: torch.Tensor = statistics(numbers, statistics.map(crop.content))
        return normalised

    def converted(
        self, crop: Crop, content: torch.Tensor, generator: torch.Generator
    ) -> tuple[torch.Tensor | None, dict[str, torch.Tensor]]:
        """Waveform ``[row, time]`` of the first crops in other voices, and its losses."""
        config = self.recipe.conversion
        rows = round(config.share * len(crop.f0))
        if self.encoder is None or rows == 0:
            return None, {}
        some, content = Crop(*[value[:rows] for value in crop]), content[:rows]
        voices = conversion.wanted(self.parts, some, config, generator)
        seed = torch.randint(2**62, (rows,), generator=generator, device=self.device)
        numbers = self.parts.content.noisy(content, seed)
        waveform = self._synthesized(numbers, some.power, voices.f0, voices.vectors, seed).float()
        losses = conversion.losses(
            self.parts, self.encoder, some, content, voices.vectors, waveform, config, generator
        )
        return waveform, losses

    def phone_losses(
        self,
        crop: Crop,
        resynthesized: torch.Tensor,
        converted: torch.Tensor | None,
        generator: torch.Generator,
    ) -> dict[str, torch.Tensor]:
        """Phone losses in nats a frame, of reconstructed and of converted speech.

        Both signals have the same noise added, so that inaudible components cannot lower the loss.

        Args:
            crop: the original.
            resynthesized, converted: ``[row, time]``, in the speakers' own voices, and the first
                crops in other voices, if any.
            generator: of the noise.
        """
        if self.phones is None:
            return {}
        below = self.recipe.conversion.noise
        synthesized = {"phones": resynthesized, "other voices: phones": converted}
        losses = {}
        for name, waveform in synthesized.items():
            if waveform is not None:
                original = crop.samples[: len(waveform)]
                noise = noise_below(original, below, generator)
                losses[name] = self.phones(original + noise, waveform.float() + noise).mean()
        return losses

    def weighted_loss(
        self,
        conversion_losses: dict[str, torch.Tensor],
        recognition_losses: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        """Weighted sum of conversion and phone losses."""
        weight = 0.5 * self.recipe.phones
        parts = [weight * value for value in recognition_losses.values()]
        if conversion_losses:
            parts.append(conversion.total(conversion_losses, self.recipe.conversion))
        return torch.stack(parts).sum() if parts else torch.zeros((), device=self.device)

    def distance(self, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
        """Spectral distance of waveforms."""
        with torch.autocast(self.device.type, enabled=False):
            fake = fake.float()
            parts = [synthesis_losses.mel_distance(real, fake, mel) for mel in self.mels]  # type: ignore[arg-type]
            parts.append(synthesis_losses.multi_resolution_stft(real, fake, RESOLUTIONS))
        return torch.stack(parts).sum()

    def _update(self, optimizer: Any, loss: torch.Tensor) -> None:
        optimizer.zero_grad(set_to_none=True)
        self.manual_backward(loss)
        self.clip_gradients(optimizer, self.recipe.clip, "norm")
        optimizer.step()

    def _adversarial_step(
        self,
        real: torch.Tensor,
        rebuilt: torch.Tensor,
        converted: torch.Tensor | None,
        optimizer: Any,
        generator: torch.Generator,
    ) -> torch.Tensor:
        """A step of the discriminators, and the adversarial loss of the synthesizer.

        Converted crops have no reference for feature matching.
        """
        time = round(self.recipe.discriminator_seconds * RATE) or real.shape[1]
        last = max(0, real.shape[1] - time)
        first = int(torch.randint(last + 1, (), generator=generator, device=self.device))
        span = slice(first, first + time)
        free = 0 if converted is None else len(converted)
        real, fake = real[:, span], rebuilt[:, span].float()
        if converted is not None:
            # Discriminators get rows with two outputs once, in the other voice.
            fake = torch.cat([converted[:, span], fake[free:]])
        loss = torch.stack(
            [
                synthesis_losses.discriminator_hinge(
                    [j.score for j in discriminator(real)],
                    [j.score for j in discriminator(fake.detach())],
                )
                for discriminator in self.discriminators
            ]
        ).sum()
        self._update(optimizer, loss)
        self.log("discriminators", loss)
        total = fake.new_zeros(())
        for discriminator in self.discriminators:
            of_fake = discriminator(fake)
            total = total + synthesis_losses.generator_hinge([j.score for j in of_fake])
            if free == len(fake):
                continue
            with torch.no_grad():
                of_real = discriminator(real[free:])
            total = total + 2.0 * synthesis_losses.feature_matching(
                [j.features for j in of_real],
                [[f[free:] for f in j.features] for j in of_fake],
                relative=True,
            )
        return total

    def validation_step(self, batch: Sequence[torch.Tensor], index: int) -> None:
        crop = Crop(*batch)
        seed = torch.arange(len(crop.f0), device=self.device)
        encoder = self.parts.content
        content = self.content_of(crop.bands, crop)
        numbers = encoder.noisy(content, seed)
        waveform = self._synthesized(numbers, crop.power, crop.f0, crop.vector, seed)
        mel: Any = self.mels[0]
        distance = synthesis_losses.mel_distance(crop.samples, waveform.float(), mel)
        self.log("mel distance", distance, batch_size=len(seed), sync_dist=True)
        generator = seeded(self.device, self.recipe.seed, index)
        converted, conversion_losses = self.converted(crop, content, generator)
        recognition_losses = self.phone_losses(crop, waveform, converted, generator)
        worth = distance + self.weighted_loss(conversion_losses, recognition_losses)
        for name, value in {**conversion_losses, **recognition_losses}.items():
            self.log(f"kept out: {name}", value, batch_size=len(seed), sync_dist=True)
        self.log("loss kept out", worth, batch_size=len(seed), sync_dist=True)
        if index == 0:
            both = {"original": crop.samples[:LOGGED], "rebuilt": waveform[:LOGGED].float()}
            log_audio(self, both, mel, RATE)
