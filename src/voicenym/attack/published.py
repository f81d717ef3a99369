"""Verifiers that others published: ``ecapa:PLACE`` and ``xvector:PLACE``."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.attack.neural import Neural

if TYPE_CHECKING:
    from voicenym.nets.speakers.encoder import Encoder

TITLES = {"ecapa": "ECAPA-TDNN", "xvector": "x-vector"}
"""Kinds, and what reports call them."""


class Published(Neural):
    """A speaker encoder from a checkpoint in SpeechBrain's layout.

    What its cosines mean was not measured, so that it has no calibration.

    Args:
        kind: one of :data:`TITLES`.
        place: folder, file or name on the hub, as of
            :func:`voicenym.nets.speakers.published.find`. It is looked up
            here; worker processes read the file that was found.

    Raises:
        DependencyError, VoicenymError: as of :func:`voicenym.nets.speakers.published.published`.
    """

    def __init__(self, kind: str, place: str) -> None:
        from voicenym.nets.speakers.published import find

        self._kind, self._path = kind, find(place)
        self.name = f"{TITLES[kind]} ({Path(place).name})"
        self.version = hashlib.sha256(self._path.read_bytes()).hexdigest()[:16]
        self._shared()  # what does not fit is said before the work begins

    def encoder(self) -> Encoder:
        from voicenym.nets.speakers.published import published

        return published(self._kind, str(self._path))

    def _shared(self) -> Encoder:
        return _encoder(self._kind, self._path, self.version)


@cache
def _encoder(kind: str, path: Path, version: str) -> Encoder:
    from voicenym.nets.speakers.published import published

    return published(kind, str(path))
