"""Training step of a synthesizer, with or without discriminators, and its validation.

Kong et al., "HiFi-GAN", NeurIPS 2020, equations 1 to 8: mel distance, adversarial losses of
discriminators of periods and scales, and feature matching. Content, pitch and the speaker's vector
are inputs and are not trained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import lightning.pytorch as pl
import torch

from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.synthesis import synthesis_losses
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.nets.words.whisper.whisper import Encoder as WhisperEncoder
from voicenym.resynthesis.pipeline.synthesis_settings import Settings
from voicenym.training.run.audio_logging import log_audio
from voicenym.training.run.fit import share_done
from voicenym.training.run.former_run_names import rename_state
from voicenym.training.run.schedule import Falling, seeded
from voicenym.training.synthesis.converted_crops import in_other_voices
from voicenym.training.synthesis.decoder_loss import DecoderLoss
from voicenym.training.synthesis.discriminator_setup import (
    discriminator_outputs,
    make_discriminators,
)
from voicenym.training.synthesis.drawn_voices import DrawnVoices
from voicenym.training.synthesis.recogniser_loss import RecogniserLoss
from voicenym.training.synthesis.speaker_loss import SpeakerLoss
from voicenym.training.synthesis.spoken_texts import SpokenTexts
from voicenym.training.synthesis.synthesis_dataset import SynthesisCrop

LOGGED = 3
"""Number of held-out recordings in the log, as sound and spectrogram."""
FFT, MEL_HOP = 1024, 256
"""Window and hop of the compared mels in samples: HiFi-GAN's, also at 16 kHz."""


@dataclass(frozen=True)
class SynthesizerConfig:
    """Configuration; the defaults are HiFi-GAN's, at the segments of the SSL-based pipeline.

    Args:
        synthesizer: kind, as of :data:`voicenym.nets.synthesis.synthesizers.KINDS`.
        options: of the synthesizer, without ``content`` and ``speaker``.
        settings: tracker of pitch and scale of speaker vectors, which the result keeps.
        seconds: length of a crop: 8,960 samples in the SSL-based pipeline, 5,120 in B1.b.
        batch: crops in a step.
        peak: of every utterance after normalisation, as in HiFi-GAN, since content need not carry
            the level; a pipeline gives its output the level of the original. 0 for none.
        adversarial: share of the training after which discriminators join; 1 for never.
        discriminators: options of the discriminators, by their names in
            :data:`voicenym.training.synthesis.discriminator_setup.DISCRIMINATORS`; published
            sizes unless given.
        discriminator_seconds: seconds of a crop that they see; 0 for the whole.
        mel: weight of the mean absolute difference of log mels.
        spectra: weight of magnitudes in three resolutions (Yamamoto et al. 2020); 0 in HiFi-GAN.
        features: weight of the discriminators' layers.
        game: weight of the adversarial loss.
        words: weight of the distance of a recogniser's states between the original and the
            synthesized crop (:mod:`voicenym.training.synthesis.recogniser_loss`); 0 for none.
        converted: share of the crops that are also synthesized in another voice
            (:mod:`voicenym.training.synthesis.converted_crops`), which ``words`` and ``game``
            weigh; 0 for none. Reconstruction alone never asks for words in another voice.
        drawn: share of the crops that are also synthesized in a voice and with F0 that are drawn
            as by a pipeline (:mod:`voicenym.training.synthesis.drawn_voices`), which ``words`` and
            ``game`` weigh; 0 for none.
        speaker: weight of the distance of speaker vectors between the original and the synthesized
            crop (:mod:`voicenym.training.synthesis.speaker_loss`); 0 for none.
        texts: weight of the cross-entropy of texts by the recogniser's decoder, which reads whole
            recordings in drawn voices and accents (:mod:`voicenym.training.synthesis.spoken_texts`,
            :mod:`voicenym.training.synthesis.decoder_loss`); 0 for none.
        text_rows: such recordings in a step.
        acoustic: of a synthesizer of two parts, whether the first, acoustic model or frame network,
            learns, too; else the vocoder alone learns, from what a first part with its weights
            (``--from``) gives.
        rate: peak of the learning rate (AdamW).
        betas: of the optimizers.
        decay: of the weights.
        clip: greatest norm of a gradient; 0 for no limit.
        schedule: of the learning rate. In 500,000 steps of 32, LibriTTS's train-clean-100, of
            33,236 utterances, is passed over 481 times.
        steps: maximum number of optimizer steps.
        every: steps from one validation to the next.
        held_out: share of the speakers held out for validation.
        seed: of all random draws.
    """

    FORMER_NAMES: ClassVar[Mapping[str, str]] = {
        "judges": "discriminators",
        "judged": "discriminator_seconds",
    }
    """Fields of earlier configurations, see :func:`voicenym.training.run.config.build`."""

    synthesizer: str = "hifigan"
    options: dict[str, Any] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    seconds: float = 0.56
    batch: int = 32
    peak: float = 0.95
    adversarial: float = 0.0
    discriminators: dict[str, Any] = field(default_factory=lambda: {"period": {}, "scale": {}})
    discriminator_seconds: float = 0.0
    mel: float = 45.0
    spectra: float = 0.0
    features: float = 2.0
    game: float = 1.0
    words: float = 0.0
    converted: float = 0.0
    drawn: float = 0.0
    speaker: float = 0.0
    texts: float = 0.0
    text_rows: int = 2
    acoustic: bool = True
    rate: float = 2e-4
    betas: tuple[float, float] = (0.8, 0.99)
    decay: float = 0.01
    clip: float = 0.0
    schedule: Falling = field(default_factory=lambda: Falling(epochs=481.0))
    steps: int = 500_000
    every: int = 1000
    held_out: float = 0.04
    seed: int = 0


class Speaking(pl.LightningModule):
    """Base of the trainings of synthesizers: validation and optimizer steps.

    Args:
        network: to train.
        config: of the training.
    """

    def __init__(self, network: Synthesizer, config: SynthesizerConfig) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.network = network
        self.recipe = config
        self.mel = synthesis_losses.LogMel(network.rate, FFT, MEL_HOP)

    def optimizer(self, *parts: torch.nn.Module) -> torch.optim.Optimizer:
        """An optimizer of parts."""
        every = (parameter for part in parts for parameter in part.parameters())
        own = [parameter for parameter in every if parameter.requires_grad]
        recipe = self.recipe
        return torch.optim.AdamW(own, recipe.rate, recipe.betas, weight_decay=recipe.decay)

    def update(self, optimizer: Any, loss: torch.Tensor) -> None:
        """A step of an optimizer."""
        optimizer.zero_grad(set_to_none=True)
        self.manual_backward(loss)
        if self.recipe.clip:
            self.clip_gradients(optimizer, self.recipe.clip, "norm")
        optimizer.step()

    def seeds(self, rows: int) -> torch.Tensor:
        """Seeds of the noise of a step's rows, ``[row]`` int64."""
        generator = seeded(self.device, self.recipe.seed, self.global_rank, self.global_step)
        return torch.randint(2**62, (rows,), generator=generator, device=self.device)

    def other_distances(self, real: torch.Tensor, made: torch.Tensor) -> dict[str, torch.Tensor]:
        """More figures of a validation, by name."""
        return {}

    def validation_step(self, batch: Sequence[torch.Tensor], index: int) -> None:
        crop = SynthesisCrop(*batch)
        rows, frames = crop.f0.shape
        seed = torch.arange(rows, device=self.device) + index
        made = self.network(crop.content, crop.f0, crop.vector, seed).float()
        distance = synthesis_losses.mel_distance(crop.samples, made, self.mel)
        # utterances count in proportion to their length
        self.log("mel distance", distance, batch_size=rows * frames, sync_dist=True)
        for name, value in self.other_distances(crop.samples, made).items():
            self.log(name, value, batch_size=rows * frames, sync_dist=True)
        if index < LOGGED:
            both = {"original": crop.samples[:1], "spoken": made[:1]}
            log_audio(self, both, self.mel, self.network.rate, index)


class Adversarial(Speaking):
    """The training step of a synthesizer that is one network.

    Args:
        network: to train.
        config: of the training.
        recogniser: encoder of the distance that ``config.words`` weighs.
        voices: of the crops that ``config.drawn`` asks for.
        every: frames of the synthesizer that share one of content.
        texts: recordings of the loss that ``config.texts`` weighs, and the loss.
        encoder: of the speaker vectors that ``config.speaker`` compares.
    """

    def __init__(
        self,
        network: Synthesizer,
        config: SynthesizerConfig,
        recogniser: WhisperEncoder | None = None,
        voices: DrawnVoices | None = None,
        every: int = 1,
        texts: tuple[SpokenTexts, DecoderLoss] | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        super().__init__(network, config)
        # in lists, so that their weights are not this module's
        self._states = [RecogniserLoss(recogniser)] if recogniser and config.words else []
        self._voices = [voices] if voices and (config.drawn or config.texts) else []
        self._texts, self._every = [texts] if texts and config.texts else [], every
        self._speaker = [SpeakerLoss(encoder)] if encoder and config.speaker else []
        self.discriminators = torch.nn.ModuleList()
        if config.adversarial < 1.0:
            self.discriminators.extend(make_discriminators(config.discriminators))

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        rename_state(checkpoint, {"judges.": "discriminators."})

    def other_distances(self, real: torch.Tensor, made: torch.Tensor) -> dict[str, torch.Tensor]:
        found = {}
        if self._states:
            found["words"] = self._states[0].to(self.device)(real, made)
        if self._speaker:
            found["speaker"] = self._of_speaker(real, made)
        return found

    def configure_optimizers(self) -> list[torch.optim.Optimizer]:
        parts = [self.network, self.discriminators] if len(self.discriminators) else [self.network]
        return [self.optimizer(part) for part in parts]

    def of_parts(self, crop: SynthesisCrop, seed: torch.Tensor) -> torch.Tensor:
        """Weighed losses of the parts of a network of several, added to those of its sound."""
        return crop.samples.new_zeros(())

    def training_step(self, batch: Sequence[torch.Tensor], index: int) -> torch.Tensor:
        crop = SynthesisCrop(*batch)
        seed = self.seeds(len(crop.f0))
        made = self.network(crop.content, crop.f0, crop.vector, seed).float()
        distance = synthesis_losses.mel_distance(crop.samples, made, self.mel)
        loss = self.recipe.mel * distance
        self.log("train/mel distance", distance.detach(), prog_bar=True)
        if self.recipe.spectra:
            with torch.autocast(self.device.type, enabled=False):
                spectral_distance = synthesis_losses.multi_resolution_stft(crop.samples, made)
            self.log("train/spectra", spectral_distance.detach())
            loss = loss + self.recipe.spectra * spectral_distance
        loss = loss + self.of_parts(crop, seed)
        others = self._in_other_voices(crop, seed)
        if self._states:
            recogniser = self._states[0].to(self.device)
            wanted = recogniser.states(crop.samples)
            for name, spoken in {"": made, **others}.items():
                of_words = recogniser.distance([x[: len(spoken)] for x in wanted], spoken)
                self.log(f"train/words{name}", of_words.detach(), prog_bar=True)
                loss = loss + self.recipe.words * of_words
        if self._speaker:
            of_speaker = self._of_speaker(crop.samples, made)
            self.log("train/speaker", of_speaker.detach(), prog_bar=True)
            loss = loss + self.recipe.speaker * of_speaker
        if self._texts:
            of_texts = self._of_texts()
            self.log("train/texts", of_texts.detach(), prog_bar=True)
            loss = loss + self.recipe.texts * of_texts
        if self._trainer is None:
            return loss
        optimizers = self.optimizers()
        optimizers = optimizers if isinstance(optimizers, list) else [optimizers]
        if len(self.discriminators) and share_done(self) >= self.recipe.adversarial:
            converted = torch.cat([made[:0], *others.values()])
            loss = loss + self._adversarial_step(crop.samples, made, converted, optimizers[1])
        self.update(optimizers[0], loss)
        return loss.detach()

    def _in_other_voices(self, crop: SynthesisCrop, seed: torch.Tensor) -> dict[str, torch.Tensor]:
        """First rows of a batch in other voices, ``[row, time]``, by the name of their kind."""
        found: dict[str, torch.Tensor] = {}
        if not self._states:
            return found
        shares = {" converted": self.recipe.converted}
        if self._voices and self.recipe.drawn:
            shares[" drawn"] = self.recipe.drawn
        for name, share in shares.items():
            rows = round(share * len(crop.f0))
            if not rows:
                continue
            if name == " converted":
                other = in_other_voices(crop, self.recipe.settings, self._generator(2))
            else:
                voices = self._voices[0].to(self.device)
                draws = self._generator(3)
                other = voices(crop, self.recipe.settings, self._every, draws)
            conditions = other.content[:rows], other.f0[:rows], other.vector[:rows]
            found[name] = self.network(*conditions, seed[:rows]).float()
        return found

    def _of_speaker(self, real: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
        """Distance of the speaker vectors of originals and synthesized speech."""
        return self._speaker[0].to(self.device)(real, made, self._generator(5))

    def _of_texts(self) -> torch.Tensor:
        """Cross-entropy of the texts of recordings that are drawn, in drawn voices."""
        [(texts, reader)] = self._texts
        voices, draws = self._voices[0].to(self.device), self._generator(4)
        made, frames, written = texts.drawn(
            self.recipe.text_rows, voices, self.recipe.settings, self._every, draws
        )
        size = (len(written),)
        seed = torch.randint(2**62, size, generator=draws, device=self.device)
        sound = self.network(made.content, made.f0, made.vector, seed).float()
        place = torch.arange(sound.shape[1], device=self.device)
        spoken = sound * (place < frames[:, None] * self.network.hop)
        return reader.to(self.device)(spoken, written)

    def _generator(self, use: int) -> torch.Generator:
        """Random draws of this step, for a use other than the seeds of noise."""
        return seeded(self.device, self.recipe.seed, self.global_rank, self.global_step, use)

    def _adversarial_step(
        self,
        real: torch.Tensor,
        fake: torch.Tensor,
        converted: torch.Tensor,
        optimizer: Any,
    ) -> torch.Tensor:
        """A step of the discriminators, and the adversarial loss of the synthesizer.

        Args:
            real, fake: ``[row, time]``, original and synthesized crops.
            converted: ``[row', time]``, crops in other voices, which have no original to match.
            optimizer: of the discriminators.
        """
        rows = len(real)
        time = round(self.recipe.discriminator_seconds * self.network.rate) or real.shape[1]
        room = max(0, real.shape[1] - time) + 1
        first = int(torch.randint(room, (), generator=self._generator(1), device=self.device))
        real = real[:, first : first + time]
        fake = torch.cat([fake, converted])[:, first : first + time]
        of_real, of_fake = (
            discriminator_outputs(self.discriminators, real),
            discriminator_outputs(self.discriminators, fake.detach()),
        )
        loss = synthesis_losses.discriminator_least_squares(
            [output.score.float() for output in of_real],
            [output.score.float() for output in of_fake],
        )
        self.update(optimizer, loss)
        self.log("discriminators", loss.detach())
        # gradients pass through the discriminators, but do not change them
        self.discriminators.requires_grad_(False)
        try:
            with torch.no_grad():
                of_real = discriminator_outputs(self.discriminators, real)
            of_fake = discriminator_outputs(self.discriminators, fake)
        finally:
            self.discriminators.requires_grad_(True)
        adversarial = synthesis_losses.generator_least_squares(
            [output.score.float() for output in of_fake]
        )
        matching = synthesis_losses.feature_matching(
            [output.features for output in of_real],
            [[layer[:rows] for layer in output.features] for output in of_fake],
        )
        self.log("train/features", matching.detach())
        self.log("train/deceiving", adversarial.detach())
        return self.recipe.features * matching + self.recipe.game * adversarial
