"""The training step of V-Cloak: a perturbation that misleads verifiers and is hardly audible.

After Deng et al., "V-Cloak" (USENIX Security 2023), sections 4.2 and 5.1: an anonymity loss by one
speaker encoder or several, and losses of words, masking and size, whose weights rise as anonymity
is reached; epsilon is drawn for each crop. Half of the crops have a target: another crop's
voiceprint, or one drawn from the distribution of voiceprints. Cloaked speech reaches the verifiers
through rooms, noise and narrow bands too, so that the perturbation is robust to them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import lightning.pytorch as pl
import torch

from voicenym.dsp.masking import Masking
from voicenym.nets.cloak.cloak import DIRECTIONS, MOST_EPSILON, RATE, REFERENCE, Cloak
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.training.cloak.cloak_losses import (
    Weights,
    Words,
    anonymity,
    naturalness,
    radii,
    similarity,
)
from voicenym.training.run.schedule import Cyclical, seeded
from voicenym.training.speech.augmentation import Surroundings

PEAK = 0.99
"""Peak of crops after normalisation."""


@dataclass(frozen=True)
class VCloakConfig:
    """Configuration of the training.

    Args:
        net: sizes of the network, see :class:`voicenym.nets.cloak.waveunet.WaveUNetConfig`.
        seconds: length of the cloaked part of a crop, without its context.
        batch: crops in a step.
        epsilon, deviation, least_epsilon: of the radius of the ball, see
            :func:`voicenym.training.cloak.cloak_losses.radii`.
        level: greatest change of a crop's level from the nominal one, in dB.
        targeted: share of crops with a target.
        drawn: share of these whose target is drawn, rather than another crop's.
        enough, aside: see :func:`voicenym.training.cloak.cloak_losses.anonymity`.
        anonymity: weight of L_ASV; the paper's is 1, and 0 is an ablation.
        weights: of the other losses.
        unit, psi: of the excess over the masking threshold: ``decibel`` or ``power``; its limit.
        hop: of the masking threshold's frames, in samples.
        surroundings: rooms, noise and bands between cloaked speech and verifiers.
        rate: peak of the learning rate (Adam).
        schedule: of the learning rate.
        steps: maximum number of optimizer steps.
        every: steps from one validation to the next.
        held_out: share of the speakers kept out, to choose the checkpoint by.
        seed: of all random draws.
    """

    net: dict[str, Any] = field(default_factory=dict)
    seconds: float = 32_089 / RATE
    batch: int = 64
    epsilon: float = 0.05
    deviation: float = 0.05
    least_epsilon: float = 0.005
    level: float = 6.0
    targeted: float = 0.5
    drawn: float = 0.5
    enough: float = -1.0
    aside: float = 0.0
    anonymity: float = 1.0
    weights: Weights = field(default_factory=Weights)
    unit: str = "power"
    psi: float = 1e7
    hop: int = 512
    surroundings: Surroundings = field(
        default_factory=lambda: Surroundings(noise=0.0, babble=0.0, room=0.0, band=0.0)
    )
    rate: float = 4e-4
    schedule: Cyclical = field(default_factory=Cyclical)
    steps: int = 100_000
    every: int = 500
    held_out: float = 0.04
    seed: int = 0


@dataclass(frozen=True)
class Draws:
    """Random draws of a batch.

    Args:
        epsilons: ``[batch]``.
        targeted: ``[batch]``, whether there is a target.
        made: ``[batch]``, whether it is drawn rather than another crop's.
        normals: ``[batch, DIRECTIONS]``.
    """

    epsilons: torch.Tensor
    targeted: torch.Tensor
    made: torch.Tensor
    normals: torch.Tensor


class Cloaking(pl.LightningModule):
    """The training step and the validation.

    Args:
        cloak: to train.
        encoders: verifiers; targets are voiceprints of the first.
        words: loss that preserves the words.
        config: of the training.
    """

    def __init__(
        self, cloak: Cloak, encoders: Sequence[Encoder], words: Words, config: VCloakConfig
    ) -> None:
        super().__init__()
        self.cloak = cloak
        self.recipe = config
        # neither trained nor kept in checkpoints
        self._encoders = [encoder.eval().requires_grad_(False) for encoder in encoders]
        self._words = words
        self._masking = [Masking(config.hop)]
        self._mean_cosine = 1.0

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.cloak.parameters(), self.recipe.rate)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["mean cosine"] = self._mean_cosine

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self._mean_cosine = checkpoint.get("mean cosine", 1.0)  # earlier releases kept none

    def on_fit_start(self) -> None:
        for encoder in self._encoders:
            encoder.to(self.device)
        net = getattr(self._words, "net", None)
        if net is not None:
            net.to(self.device)
        self._masking[0].to(self.device)

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], index: int) -> torch.Tensor:
        crops, _ = batch
        generator = seeded(self.device, self.recipe.seed, self.global_rank, self.global_step)
        crops = self._leveled(crops, generator)
        loss, figures = self._losses(crops, self._draws(len(crops), generator), generator)
        # a running mean, so that one batch does not turn the weights over
        self._mean_cosine = 0.9 * self._mean_cosine + 0.1 * float(figures["cosine"])
        total = self._total(loss, figures, self.recipe.weights(self._mean_cosine))
        for name, value in figures.items():
            self.log(f"train/{name}", value.detach(), on_step=True, on_epoch=False)
        return total

    def validation_step(self, batch: tuple[torch.Tensor, torch.Tensor], index: int) -> None:
        crops, _ = batch
        generator = seeded(self.device, self.recipe.seed, 911, index)
        count = len(crops)
        draws = self._draws(count, generator)
        half = torch.arange(count, device=crops.device) % 2 == 0
        draws = dataclasses.replace(
            draws,
            epsilons=torch.full_like(draws.epsilons, self.recipe.epsilon),
            targeted=half if self.recipe.targeted > 0 else torch.zeros_like(half),
        )
        loss, figures = self._losses(self._leveled(crops, None), draws, None)
        weights = self.recipe.weights
        last = (weights.words[-1], weights.masking[-1], weights.size[-1])
        total = self._total(loss, figures, last)
        for name, value in {"loss": total, **figures}.items():
            self.log(name, value, batch_size=count, sync_dist=self.trainer.world_size > 1)

    def _total(
        self,
        loss: torch.Tensor,
        figures: Mapping[str, torch.Tensor],
        weights: tuple[float, float, float],
    ) -> torch.Tensor:
        """Equation 2: the losses of anonymity, words, masking and size by their weights."""
        alpha, beta, gamma = weights
        others = alpha * figures["words"] + beta * figures["masking"] + gamma * figures["size"]
        return self.recipe.anonymity * loss + others

    def _leveled(self, crops: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
        """Crops near the nominal level, as far as their peaks allow."""
        decibels = torch.zeros(len(crops), 1, device=crops.device)
        if generator is not None:
            decibels.uniform_(-self.recipe.level, self.recipe.level, generator=generator)
        level = crops.square().mean(1, keepdim=True).sqrt().clamp_min(1e-5)
        gain = REFERENCE / level * 10.0 ** (decibels / 20.0)
        peak = crops.abs().amax(1, keepdim=True).clamp_min(1e-5)
        return crops * torch.minimum(gain, PEAK / peak)

    def _draws(self, count: int, generator: torch.Generator) -> Draws:
        recipe, device = self.recipe, generator.device

        def uniform() -> torch.Tensor:
            return torch.rand(count, generator=generator, device=device)

        limits = (recipe.least_epsilon, MOST_EPSILON)
        return Draws(
            radii(count, recipe.epsilon, recipe.deviation, limits, generator),
            uniform() < recipe.targeted,
            uniform() < recipe.drawn,
            torch.randn(count, DIRECTIONS, generator=generator, device=device),
        )

    def _losses(
        self, wide: torch.Tensor, draws: Draws, generator: torch.Generator | None
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean of the anonymity losses, and means of the other losses."""
        side = self.cloak.side
        length = round(self.recipe.seconds * RATE)
        speech = wide[:, side : side + length]
        with torch.no_grad():
            originals = [encoder(speech) for encoder in self._encoders]
            others = [vectors.roll(1, 0) for vectors in originals]
            made = self.cloak.drawn(draws.normals)
            target = torch.where(draws.made[:, None], made, others[0])
            hidden, scale = self._masking[0].threshold(speech)
        given = target * draws.targeted[:, None]
        cloak = self.cloak.within(wide, given, draws.epsilons)[:, :length]
        cloaked = (speech + cloak).clamp(-1.0, 1.0)
        added = cloaked - speech
        degraded = cloaked
        if generator is not None:
            degraded = self.recipe.surroundings(cloaked, generator)
        found = [encoder(degraded) for encoder in self._encoders]
        limits = (self.recipe.enough, self.recipe.aside)
        parts = [anonymity(found[0], originals[0], target, draws.targeted, *limits)]
        for vectors, original, other in zip(found[1:], originals[1:], others[1:], strict=True):
            # a drawn voiceprint is one of the first encoder's alone
            meant = draws.targeted & ~draws.made
            parts.append(anonymity(vectors, original, other, meant, *limits))
        excess = self._masking[0].excess(added, hidden, scale, self.recipe.unit)
        with torch.no_grad():
            signal, noise = (x.square().sum(1) for x in (speech, added))
            near = similarity(found[0], target)[draws.targeted]
            ratio = 10.0 * (signal / noise.clamp_min(1e-12)).clamp_min(1e-12).log10()
        figures = {
            "words": self._words(speech, cloaked).mean(),
            "masking": naturalness(excess, self.recipe.psi).mean(),
            "size": (added.square().sum(1) + 1e-12).sqrt().mean(),
            "cosine": torch.stack(
                [similarity(x, y).mean() for x, y in zip(found, originals, strict=True)]
            ).mean().detach(),
            "to target": near.mean() if len(near) else near.sum(),
            "SNR dB": ratio.mean(),
        }  # fmt: skip
        return torch.stack(parts).mean(), figures
