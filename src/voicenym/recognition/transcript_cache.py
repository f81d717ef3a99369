"""A cache of transcripts in a file, so that an interrupted evaluation resumes.

The file (JSON lines) identifies recordings by a digest of their samples and of the recogniser,
without names. Only its owner can read it, because transcripts contain the words of the recordings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from voicenym.private import open_private, private_folder
from voicenym.recognition.interface import Recogniser, Recording, checked


class CachedRecogniser(Recogniser):
    """A recogniser that transcribes only recordings that the file lacks.

    Args:
        recogniser: with an ``identity`` of everything on which its transcripts depend.
        path: of the file, created if missing. Damaged lines are ignored.

    Attributes:
        notes: of the recogniser on the recordings of the latest call that were not in the file.
    """

    def __init__(self, recogniser: Recogniser, path: Path) -> None:
        self._recogniser, self._path = recogniser, path
        self._identity = recogniser.identity
        self._kept: dict[str, tuple[str, bool]] = {}
        self._notes: tuple[str, ...] = ()
        if path.is_file():
            for line in path.read_text("utf-8", "replace").splitlines():
                try:
                    row = json.loads(line)
                    self._kept[str(row["of"])] = str(row["text"]), bool(row["loop"])
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue

    @property
    def name(self) -> str:
        return self._recogniser.name

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    def transcribe(self, recordings: Sequence[Recording]) -> list[str]:
        found, loops = [], 0
        for i, recording in enumerate(recordings):
            samples = checked(recording, i)
            digest = hashlib.sha256(self._identity.encode() + b"\0" + samples.tobytes())
            key = digest.hexdigest()[:32]
            if key not in self._kept:
                text = self._recogniser.transcribe([samples])[0]
                self._keep(key, text, bool(getattr(self._recogniser, "loops", 0)))
            text, loop = self._kept[key]
            found.append(text)
            loops += loop
        self._notes = loop_notes(self.name, loops, len(recordings))
        return found

    def close(self) -> None:
        self._recogniser.close()

    def _keep(self, key: str, text: str, loop: bool) -> None:
        self._kept[key] = text, loop
        private_folder(self._path.parent)
        with open_private(self._path, "a") as file:
            row = {"of": key, "text": text, "loop": loop}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def loop_notes(name: str, loops: int, count: int) -> tuple[str, ...]:
    """Notes for reports on transcripts in which the recogniser repeated itself."""
    if not loops:
        return ()
    return (
        f"{name} did not find the end of {loops} of {count} recordings and repeated itself; "
        "repeated words count once",
    )
