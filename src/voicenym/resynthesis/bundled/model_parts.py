"""Trained modules of ``base`` in one folder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import fill, read, rebuilding, write
from voicenym.nets.content.bottleneck import EVERY, QUIETEST, Bottleneck
from voicenym.nets.synthesis import synthesizers
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.resynthesis.bundled.content_normalisation import ContentStatistics

KIND = "resynthesis"
LOWEST_RANGE, HIGHEST_RANGE = 0.12, 0.24
"""Limits of the drawn standard deviation of ln F0."""
FARTHEST = 2.0
"""Limit of the draws, in standard deviations."""


class Voices(torch.nn.Module):
    """Distribution of speaker vectors, and the regression of mean ln F0 on them.

    Vectors are modelled as a Gaussian along their principal directions; mean ln F0 as a linear
    function of the vector, with a remainder.

    Args:
        size: elements of a vector.
        rank: number of principal directions.
    """

    mean: torch.Tensor
    directions: torch.Tensor
    slope: torch.Tensor
    rest: torch.Tensor

    def __init__(self, size: int, rank: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("directions", torch.zeros(rank, size))
        self.register_buffer("slope", torch.zeros(size + 1))
        self.register_buffer("rest", torch.zeros(()))

    @property
    def rank(self) -> int:
        return len(self.directions)

    def learn(self, vectors: torch.Tensor, log_f0: torch.Tensor, penalty: float = 1.0) -> None:
        """Fits the distribution; with fewer speakers than directions, the remaining directions are
        zero.

        Args:
            vectors: ``[speaker, element]``.
            log_f0: ``[speaker]``, mean ln F0 in Hz.
            penalty: of the slopes (ridge regression), per element of unit variance.
        """
        vectors, log_f0 = vectors.double(), log_f0.double()
        mean = vectors.mean(0)
        centred = vectors - mean
        _, sizes, axes = torch.linalg.svd(centred, full_matrices=False)
        scale = sizes[: self.rank, None] / max(1, len(vectors) - 1) ** 0.5
        self.mean.copy_(mean)
        self.directions.zero_()
        self.directions[: len(scale)] = scale * axes[: self.rank]
        level = log_f0.mean()
        matrix = centred.T @ centred + penalty * len(vectors) * torch.eye(len(mean)).double()
        slope = torch.linalg.solve(matrix, centred.T @ (log_f0 - level))
        self.slope[:-1].copy_(slope)
        self.slope[-1] = level - mean @ slope
        self.rest.copy_((log_f0 - level - centred @ slope).std())

    def vectors(self, normals: torch.Tensor) -> torch.Tensor:
        """Speaker vectors ``[row, element]`` from ``[row, rank]`` independent N(0, 1); their norm
        is the root of their size.
        """
        drawn = self.mean + normals @ self.directions
        return torch.nn.functional.normalize(drawn, dim=1) * math.sqrt(drawn.shape[1])

    def log_f0(self, vectors: torch.Tensor, normals: torch.Tensor) -> torch.Tensor:
        """Mean ln F0 ``[row]`` of speaker vectors ``[row, element]``, with a residual drawn by
        ``[row]`` N(0, 1).
        """
        return vectors @ self.slope[:-1] + self.slope[-1] + self.rest * normals


class Parts(torch.nn.Module):
    """Content encoder, synthesizer and voice distribution that were trained together.

    Args:
        content: options of :class:`~voicenym.nets.content.bottleneck.Bottleneck`.
        synthesizer: kind.
        options: of the synthesizer; its content has one element more, the power of a frame.
        rank: see :class:`Voices`.
        normalised: whether content is normalised
            (:class:`~voicenym.resynthesis.bundled.content_normalisation.ContentStatistics`).

    Attributes:
        usual: power and bands of a typical recording's average, ``[1 + band]``.
        everybody: content statistics of all speakers; None without normalisation.
    """

    usual: torch.Tensor

    def __init__(
        self,
        content: Mapping[str, Any],
        synthesizer: str,
        options: Mapping[str, Any],
        rank: int = 64,
        normalised: bool = False,
    ) -> None:
        super().__init__()
        self.content = Bottleneck(**content)
        self.synthesizer: Synthesizer = synthesizers.make(synthesizer, options)
        self.voices = Voices(int(options["speaker"]), rank)
        self.register_buffer("usual", torch.zeros(self.content.front_end.bands + 1))
        self.everybody = ContentStatistics(self.content.size) if normalised else None
        self.eval()

    def conditions(self, numbers: torch.Tensor, power: torch.Tensor) -> torch.Tensor:
        """Content input of the synthesizer: ``[row, frame, size + 1]``.

        Args:
            numbers: ``[row, frame / 2, size]``.
            power: ``[row, frame]``, natural logarithm, less the average.
        """
        level = power.clamp(QUIETEST, -QUIETEST) / -QUIETEST
        return torch.cat([numbers.repeat_interleave(EVERY, 1), level[..., None]], dim=2)

    @torch.no_grad()
    def blend(self, other: Parts, share: float) -> None:
        """Weight averaging with another model; statistics are not averaged.

        Interpolating fine-tuned weights with their initial ones is often better than either
        (Wortsman et al., "Robust fine-tuning of zero-shot models", CVPR 2022).

        Args:
            other: model that these weights were fine-tuned from.
            share: 0 to 1, of the other's.

        Raises:
            VoicenymError: parts of another shape.
        """
        theirs = dict(other.named_parameters())
        for name, value in self.named_parameters():
            if name not in theirs or theirs[name].shape != value.shape:
                raise VoicenymError(
                    f"{name} differs in shape: only parts that went on from each other blend"
                )
            value.lerp_(theirs[name].to(value), share)

    def save(self, folder: Path, card: Mapping[str, Any], *, half: bool = False) -> None:
        """Writes the modules to a folder.

        Args:
            folder: made where there is none.
            card: what they were trained on, and how.
            half: in half precision.
        """
        config = {
            "kind": KIND,
            "content": self.content.config(),
            "synthesizer": self.synthesizer.kind,
            "options": self.synthesizer.config(),
            "rank": self.voices.rank,
            "evened": self.everybody is not None,
            "card": dict(card),
        }
        write(folder, self.state_dict(), config, half=half)

    @classmethod
    def load(cls, folder: Path) -> Parts:
        """Reads modules written by :meth:`save`.

        Raises:
            VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the folder holds
                others.
        """
        config, state = read(folder)
        if config.get("kind") != KIND:
            raise VoicenymError(
                f"{folder}: holds no parts of a resynthesis system; train some with: "
                "voicenym train resynthesis"
            )
        with rebuilding(folder):
            made = (config["content"], config["synthesizer"], config["options"], config["rank"])
            parts = cls(*made, config.get("evened", False))
        fill(parts, state, folder)
        return parts.eval()

    def with_normalisation(self) -> Parts:
        """Copy of the model with content normalisation, whose statistics are to be estimated."""
        made = (self.content.config(), self.synthesizer.kind, self.synthesizer.config())
        parts = Parts(*made, self.voices.rank, normalised=True)
        parts.load_state_dict(self.state_dict(), strict=False)
        return parts.eval()
