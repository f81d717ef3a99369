"""Verifiers that others published: ``ecapa:PLACE`` and ``xvector:PLACE``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.verification.encoder_verifier import EncoderVerifier, shared_encoder, stored_encoder

if TYPE_CHECKING:
    from voicenym.nets.speakers.speaker_encoder import Encoder

TITLES = {"ecapa": "ECAPA-TDNN", "xvector": "x-vector"}
"""Kinds, and what reports call them."""


class Published(EncoderVerifier):
    """A speaker encoder of SpeechBrain's, in a folder of ours.

    What its cosines mean was not measured, so that it has no calibration.

    Args:
        kind: one of :data:`TITLES`.
        place: as of :func:`voicenym.nets.speakers.speechbrain_encoder.find`. It is looked up here;
            worker processes read the folder that was found.

    Raises:
        DependencyError, VoicenymError: as of
            :func:`voicenym.nets.speakers.speechbrain_encoder.find` and
            :func:`voicenym.nets.speakers.speaker_encoders.load`.
    """

    def __init__(self, kind: str, place: str) -> None:
        from voicenym.nets.checkpoint import version
        from voicenym.nets.speakers.speechbrain_encoder import find

        self._folder = find(kind, place)
        self.name = f"{TITLES[kind]} ({Path(place).name})"
        self.version = version(self._folder)
        self._shared()  # what does not fit is said before the work begins

    def encoder(self) -> Encoder:
        return stored_encoder(self._folder)

    def _shared(self) -> Encoder:
        return shared_encoder(self._folder, self.version)
