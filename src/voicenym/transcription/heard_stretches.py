"""What was heard in the first stretches of a recording, kept until its transcript is complete.

A transcription that was interrupted goes on where it stopped. The file is private, lies beside the
output and is removed with its last stretch; it is used for the same recording, recogniser and
options alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from voicenym.private import open_private
from voicenym.transcription.timed_words import Word


@dataclass(frozen=True)
class HeardStretch:
    """What was heard in a stretch.

    Args:
        samples: of the stretch, at 16 kHz.
        language: code, as it is known after the stretch; None if it is not yet.
        words: with times in the recording.
        unheard: ``(start, end)`` in seconds of speech without a word.
    """

    samples: int
    language: str | None
    words: tuple[Word, ...]
    unheard: tuple[tuple[float, float], ...]


class HeardStretches:
    """Stretches of a recording in a file, a line each.

    Args:
        path: of the file; what is in it is dropped if it is of another recording or of other
            options.
        stamp: what the recording, the recogniser and the options are.
    """

    def __init__(self, path: Path, stamp: Mapping[str, Any]) -> None:
        self._path = path
        first, found = json.dumps({"heard": 1, **stamp}, sort_keys=True), _read(path)
        self._kept = found[1:] if found and found[0] == first else []
        self._file = open_private(path, "w")  # without a line that was torn
        for line in (first, *self._kept):
            self._put(line)

    def get(self, number: int, samples: int) -> HeardStretch | None:
        """A stretch that was heard before; None if it was not.

        Args:
            number: from 0.
            samples: of the stretch; another number ends what can be used.
        """
        if number < len(self._kept):
            found = _stretch(self._kept[number])
            if found is not None and found.samples == samples:
                return found
            del self._kept[number:]
        return None

    def add(self, stretch: HeardStretch) -> None:
        """Keeps the next stretch."""
        self._put(json.dumps(asdict(stretch), ensure_ascii=False))

    def close(self) -> None:
        """Closes the file, which stays for another run."""
        self._file.close()

    def remove(self) -> None:
        """Removes the file, because the transcript is complete."""
        self._file.close()
        with suppress(OSError):
            self._path.unlink()

    def _put(self, line: str) -> None:
        self._file.write(f"{line}\n")
        self._file.flush()


def _read(path: Path) -> list[str]:
    """Lines of the file, up to the first that holds no stretch; none where it cannot be read."""
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return []
    first, *rest = text.splitlines() or [""]
    kept = [first]
    for line in rest:
        if _stretch(line) is None:
            break
        kept.append(line)
    return kept


def _stretch(line: str) -> HeardStretch | None:
    """The stretch of a line; None if it holds none."""
    try:
        found = json.loads(line)
        words = [Word(**{**word, "segment": tuple(word["segment"])}) for word in found["words"]]
        unheard = tuple((float(a), float(b)) for a, b in found["unheard"])
        language = None if found["language"] is None else str(found["language"])
        return HeardStretch(int(found["samples"]), language, tuple(words), unheard)
    except (ValueError, TypeError, KeyError):
        return None
