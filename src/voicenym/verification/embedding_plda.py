"""Verifier of the VoicePrivacy Challenges 2020 and 2022: a network's embeddings, LDA and PLDA.

The chain is Kaldi's: subtract the training mean, linear discriminant analysis to 200 dimensions,
length normalisation, two-covariance PLDA; a speaker's raw embeddings are averaged before it. It is
read from the recipes that the challenges released.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from voicenym.errors import VoicenymError
from voicenym.verification.encoder_verifier import StoredEncoder
from voicenym.verification.ivector import RATIOS, SpeakerSpace
from voicenym.verification.plda import PLDA, TwoCovariance
from voicenym.verification.verifier import Verifier

ENCODER = "encoder"
"""Subfolder of the network."""
KIND = "embedding-plda"


class EmbeddingPlda(Verifier):
    """Embeddings of a stored network, compared by LDA and PLDA.

    Args:
        folder: of :func:`save`; its subfolder ``encoder`` holds the network.
        name: for reports.

    Raises:
        VoicenymError: no such folder.
    """

    concentration = RATIOS

    def __init__(self, folder: Path, name: str = "x-vector, LDA, PLDA") -> None:
        from voicenym.nets.checkpoint import configuration, together, version

        if configuration(folder).get("kind") != KIND:
            raise VoicenymError(f"{folder}: no LDA and PLDA of embeddings; train them anew")
        self.name = name
        self.folder = folder
        self.network = StoredEncoder(folder / ENCODER)
        self.version = together(self.network.version, version(folder))

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        return self.network.embed(recordings)

    def backend(self) -> PLDA:
        """LDA, length normalisation and PLDA of the folder."""
        return _loaded(self.folder, self.version)


def save(space: SpeakerSpace, folder: Path) -> None:
    """Write LDA and PLDA beside the network in the subfolder ``encoder``."""
    from voicenym.nets.checkpoint import write

    write(folder, space.tensors(), {"kind": KIND})


@lru_cache(maxsize=4)
def _loaded(folder: Path, version: str) -> PLDA:
    from voicenym.nets.checkpoint import read, rebuilding

    _, tensors = read(folder)
    space = SpeakerSpace.of(tensors)
    if space is None:
        raise VoicenymError(f"{folder}: LDA and PLDA are not complete; train them anew")
    with rebuilding(folder):
        model = TwoCovariance(space.mean, space.within, space.between)
        return PLDA(space.centre, space.projection, model)
