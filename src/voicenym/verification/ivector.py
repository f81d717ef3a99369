"""i-vector verification: i-vectors, LDA, and cosine or PLDA scoring.

The second verifier of Turner et al. (2022, section 4.2: LDA of 200 dimensions and PLDA) and the
``ivector-PLDA`` of Deng et al. (2023). See :mod:`voicenym.nets.statistics.total_variability`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voicenym.verification.given_recordings import tensors
from voicenym.verification.gmm_ubm import fingerprint
from voicenym.verification.plda import PLDA, TwoCovariance
from voicenym.verification.scoring import COSINE, Array, Backend, unit
from voicenym.verification.verifier import CONCENTRATION, Verifier

if TYPE_CHECKING:
    import torch

    from voicenym.nets.statistics.background_model import Background

LDA = 200
"""Largest number of LDA dimensions, as in the attackers of the VoicePrivacy Challenges."""
RATIOS = 1.0
"""Concentration of log-likelihood ratios."""
PREFIX = "space."
"""Prefix of a speaker space's tensors in the model's file."""


@dataclass(frozen=True)
class SpeakerSpace:
    """The discriminant space of i-vectors: centring, LDA, length normalisation, and PLDA.

    Args:
        centre: ``[r]``.
        projection: ``[kept, r]``.
        mean, within, between: parameters of the two-covariance model of the projected vectors.
    """

    centre: Array
    projection: Array
    mean: Array
    within: Array
    between: Array

    @classmethod
    def learn(
        cls, vectors: npt.NDArray[np.floating], speakers: Sequence[str], most: int = LDA
    ) -> SpeakerSpace:
        """Fit LDA and PLDA to i-vectors ``[n, r]`` of speakers that take part in no trial.

        Args:
            vectors: ``[n, r]``.
            speakers: of each vector.
            most: LDA dimensions; fewer where the speakers or the i-vectors span fewer.

        Raises:
            VoicenymError: fewer than two speakers, or none with two recordings.
        """
        spanned = min(vectors.shape[1], len(set(speakers)) - 1)
        plda = PLDA.train(vectors, speakers, lda=min(most, spanned) if spanned > 0 else None)
        model = plda.model
        return cls(plda.centre, plda.projection, model.mean, model.within, model.between)

    def __call__(self, vectors: npt.NDArray[np.floating]) -> Array:
        """Project i-vectors ``[n, r]`` to unit vectors ``[n, kept]``."""
        return unit((vectors - self.centre) @ self.projection.T)

    def backend(self) -> PLDA:
        """PLDA of the projected vectors."""
        kept = len(self.projection)
        model = TwoCovariance(self.mean, self.within, self.between)
        return PLDA(np.zeros(kept), np.eye(kept), model)

    def tensors(self) -> dict[str, torch.Tensor]:
        """Parameters by name, for a file."""
        import torch

        return {
            PREFIX + f.name: torch.from_numpy(getattr(self, f.name).copy()) for f in fields(self)
        }

    @classmethod
    def of(cls, tensors: Mapping[str, torch.Tensor]) -> SpeakerSpace | None:
        """Inverse of :meth:`tensors`; ignores other tensors. None where one is missing."""
        names = [f.name for f in fields(cls)]
        if any(PREFIX + name not in tensors for name in names):
            return None
        return cls(**{name: tensors[PREFIX + name].double().numpy() for name in names})


class IVector(Verifier):
    """A verifier of i-vectors.

    Args:
        folder: that ``voicenym train ivector`` or an attacker's training wrote. Without a speaker
            space in it, vectors are plain i-vectors of length one.

    Attributes:
        name: for reports.
        version: of the model.

    Raises:
        VoicenymError: no such folder.
    """

    def __init__(self, folder: Path) -> None:
        self.name = "i-vector"
        self.folder = folder
        self.version = fingerprint(folder)
        _, space = _loaded(folder, self.version)
        self.concentration = CONCENTRATION if space is None else RATIOS

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """Unit vectors ``[recording, kept]``; 0 for recordings without speech.

        Args:
            recordings: ``[time]`` each, mono float32 at 16 kHz.
        """
        model, space = _loaded(self.folder, self.version)
        vectors = model.ivectors(tensors(recordings)).numpy()
        found = unit(vectors) if space is None else space(vectors)
        return np.where(vectors.any(1, keepdims=True), found, 0.0).astype(np.float32)

    def backend(self) -> Backend:
        """PLDA of the folder's speaker space; cosine where the folder has none."""
        _, space = _loaded(self.folder, self.version)
        return COSINE if space is None else space.backend()


@lru_cache(maxsize=2)
def _loaded(folder: Path, version: str) -> tuple[Background, SpeakerSpace | None]:
    from voicenym.nets.checkpoint import read, rebuilding
    from voicenym.nets.statistics.background_model import Background

    config, tensors = read(folder)
    with rebuilding(folder):
        return Background.of(config, tensors), SpeakerSpace.of(tensors)
