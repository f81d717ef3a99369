"""Verifiers that are speaker encoders: neural networks with cosine scoring."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from functools import cache
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voicenym.errors import DependencyError
from voicenym.verification.given_recordings import tensors
from voicenym.verification.verifier import Verifier

if TYPE_CHECKING:
    from voicenym.nets.speakers.speaker_encoder import Encoder

MARGIN_CONCENTRATION = 30.0
"""Default for encoders trained with an angular margin: the scale of their logits."""
RESEMBLYZER = "resemblyzer"
"""Name in the catalogue of published weights."""


class EncoderVerifier(Verifier):
    """A verifier whose vectors come from a speaker encoder; subclasses hold the weights."""

    @abstractmethod
    def encoder(self) -> Encoder:
        """A copy of the network that the caller may change."""

    @abstractmethod
    def _shared(self) -> Encoder:
        """The network, one instance a process; the caller must not change it."""

    def on(self, device: str) -> EncoderVerifier:
        found = copy(self)
        found.device = device
        return found

    def embed(self, recordings: Sequence[np.ndarray]) -> np.ndarray:
        return self._shared().embed(tensors(recordings)).numpy()


class Resemblyzer(EncoderVerifier):
    """The d-vector encoder of the Resemblyzer package, from its converted weights.

    Raises:
        DependencyError: the weights are not converted.
        VoicenymError: the converted weights were changed.
    """

    name = "Resemblyzer"

    calibration = (35.0, -25.8)
    # logistic regression on 117,460 pairs of 3 s, 48 speakers of speechocean762's dev, C_llr 0.31

    def __init__(self) -> None:
        from voicenym.nets.checkpoint import version
        from voicenym.nets.hub import is_pulled, place_of

        if not is_pulled(RESEMBLYZER):
            raise DependencyError(
                "the verifier's weights are missing: pip install voicenym[evaluate] && pip install "
                f"--no-deps resemblyzer && voicenym models pull {RESEMBLYZER}"
            )
        self._folder = Path(place_of(RESEMBLYZER))
        self.version = version(self._folder)

    def encoder(self) -> Encoder:
        return stored_encoder(self._folder)

    def _shared(self) -> Encoder:
        return shared_encoder(self._folder, self.version, self.device)


class StoredEncoder(EncoderVerifier):
    """An encoder that ``voicenym train verifier`` or an attacker's training wrote to a folder.

    Args:
        folder: with ``config.json`` and ``model.safetensors``.
        name: for reports; None for the folder's name.

    Raises:
        VoicenymError: no such folder.
    """

    def __init__(self, folder: Path, name: str | None = None) -> None:
        from voicenym.nets.checkpoint import DIGEST, configuration

        self.name = name or folder.resolve().name
        self._folder = folder
        config = configuration(folder)
        self.version = str(config.get(DIGEST, ""))[:16]
        slope, offset = config.get("calibration", (nan, nan))
        self.calibration = (float(slope), float(offset))
        self.concentration = float(config.get("concentration", MARGIN_CONCENTRATION))

    def encoder(self) -> Encoder:
        return stored_encoder(self._folder)

    def _shared(self) -> Encoder:
        return shared_encoder(self._folder, self.version, self.device)


def stored_encoder(folder: Path) -> Encoder:
    """A new instance of the encoder in a folder."""
    from voicenym.nets.speakers.speaker_encoders import load

    return load(folder)


@cache
def shared_encoder(folder: Path, version: str, device: str = "cpu") -> Encoder:
    """The encoder in a folder, one instance a process and device; the caller must not change it."""
    return stored_encoder(folder).to(device)
