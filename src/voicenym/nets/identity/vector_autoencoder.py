"""Adversarial autoencoder of speaker vectors.

After Espinoza-Cuadros, Perero-Codosero, Antón-Martín and Hernández-Gómez, "Speaker
de-identification system using autoencoders and adversarial training" (2020). Its widths are not
known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import fill, read, rebuilding, write
from voicenym.nets.gradient_reversal import reversed_gradient

KIND = "autoencoder"


def _layers(*sizes: int) -> torch.nn.Sequential:
    """Linear layers with ReLU between them."""
    parts: list[torch.nn.Module] = []
    for i, (before, after) in enumerate(pairwise(sizes)):
        parts += [torch.nn.ReLU()] * (i > 0) + [torch.nn.Linear(before, after)]
    return torch.nn.Sequential(*parts)


class Autoencoder(torch.nn.Module):
    """Autoencoder of vectors ``[row, size]`` with a code ``[row, code]``.

    Args:
        size: elements of a speaker vector.
        code: of the code.
        hidden: width between them.
    """

    mean: torch.Tensor
    scale: torch.Tensor

    def __init__(self, size: int, code: int = 64, hidden: int = 256) -> None:
        super().__init__()
        self.size, self.code, self.hidden = size, code, hidden
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("scale", torch.ones(size))
        self.encoder = _layers(size, hidden, code)
        self.decoder = _layers(code, hidden, size)

    def adapt(self, vectors: torch.Tensor) -> None:
        """Estimates mean and deviation of the elements from vectors ``[row, size]``."""
        self.mean.copy_(vectors.mean(0))
        self.scale.copy_(vectors.std(0).clamp_min(1e-6))

    def standard(self, vectors: torch.Tensor) -> torch.Tensor:
        """Standardised vectors, with elements of mean 0 and deviation 1."""
        return (vectors - self.mean) / self.scale

    def encode(self, vectors: torch.Tensor) -> torch.Tensor:
        """Codes of vectors."""
        found: torch.Tensor = self.encoder(self.standard(vectors))
        return found

    def decode(self, code: torch.Tensor) -> torch.Tensor:
        """Vectors of codes."""
        return self.decoder(code) * self.scale + self.mean

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Reconstructed vectors."""
        return self.decode(self.encode(vectors))


class Adversaries(torch.nn.Module):
    """Adversarial classifiers of the code, with gradient reversal.

    Args:
        code: elements of a code.
        classes: number of classes of each classifier, by its name.
        hidden: width.
    """

    def __init__(self, code: int, classes: Mapping[str, int], hidden: int = 128) -> None:
        super().__init__()
        self.branches = torch.nn.ModuleDict(
            {name: _layers(code, hidden, count) for name, count in classes.items()}
        )

    def forward(self, code: torch.Tensor, weights: Mapping[str, float]) -> dict[str, torch.Tensor]:
        """Logits ``[row, class]`` by name; their gradients reach the code reversed."""
        return {
            name: branch(reversed_gradient(code, weights[name]))
            for name, branch in self.branches.items()
        }


def save(
    network: Autoencoder, folder: Path, encoder: str, version: str, card: Mapping[str, Any]
) -> None:
    """Writes an autoencoder to a folder.

    Args:
        network: trained.
        folder: made where there is none.
        encoder, version: of the speaker vectors.
        card: how it was trained.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
    """
    options = {"size": network.size, "code": network.code, "hidden": network.hidden}
    config = {"kind": KIND, "options": options, "encoder": encoder, "version": version}
    write(folder, network.state_dict(), {**config, "card": dict(card)})


def load(folder: Path | str) -> tuple[Autoencoder, dict[str, Any]]:
    """Reads an autoencoder written by :func:`save`, in evaluation mode, and its configuration.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
            folder holds something else.
    """
    config, state = read(folder)
    if config.get("kind") != KIND:
        raise VoicenymError(
            f"{folder}: holds no autoencoder; train one: voicenym train autoencoder VECTORS -o "
            "FOLDER"
        )
    with rebuilding(folder):
        network = Autoencoder(**config["options"])
    fill(network, state, folder)
    return network.eval(), config
