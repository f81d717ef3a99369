"""i-vector verification: i-vectors, what tells speakers apart in them, cosine or PLDA.

The alternate verifier of Turner et al. (paper 1, section 4.3: LDA of 200 and PLDA) and V-Cloak's
``ivector-PLDA``. See :mod:`voicenym.nets.statistics.total_variability`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voicenym.verification.gmm_ubm import fingerprint, tensors
from voicenym.verification.plda import PLDA, TwoCovariance
from voicenym.verification.scoring import COSINE, Array, Backend, unit
from voicenym.verification.verifier import CONCENTRATION, Verifier

if TYPE_CHECKING:
    import torch

    from voicenym.nets.statistics.background_model import Background

LDA = 200
"""Dimensions kept at most, as in the VoicePrivacy challenges' attackers."""
RATIOS = 1.0
"""Concentration of log-likelihood ratios."""
PREFIX = "space."
"""Of the names of a speaker space's tensors in the model's file."""


@dataclass(frozen=True)
class SpeakerSpace:
    """Where i-vectors tell speakers apart: centred, projected by LDA, of length one; PLDA there.

    Args:
        centre: ``[r]``.
        projection: ``[kept, r]``.
        mean, within, between: of the two-covariance model of what comes out, as it has them.
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
        """From i-vectors ``[n, r]`` of speakers who will not be tried.

        Args:
            vectors: ``[n, r]``.
            speakers: of each.
            most: dimensions kept; fewer where the speakers or the i-vectors span fewer.

        Raises:
            VoicenymError: fewer than two speakers, or none with two recordings.
        """
        spanned = min(vectors.shape[1], len(set(speakers)) - 1)
        plda = PLDA.train(vectors, speakers, lda=min(most, spanned) if spanned > 0 else None)
        model = plda.model
        return cls(plda.centre, plda.projection, model.mean, model.within, model.between)

    def __call__(self, vectors: npt.NDArray[np.floating]) -> Array:
        """i-vectors ``[n, r]`` as unit vectors ``[n, kept]``."""
        return unit((vectors - self.centre) @ self.projection.T)

    def backend(self) -> PLDA:
        """PLDA for the vectors that come out."""
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
        """From :meth:`tensors`, others beside them; None where they are not there."""
        names = [f.name for f in fields(cls)]
        if any(PREFIX + name not in tensors for name in names):
            return None
        return cls(**{name: tensors[PREFIX + name].double().numpy() for name in names})


class IVector(Verifier):
    """A verifier of i-vectors.

    Args:
        folder: that :meth:`train`, or ``voicenym train ivector``, wrote. Without a speaker space
            in it, vectors are plain i-vectors of length one.

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
        """Unit vectors ``[recording, kept]``; 0, which is like nobody, where nobody speaks.

        Args:
            recordings: ``[time]`` each, mono float32 at 16 kHz.
        """
        model, space = _loaded(self.folder, self.version)
        vectors = model.ivectors(tensors(recordings)).numpy()
        found = unit(vectors) if space is None else space(vectors)
        return np.where(vectors.any(1, keepdims=True), found, 0.0).astype(np.float32)

    def backend(self) -> Backend:
        """PLDA as it was trained with the i-vectors; cosines where it was not."""
        _, space = _loaded(self.folder, self.version)
        return COSINE if space is None else space.backend()


@lru_cache(maxsize=2)
def _loaded(folder: Path, version: str) -> tuple[Background, SpeakerSpace | None]:
    from voicenym.nets.checkpoint import read
    from voicenym.nets.statistics.background_model import Background

    config, tensors = read(folder)
    return Background.of(config, tensors), SpeakerSpace.of(tensors)
