"""Losses of V-Cloak: anonymity, words, masking and size of the perturbation.

Deng et al. (USENIX Security 2023), equations 1 to 3 and sections 4.2 and 5.1. Each loss is
``[batch]``, so that rows may have targets or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch.nn import functional

from voicenym.dsp.features.fbank import Fbank
from voicenym.nets.words.ctc_networks import ctc
from voicenym.nets.words.ctc_networks.deepspeech import posteriorgram_distance

BANDS = 24
"""Bands of the filterbank that replaces a recogniser."""
SPREAD_DB = 15.0
"""Approximate deviation of a band's level in speech."""


def similarity(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Cosine of voiceprints ``[batch, voiceprint]``: ``[batch]``."""
    return functional.cosine_similarity(one, other, dim=1, eps=1e-6)


def anonymity(
    cloaked: torch.Tensor,
    original: torch.Tensor,
    target: torch.Tensor,
    targeted: torch.Tensor,
    enough: float = -1.0,
    aside: float = 0.0,
) -> torch.Tensor:
    """Equation 1: the cosine to the original's voiceprint, or minus that to the target's.

    Args:
        cloaked, original, target: voiceprints ``[batch, voiceprint]``.
        targeted: ``[batch]``, whether the target is meant.
        enough: cosine to the original below which nothing more is gained; the paper's is -1.
        aside: weight of the cosine to the original for crops with a target; the paper's is 0, which
            assumes that targets are far away and reached.
    """
    away = similarity(cloaked, original).clamp_min(enough)
    return torch.where(targeted, aside * away - similarity(cloaked, target), away)


class Words(Protocol):
    """Loss of intelligibility."""

    def __call__(self, original: torch.Tensor, cloaked: torch.Tensor) -> torch.Tensor:
        """``[batch, time]`` twice to ``[batch]``; differentiable by the second."""


class WordNet(Protocol):
    """Recogniser from recordings to logits: a DeepSpeech2, or a network of phone states."""

    def freeze(self) -> Any:
        """Freezes weights and statistics; returns the network."""

    def __call__(
        self, samples: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """``[batch, time]`` and ``[batch]`` to ``[batch, frame, token]`` and frames ``[batch]``."""


class Posteriorgram:
    """Mean squared difference of graphemic posteriorgrams (section 4.2.2), or of phone states.

    Args:
        net: trained; it is frozen.
    """

    def __init__(self, net: WordNet) -> None:
        self.net = net.freeze()

    def __call__(self, original: torch.Tensor, cloaked: torch.Tensor) -> torch.Tensor:
        lengths = torch.full((len(original),), original.shape[1], device=original.device)
        with torch.no_grad():
            reference, frames = self.net(original, lengths)
        output, _ = self.net(cloaked, lengths)
        return posteriorgram_distance(reference, output, frames)


class Transcript:
    """CTC loss to the transcript of the original, the form of the ablation (section 5.7).

    Crops have no reference transcript, so the recogniser's greedy transcript is used. Of phone
    states, the state of silence takes the place of CTC's blank; both are token 0.

    Args:
        net: trained; it is frozen.
    """

    def __init__(self, net: WordNet) -> None:
        self.net = net.freeze()

    def __call__(self, original: torch.Tensor, cloaked: torch.Tensor) -> torch.Tensor:
        lengths = torch.full((len(original),), original.shape[1], device=original.device)
        with torch.no_grad():
            reference, frames = self.net(original, lengths)
        texts = [torch.tensor(text, dtype=torch.long) for text in ctc.greedy(reference, frames)]
        sizes = torch.tensor([len(text) for text in texts], device=original.device)
        padded = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True).to(original.device)
        output, _ = self.net(cloaked, lengths)
        return ctc.loss(output, frames, padded, sizes) / sizes.clamp_min(1)


class Envelope:
    """Mean squared difference of a filterbank's levels, for trainings without a recogniser.

    It has 24 bands, which resolve formants but not harmonics; levels are in units of 15 dB.
    """

    def __init__(self) -> None:
        self.bank = Fbank(BANDS)

    def __call__(self, original: torch.Tensor, cloaked: torch.Tensor) -> torch.Tensor:
        self.bank.to(original.device)
        difference = (self.bank(cloaked) - self.bank(original)) / SPREAD_DB
        return difference.square().mean((1, 2))


@dataclass(frozen=True)
class Weights:
    """Weights alpha, beta and gamma of equation 2, raised in steps as anonymity is reached.

    Args:
        below: cosines to the original, falling: below the first the second weights hold, below the
            second the third.
        words: alpha.
        masking: beta.
        size: gamma.

    Raises:
        ValueError: if there are not as many weights as steps.

    Example:
        >>> Weights()(0.2)
        (0.8, 2e-06, 0.1)
    """

    below: tuple[float, ...] = (0.3, 0.15)
    words: tuple[float, ...] = (0.5, 0.8, 1.0)
    masking: tuple[float, ...] = (1e-6, 2e-6, 3e-6)
    size: tuple[float, ...] = (0.1, 0.1, 0.1)

    def __post_init__(self) -> None:
        steps = len(self.below) + 1
        if {len(self.words), len(self.masking), len(self.size)} != {steps}:
            raise ValueError(f"{len(self.below)} limits need {steps} weights of each kind")

    def __call__(self, cosine: float) -> tuple[float, float, float]:
        """alpha, beta and gamma at a mean cosine of originals and cloaked."""
        step = sum(cosine < limit for limit in self.below)
        return self.words[step], self.masking[step], self.size[step]


def naturalness(excess: torch.Tensor, most: float) -> torch.Tensor:
    """Equation 3: the excess over the masking threshold, ``[batch]``, at most psi."""
    return excess.clamp(max=most)


def radii(
    count: int, mean: float, deviation: float, limits: Sequence[float], generator: Any
) -> torch.Tensor:
    """Epsilons of a batch from N(mean, deviation^2), within limits: ``[count]``.

    The paper calls 0.05 the variance, which would make most draws useless; here it is the standard
    deviation.
    """
    device = generator.device
    drawn = mean + deviation * torch.randn(count, generator=generator, device=device)
    return drawn.clamp(limits[0], limits[1])
