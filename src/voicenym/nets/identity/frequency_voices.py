"""Speaker vectors of formants and F0, by linear regression.

Yao et al. (ICASSP 2023) condition a synthesizer on formants and F0 in place of a speaker vector.
This map gives a synthesizer of speaker vectors the voice that is usual with such frequencies, so
that ``identity=formant-pitch`` speaks through weights that were trained on vectors. Of the speaker
no more than the frequencies passes; what a voice has beside them is that of the average.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import configuration, fill, read, rebuilding, write

KIND = "frequency-voices"


class FrequencyVoices(torch.nn.Module):
    """Linear map from frequencies, in scaled octaves
    (:func:`voicenym.nets.speakers.formant_pitch_encoder.octaves`), to speaker vectors of unit
    length.

    Args:
        size: elements of a vector.
        formants: that go with F0.
        encoder: name of the speaker encoder of the training vectors.
        version: of its weights, empty where unknown.
    """

    kind = KIND
    slope: torch.Tensor
    level: torch.Tensor

    def __init__(self, size: int, formants: int = 4, encoder: str = "", version: str = "") -> None:
        super().__init__()
        self.size, self.formants, self.encoder, self.version = size, formants, encoder, version
        self.register_buffer("slope", torch.zeros(size, 1 + formants))
        self.register_buffer("level", torch.zeros(size))

    def learn(self, octaves: torch.Tensor, vectors: torch.Tensor, penalty: float = 0.1) -> None:
        """Fits the map by ridge regression.

        Args:
            octaves: ``[speaker, 1 + formant]``, of F0 and formants.
            vectors: ``[speaker, element]``.
            penalty: of squared slopes, for each speaker; scaled octaves have a variance of about 1.
        """
        x = octaves.double()
        y = torch.nn.functional.normalize(vectors.double(), dim=1)
        centred = x - x.mean(0)
        matrix = centred.T @ centred + penalty * len(x) * torch.eye(x.shape[1]).double()
        slope = torch.linalg.solve(matrix, centred.T @ (y - y.mean(0))).T
        self.slope.copy_(slope)
        self.level.copy_(y.mean(0) - slope @ x.mean(0))

    def forward(self, octaves: torch.Tensor) -> torch.Tensor:
        """Vectors ``[..., element]`` of unit length, of ``[..., 1 + formants]``."""
        # sums of a few products: a matrix product of several rows may differ in the last bit
        moved = (octaves[..., None, :] * self.slope).sum(-1)
        return torch.nn.functional.normalize(moved + self.level, dim=-1)

    def save(self, folder: Path, card: Mapping[str, Any] | None = None) -> None:
        """Writes the map to a folder.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
        """
        recorded = {
            "size": self.size,
            "formants": self.formants,
            "encoder": self.encoder,
            "version": self.version,
        }
        write(folder, self.state_dict(), {"kind": KIND, **recorded, "card": dict(card or {})})

    @classmethod
    def load(cls, folder: Path) -> FrequencyVoices:
        """Reads a map written by :meth:`save`.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
                folder holds something else.
        """
        if configuration(folder).get("kind") != KIND:
            raise VoicenymError(
                f"{folder}: holds no map of frequencies; give one, or install again"
            )
        recorded, state = read(folder)
        with rebuilding(folder):
            whose = (recorded.get("encoder", ""), recorded.get("version", ""))
            found = cls(int(recorded["size"]), int(recorded["formants"]), *whose)
        fill(found, state, folder)
        return found
