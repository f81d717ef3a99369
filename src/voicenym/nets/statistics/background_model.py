"""Universal background model with optional i-vector extractor, as stored in files.

In files (:mod:`voicenym.nets.checkpoint`) its tensors are ``ubm.weights``, ``ubm.means`` and
``ubm.covariances``, and ``total.means``, ``total.factors`` and ``total.covariances`` where there
are i-vectors; matrices as packed upper triangles, all in single precision.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from voicenym.dsp.features.cepstra import Cepstra
from voicenym.errors import VoicenymError
from voicenym.memory import keep_freed_blocks
from voicenym.nets.statistics.gaussian_mixture import Mixture, pack, unpack
from voicenym.nets.statistics.total_variability import TotalVariability

KIND = "statistical speaker model"


@dataclass(frozen=True)
class Background:
    """Universal background model, its features, and optionally the total variability model.

    Args:
        cepstra: features.
        mixture: the background model.
        variability: total variability model, if trained.
    """

    cepstra: Cepstra
    mixture: Mixture
    variability: TotalVariability | None = None

    def __post_init__(self) -> None:
        if self.mixture.dimension != self.cepstra.dimension:
            raise VoicenymError(
                f"the background model is of {self.mixture.dimension} numbers a frame, and the "
                f"features have {self.cepstra.dimension}; take those that it was trained with"
            )

    def to(self, target: torch.dtype | torch.device | str) -> Background:
        """The model in another type or on another device."""
        total = None if self.variability is None else self.variability.to(target)
        return Background(self.cepstra, self.mixture.to(target), total)

    @torch.inference_mode()
    def statistics(self, recordings: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Baum-Welch statistics of recordings ``[time]`` at 16 kHz, one after the other.

        Returns:
            Counts ``[recording, component]`` and sums ``[recording, component, d]``.
        """
        keep_freed_blocks()
        mixture = self.mixture
        counts = mixture.weights.new_zeros(len(recordings), mixture.components)
        sums = mixture.means.new_zeros(len(recordings), *mixture.means.shape)
        for row, samples in enumerate(recordings):
            counts[row], sums[row] = mixture.statistics(self.cepstra(samples))
        return counts, sums

    @torch.inference_mode()
    def ivectors(self, recordings: Sequence[torch.Tensor]) -> torch.Tensor:
        """i-vectors ``[recording, r]``, float64, of recordings ``[time]`` at 16 kHz.

        Raises:
            VoicenymError: if none were trained.
        """
        if self.variability is None:
            raise VoicenymError("a background model without i-vectors; train them: train ivector")
        return self.variability.ivectors(*self.statistics(recordings))

    def settings(self) -> dict[str, Any]:
        """Configuration that rebuilds the model together with :meth:`tensors`, fit for JSON."""
        return {
            "kind": KIND,
            "cepstra": self.cepstra.settings(),
            "components": self.mixture.components,
            "covariances": "full" if self.mixture.full else "diagonal",
            "rank": 0 if self.variability is None else self.variability.rank,
        }

    def tensors(self) -> dict[str, torch.Tensor]:
        """Parameters by name, in single precision, matrices as packed triangles."""
        kept = {f"ubm.{name}": value for name, value in _tensors(self.mixture).items()}
        if self.variability is not None:
            kept |= {f"total.{name}": value for name, value in _tensors(self.variability).items()}
        return kept

    @classmethod
    def of(cls, config: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]) -> Background:
        """Model from :meth:`settings` and :meth:`tensors`; other entries are ignored.

        Raises:
            VoicenymError: another kind of model, or one that lacks something.
        """
        check_kind(config)
        try:
            cepstra = Cepstra(**config["cepstra"])
            full = config["covariances"] == "full"
            mixture = Mixture(*_parts(tensors, "ubm.weights ubm.means ubm.covariances", full))
            total = None
            if config["rank"]:
                names = "total.means total.factors total.covariances"
                total = TotalVariability(*_parts(tensors, names, full))
        except (KeyError, TypeError) as error:
            raise VoicenymError(f"a {KIND} without {error}; train it again") from None
        return cls(cepstra, mixture, total)


def check_kind(config: Mapping[str, Any]) -> None:
    """Rejects other configurations than those of statistical speaker models.

    Raises:
        VoicenymError: the message names the kind that was found.
    """
    kind = config.get("kind", "a model of an unknown kind")
    if kind != KIND:
        raise VoicenymError(
            f"it holds {kind}, no {KIND}; give a folder that train ubm or train ivector wrote"
        )


def _tensors(model: Mixture | TotalVariability) -> dict[str, torch.Tensor]:
    kept = {n: v for n, v in vars(model).items() if isinstance(v, torch.Tensor)}
    if kept["covariances"].ndim == 3:
        kept["covariances"] = pack(kept["covariances"])
    # the file wants each by itself, and means may be shared
    return {name: value.detach().float().cpu().clone() for name, value in kept.items()}


def _parts(tensors: Mapping[str, torch.Tensor], names: str, full: bool) -> list[torch.Tensor]:
    """Tensors by name, the last one being packed covariances."""
    *others, covariances = (tensors[name] for name in names.split())
    return [*others, unpack(covariances, _side(covariances)) if full else covariances]


def _side(triangles: torch.Tensor) -> int:
    """Dimension d of packed triangles ``[..., d (d + 1) / 2]``."""
    return (math.isqrt(8 * triangles.shape[-1] + 1) - 1) // 2
