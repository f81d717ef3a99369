"""Losses of the MUSA codec: reconstruction, adversarial losses and two distillations.

Yao et al. (MUSA), section III, equations 2 and 4 to 10. Sums run over discriminators and their
layers, means over everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
import torch
from torch.nn.functional import cosine_similarity, cross_entropy

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import fingerprint
from voicenym.nets.content.content_encoder import Content
from voicenym.nets.content.tokenizer import Tokenizer
from voicenym.nets.content.units import Units
from voicenym.nets.synthesis.discriminators import DiscriminatorOutput
from voicenym.nets.synthesis.synthesis_losses import (
    LogMel,
    discriminator_least_squares,
    feature_matching,
    generator_least_squares,
)
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.training.content.bottleneck.frame_targets import numbers_of

NO_LABEL = -1
"""Label of a frame without a label of the teacher."""


@dataclass(frozen=True)
class Weights:
    """Lambdas of equation 10, as in section IV.B; with 0 a loss is left out.

    Args:
        rebuilding: of equation 5.
        deceiving: of equation 7.
        features: of equation 8.
        commitment: of equation 9.
        speaker: of equation 2, the speaker distillation.
        semantic: of equation 4, the semantic distillation.
        words: of the distance of a recogniser's states between original and decoded speech
            (:mod:`voicenym.training.synthesis.recogniser_loss`); not in the paper.

    Raises:
        VoicenymError: a weight below 0.
    """

    rebuilding: float = 45.0
    deceiving: float = 1.0
    features: float = 1.0
    commitment: float = 0.1
    speaker: float = 1.0
    semantic: float = 1.0
    words: float = 0.0

    def __post_init__(self) -> None:
        for item in fields(self):
            if not getattr(self, item.name) >= 0.0:
                raise VoicenymError(f"weights, {item.name}: give 0 (left out) or more")

    def total(self, losses: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Equation 10, of losses by the names of the weights; those that are missing count 0."""
        return torch.stack([getattr(self, name) * loss for name, loss in losses.items()]).sum()


def rebuilding(real: torch.Tensor, fake: torch.Tensor, *mels: LogMel) -> torch.Tensor:
    """Equation 5: absolute differences of samples, absolute and squared ones of log mels.

    Args:
        real, fake: ``[batch, time]``.
        mels: one of 80 bands in the paper; of several the mean is taken.
    """
    with torch.autocast(real.device.type, enabled=False):
        fake = fake.float()
        loss = (real - fake).abs().mean()
        for mel in mels:
            difference = mel(real) - mel(fake)
            loss = loss + (difference.abs().mean() + difference.square().mean()) / len(mels)
        return loss


def discriminator_loss(
    real: list[DiscriminatorOutput], fake: list[DiscriminatorOutput]
) -> torch.Tensor:
    """Equation 6: the loss of the discriminators."""
    return discriminator_least_squares([j.score for j in real], [j.score for j in fake])


def generator_losses(
    real: list[DiscriminatorOutput], fake: list[DiscriminatorOutput]
) -> dict[str, torch.Tensor]:
    """Equations 7 and 8: adversarial and feature losses of the codec, by the weights' names."""
    return {
        "deceiving": generator_least_squares([j.score for j in fake]),
        "features": feature_matching([j.features for j in real], [j.features for j in fake]),
    }


class SpeakerDistillation(torch.nn.Module):
    """Speaker distillation (equation 2): similar vectors of two segments, and classification of the
    speaker.

    Args:
        size: of the speakers' vectors.
        speakers: in the training data.
    """

    def __init__(self, size: int, speakers: int) -> None:
        super().__init__()
        self.classifier = torch.nn.Linear(size, speakers)

    def forward(
        self, one: torch.Tensor, other: torch.Tensor, speakers: torch.Tensor
    ) -> torch.Tensor:
        """The loss, -1 at best.

        Args:
            one, other: ``[batch, size]`` of two segments.
            speakers: ``[batch]`` by number.
        """
        classification = cross_entropy(self.classifier(torch.cat([one, other])), speakers.repeat(2))
        return classification - cosine_similarity(one.float(), other.float(), dim=1).mean()


class SemanticDistillation(torch.nn.Module):
    """Semantic distillation (equation 4): the first codebook predicts the teacher's token.

    Args:
        size: of a frame.
        classes: number of the teacher's tokens.
    """

    def __init__(self, size: int, classes: int) -> None:
        super().__init__()
        self.classifier = torch.nn.Linear(size, classes)

    def forward(self, first: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """The loss in nats a frame.

        Args:
            first: ``[batch, size, frame]`` of the first codebook.
            labels: ``[batch, frame]`` tokens, :data:`NO_LABEL` where there is none; or
                ``[batch, frame, class]`` posteriors, zeros where there are none.
        """
        scores = self.classifier(first.transpose(1, 2)).float()
        if labels.ndim == 3:
            weight = labels.sum(2)
            loss = -(labels * scores.log_softmax(2)).sum(2)
            return loss.sum() / weight.sum().clamp_min(1e-9)
        loss = cross_entropy(scores.transpose(1, 2), labels, ignore_index=NO_LABEL, reduction="sum")
        return loss / (labels != NO_LABEL).sum().clamp_min(1)

    def right(self, first: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Share of the frames whose token is predicted correctly; arguments of :meth:`forward`."""
        if labels.ndim == 3:
            labels = torch.where(labels.sum(2) > 0, labels.argmax(2), NO_LABEL)
        known = labels != NO_LABEL
        found = self.classifier(first.transpose(1, 2)).argmax(2)
        return (found == labels)[known].float().sum() / known.sum().clamp_min(1)


class Teacher(Protocol):
    """A teacher of the first codebook: it labels frames.

    Attributes:
        classes: number of tokens.
        hop: samples of a frame.
        source: description for JSON; its labels are cached under it.
    """

    classes: int
    hop: int
    source: dict[str, object]

    def __call__(self, speech: torch.Tensor) -> np.ndarray:
        """Labels of a recording ``[time]`` at 16 kHz: integer tokens ``[frame]``, or posteriors
        ``[frame, class]``.
        """


class UnitTeacher:
    """Tokens of cepstra, or of a layer of HuBERT or XLS-R.

    Args:
        features: network or filterbank of the frames.
        units: the nearest of some centres, or a tokenizer of one codebook, as in the paper.

    Raises:
        VoicenymError: units of other features.
    """

    def __init__(self, features: Content, units: Units | Tokenizer) -> None:
        if features.size != units.size:
            raise VoicenymError(
                f"the units are of {units.size} numbers, and {features.kind} gives "
                f"{features.size}: give the features that they were found in"
            )
        self._features, self._units = features, units
        self.classes, self.hop = len(units), features.hop
        self.source: dict[str, object] = {**units.source, "units": len(units)}
        if isinstance(units, Tokenizer):
            self.source["tokenizer"] = fingerprint(units.state_dict())

    @torch.inference_mode()
    def __call__(self, speech: torch.Tensor) -> np.ndarray:
        known = [*self._features.parameters(), *self._features.buffers(), torch.zeros(0)]
        frames = self._features.extract(speech.to(known[0].device))
        return self._units.to(frames.device)(frames).cpu().numpy()


class CodeTeacher:
    """Word codes, each repeated for as many of the codec's frames as it lasts.

    Args:
        content: of :func:`voicenym.training.content.bottleneck.frame_targets.word_code_encoder`.
        hop: samples of the codec's frame, of which a code lasts a whole number.

    Raises:
        VoicenymError: frames that do not fit.
    """

    def __init__(self, content: WordCodeContent, hop: int) -> None:
        if content.hop % hop:
            raise VoicenymError(
                f"a word code lasts {content.hop} samples, no multiple of the codec's frame of "
                f"{hop}; choose strides whose product divides it"
            )
        self._content, self._every = content, content.hop // hop
        self.classes, self.hop = content.codes.sizes.entries, hop
        weights = fingerprint(content.state_dict())
        self.source: dict[str, object] = {"word codes": weights, "hop": hop}

    @torch.inference_mode()
    def __call__(self, speech: torch.Tensor) -> np.ndarray:
        numbers = numbers_of(self._content, self._content.extract(speech.cpu()))
        return numbers.repeat(self._every)


class SoftTeacher:
    """A content encoder whose frames are scores of classes: their softmax gives the labels.

    Args:
        network: such as a recogniser's last layer, or HuBERT with a classifier of units.
        source: what it is, fit for JSON.
    """

    def __init__(self, network: Content, source: Mapping[str, object]) -> None:
        self._network = network
        self.classes, self.hop = network.size, network.hop
        self.source: dict[str, object] = dict(source)

    @torch.inference_mode()
    def __call__(self, speech: torch.Tensor) -> np.ndarray:
        known = [*self._network.parameters(), torch.zeros(0)]
        scores = self._network.extract(speech.to(known[0].device))
        return scores.float().softmax(1).cpu().numpy()
