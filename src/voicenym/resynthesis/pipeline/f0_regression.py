"""Linear regression from speaker vectors to F0 statistics: mean and deviation of ln F0."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from voicenym.dsp.pitch.f0_statistics import LEAST_STD, MOST_STD
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import configuration, fill, read, rebuilding, write

KIND = "register"


class Register(torch.nn.Module):
    """Linear map from unit-length speaker vectors to mean and deviation of ln F0.

    Args:
        size: elements of a vector.
        encoder: name of the speaker encoder of the training vectors.
        version: of its weights, empty where unknown.
    """

    slope: torch.Tensor
    level: torch.Tensor

    def __init__(self, size: int, encoder: str = "", version: str = "") -> None:
        super().__init__()
        self.size, self.encoder, self.version = size, encoder, version
        self.register_buffer("slope", torch.zeros(2, size))
        self.register_buffer("level", torch.zeros(2))

    def learn(self, vectors: torch.Tensor, moments: torch.Tensor, penalty: float = 1e-3) -> None:
        """Fits the map by ridge regression.

        Args:
            vectors: ``[speaker, element]``.
            moments: ``[speaker, 2]``, mean and deviation of ln F0 in Hz.
            penalty: of squared slopes, for each speaker.
        """
        x = torch.nn.functional.normalize(vectors.double(), dim=1)
        y = moments.double()
        centred = x - x.mean(0)
        matrix = centred.T @ centred + penalty * len(x) * torch.eye(self.size).double()
        slope = torch.linalg.solve(matrix, centred.T @ (y - y.mean(0))).T
        self.slope.copy_(slope)
        self.level.copy_(y.mean(0) - slope @ x.mean(0))

    def forward(self, vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and deviation of ln F0, ``[row]`` each, of vectors ``[row, element]``."""
        unit = torch.nn.functional.normalize(vectors, dim=1)
        # row by row: the product of several rows may differ in the last bit, by the processor
        moments = torch.cat([unit.new_zeros(0, 2), *(row[None] @ self.slope.T for row in unit)])
        mean, deviation = (moments + self.level).unbind(1)
        return mean, deviation.clamp(LEAST_STD, MOST_STD)

    def save(self, folder: Path, card: Mapping[str, Any] | None = None) -> None:
        """Writes the map to a folder.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
        """
        recorded = {"size": self.size, "encoder": self.encoder, "version": self.version}
        write(folder, self.state_dict(), {"kind": KIND, **recorded, "card": dict(card or {})})

    @classmethod
    def load(cls, folder: Path) -> Register:
        """Reads a map written by :meth:`save`.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
                folder holds something else.
        """
        if configuration(folder).get("kind") != KIND:
            raise VoicenymError(
                f"{folder}: holds no register; make one: voicenym train register --data DATA "
                "--speaker SPEAKER -o FOLDER"
            )
        recorded, state = read(folder)
        with rebuilding(folder):
            whose = (recorded.get("encoder", ""), recorded.get("version", ""))
            found = cls(int(recorded["size"]), *whose)
        fill(found, state, folder)
        return found
