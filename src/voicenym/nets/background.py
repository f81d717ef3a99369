"""What statistical verifiers are made of: a background model of speech, and i-vectors on top.

In a folder it is ``config.json`` and ``model.safetensors``: ``ubm.weights``, ``ubm.means`` and
``ubm.covariances``, and ``total.means``, ``total.factors`` and ``total.covariances`` where there
are i-vectors; matrices as packed upper triangles, all in single precision.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from voicenym.dsp.cepstra import Cepstra
from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets.gmm import Mixture, pack, unpack
from voicenym.nets.ivector import TotalVariability

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
KIND = "statistical speaker model"


@dataclass(frozen=True)
class Background:
    """A universal background model, the features it is of, and perhaps total variability.

    Args:
        cepstra: features.
        mixture: the background model.
        variability: where i-vectors were trained.
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
        """The same in another type or on another device."""
        total = None if self.variability is None else self.variability.to(target)
        return Background(self.cepstra, self.mixture.to(target), total)

    @torch.inference_mode()
    def statistics(self, recordings: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Baum-Welch statistics of recordings ``[time]`` at 16 kHz, one after the other.

        Returns:
            Counts ``[recording, component]`` and sums ``[recording, component, d]``.
        """
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

    def save(self, folder: Path, card: dict[str, Any] | None = None) -> None:
        """Write the folder, which may exist; the weights come first, whole or not at all.

        Args:
            folder: where to.
            card: what to say of its training, fit for JSON.

        Raises:
            VoicenymError: if it cannot be written.
        """
        tensors = {f"ubm.{name}": value for name, value in _tensors(self.mixture).items()}
        if self.variability is not None:
            for name, value in _tensors(self.variability).items():
                tensors[f"total.{name}"] = value
        config = {
            "kind": KIND,
            "cepstra": self.cepstra.settings(),
            "components": self.mixture.components,
            "covariances": "full" if self.mixture.full else "diagonal",
            "rank": 0 if self.variability is None else self.variability.rank,
            "card": card or {},
        }
        write_tensors(folder / WEIGHTS, tensors)
        text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
        (folder / CONFIG).write_text(text, "utf-8")

    @classmethod
    def load(cls, folder: Path) -> Background:
        """What :meth:`save` wrote.

        Raises:
            VoicenymError: no such folder, or another kind of model in it.
        """
        config = read_config(folder)
        tensors = read_tensors(folder / WEIGHTS)
        cepstra = Cepstra(**config["cepstra"])
        full = config["covariances"] == "full"
        missing = [n for n in ("weights", "means", "covariances") if f"ubm.{n}" not in tensors]
        if missing:
            raise VoicenymError(f"{folder / WEIGHTS}: lacks ubm.{missing[0]}; train it again")
        d = cepstra.dimension
        mixture = Mixture(
            tensors["ubm.weights"],
            tensors["ubm.means"],
            _matrices(tensors["ubm.covariances"], d, full),
        )
        total = None
        if config["rank"]:
            total = TotalVariability(
                tensors["total.means"],
                tensors["total.factors"],
                _matrices(tensors["total.covariances"], d, full),
            )
        return cls(cepstra, mixture, total)


def _tensors(model: Mixture | TotalVariability) -> dict[str, torch.Tensor]:
    kept = {n: v for n, v in vars(model).items() if isinstance(v, torch.Tensor)}
    if kept["covariances"].ndim == 3:
        kept["covariances"] = pack(kept["covariances"])
    # the file wants each by itself, and means may be shared
    return {name: value.detach().float().cpu().clone() for name, value in kept.items()}


def _matrices(covariances: torch.Tensor, d: int, full: bool) -> torch.Tensor:
    return unpack(covariances, d) if full else covariances


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of a statistical model's folder.

    Raises:
        VoicenymError: no such folder, or another kind of model in it.
    """
    path = folder / CONFIG
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise VoicenymError(
            f"{path}: cannot be read ({error}); give a folder that training wrote"
        ) from None
    if not isinstance(config, dict) or config.get("kind") != KIND:
        raise VoicenymError(f"{folder}: holds no {KIND}; give one that training wrote")
    return config


def write_tensors(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    """A safetensors file that is whole or not there.

    Raises:
        VoicenymError: if it cannot be written.
        DependencyError: if safetensors is missing.
    """
    try:
        from safetensors.torch import save_file
    except ImportError as error:
        raise DependencyError("saved models: pip install 'voicenym[train]'") from error
    partial = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(tensors, partial)
        partial.replace(path)
    except OSError as error:
        raise VoicenymError(f"{path}: cannot be written ({error}); choose another folder") from None
    finally:
        partial.unlink(missing_ok=True)


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """All tensors of a safetensors file.

    Raises:
        VoicenymError: if it is missing or no such file.
        DependencyError: if safetensors is missing.
    """
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
    except ImportError as error:
        raise DependencyError("saved models: pip install 'voicenym[train]'") from error
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise VoicenymError(f"{path}: cannot be read ({error}); train it again") from None
