"""i-vector verification: i-vectors, what tells speakers apart in them, cosine or PLDA.

The alternate verifier of Turner et al. (paper 1, section 4.3: LDA of 200 and PLDA) and V-Cloak's
``ivector-PLDA``. See :mod:`voicenym.nets.ivector`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voicenym.attack.backend import Array, Backend, Cosine, unit
from voicenym.attack.gmm import background, fingerprint, tensors
from voicenym.attack.plda import PLDA, TwoCovariance
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.training.background import Spoken
    from voicenym.training.ivector import IVectorConfig

LDA = 200
"""Dimensions kept at most, as in the VoicePrivacy challenges' attackers."""
BACKEND = "backend.safetensors"


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

    def save(self, path: Path) -> None:
        """As safetensors.

        Raises:
            VoicenymError: if it cannot be written.
        """
        import torch

        from voicenym.nets.background import write_tensors

        arrays = {f.name: np.ascontiguousarray(getattr(self, f.name)) for f in fields(self)}
        write_tensors(path, {name: torch.from_numpy(array) for name, array in arrays.items()})

    @classmethod
    def load(cls, path: Path) -> SpeakerSpace:
        """What :meth:`save` wrote.

        Raises:
            VoicenymError: if it is something else.
        """
        from voicenym.nets.background import read_tensors

        found = read_tensors(path)
        missing = [f.name for f in fields(cls) if f.name not in found]
        if missing:
            raise VoicenymError(f"{path}: lacks {missing[0]}; train it again")
        return cls(**{f.name: found[f.name].numpy() for f in fields(cls)})


class IVector:
    """A verifier of i-vectors.

    Args:
        folder: that :func:`train`, or ``voicenym train ivector``, wrote. Without the speaker space
            in it (``backend.safetensors``), vectors are plain i-vectors of length one.

    Attributes:
        name: for reports.
        version: of all files that vectors depend on.

    Raises:
        VoicenymError: no such folder.
    """

    def __init__(self, folder: Path) -> None:
        self.name = "i-vector"
        self.folder = folder
        space = folder / BACKEND
        seen = hashlib.sha256(space.read_bytes()).hexdigest() if space.is_file() else ""
        self.version = fingerprint(folder, seen)

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """Unit vectors ``[recording, kept]``; 0, which is like nobody, where nobody speaks.

        Args:
            recordings: ``[time]`` each, mono float32 at 16 kHz.
        """
        model, space = background(self.folder, self.version), _space(self.folder, self.version)
        vectors = model.ivectors(tensors(recordings)).numpy()
        found = unit(vectors) if space is None else space(vectors)
        return np.where(vectors.any(1, keepdims=True), found, 0.0).astype(np.float32)

    def backend(self) -> Backend:
        """PLDA as it was trained with the i-vectors; cosines where it was not."""
        space = _space(self.folder, self.version)
        return Cosine() if space is None else space.backend()


@lru_cache(maxsize=2)
def _space(folder: Path, version: str) -> SpeakerSpace | None:
    path = folder / BACKEND
    return SpeakerSpace.load(path) if path.is_file() else None


def train(
    recordings: Sequence[Spoken],
    folder: Path,
    config: IVectorConfig | None = None,
    say: Callable[[str], None] = lambda text: None,
    workers: int = 1,
) -> IVector:
    """Train i-vectors (:func:`voicenym.training.ivector.train`), and LDA and PLDA on them.

    Args:
        recordings: of speakers who will not be tried.
        folder: for the verifier.
        config: how.
        say: told what is being done.
        workers: processes that listen.

    Raises:
        VoicenymError: fewer than two speakers, none with two recordings, no speech, too little of
            it, or a folder that cannot be written.
    """
    from voicenym.training import ivector

    if len({recording.speaker for recording in recordings}) < 2:
        raise VoicenymError(
            "one speaker only: what tells speakers apart is learnt from several; add others"
        )
    learnt = ivector.train(recordings, folder, config, say, workers)
    space = SpeakerSpace.learn(learnt.vectors, learnt.speakers)
    space.save(folder / BACKEND)
    who, kept = len(set(learnt.speakers)), len(space.projection)
    say(f"LDA to {kept} dimensions and PLDA, from {who} speakers")
    return IVector(folder)
