"""Published speaker encoders as verifiers: ``ecapa:PLACE`` and ``xvector:PLACE``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.verification.encoder_verifier import EncoderVerifier, shared_encoder, stored_encoder

if TYPE_CHECKING:
    from voicenym.nets.speakers.speaker_encoder import Encoder

TITLES = {"ecapa": "ECAPA-TDNN", "xvector": "x-vector"}
"""Names in reports, by kind."""


class Published(EncoderVerifier):
    """A speaker encoder of SpeechBrain, converted to a folder of this package.

    It has no calibration, because its scores were not measured.

    Args:
        kind: one of :data:`TITLES`.
        place: as of :func:`voicenym.nets.speakers.speechbrain_encoder.find`. This process resolves
            it; worker processes read the resulting folder.

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
        self._shared()  # weights that do not fit raise before the work begins

    def encoder(self) -> Encoder:
        return stored_encoder(self._folder)

    def _shared(self) -> Encoder:
        return shared_encoder(self._folder, self.version, self.device)
