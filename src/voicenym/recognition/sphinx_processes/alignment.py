"""Forced alignment: start and end of each phone of a transcript, by pocketsphinx.

Every system of this package keeps the timing of speech, so that alignments of original speech are
valid for its anonymized forms.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from voicenym.corpus.recording import Recording
from voicenym.errors import VoicenymError
from voicenym.metrics import normalise
from voicenym.nets.words.phone_states.phones import SILENCE, Phone
from voicenym.private import open_private, private_folder
from voicenym.recognition.interface import RATE
from voicenym.recognition.language_models.closed_vocabulary import write_lexicon
from voicenym.recognition.sphinx_processes.library_process import Worker
from voicenym.recognition.sphinx_processes.sphinx import (
    NO_START,
    PATIENCE,
    SLOWEST,
    features,
    known_words,
)

SHIFT = 0.01
"""Seconds from one of pocketsphinx's frames to the next."""
EDGE = 0.0078
"""Seconds from a frame's beginning to the border with the frame before it: half a window of 25.6 ms
less half a shift."""


class Aligner:
    """Aligns transcripts and speech with pocketsphinx, in a separate process.

    Args:
        lexicon: pronunciations of words in lower case, as phones with spaces between; words that
            it lacks cannot be aligned.

    Raises:
        DependencyError: pocketsphinx is not installed.

    Example:
        >>> with Aligner(lexicon) as aligner:                  # doctest: +SKIP
        ...     aligner.align(samples, "the cat")[:2]
        [Phone(name='SIL', start=0.0, end=0.52), Phone(name='DH', start=0.52, end=0.6)]
    """

    def __init__(self, lexicon: Mapping[str, Sequence[str]]) -> None:
        self._known = frozenset(lexicon)
        options = {
            "dict_text": write_lexicon(lexicon, lexicon),
            "featparams_text": features(),
        }
        self._worker = Worker(
            "voicenym.recognition.sphinx_processes.alignment_worker", options, NO_START
        )

    def align(self, samples: np.ndarray, text: str) -> list[Phone] | None:
        """Phones and silences in order, or None where text and speech do not fit.

        Args:
            samples: ``[time]`` float32 at 16 kHz.
            text: normalised.
        """
        if not text or not self._known.issuperset(text.split()):
            return None
        data = np.rint(np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes()
        asked = json.dumps({"text": text, "bytes": len(data)}).encode()
        limit = PATIENCE + SLOWEST * len(samples) / RATE
        answer = self._worker.ask(asked + b"\n" + data, limit)
        if answer is None:
            self._worker.close()
            return None
        found = json.loads(answer)
        return None if found is None else [_phone(*one) for one in found]

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _phone(name: str, first: int, frames: int) -> Phone:
    start = 0.0 if first == 0 else first * SHIFT + EDGE
    # fillers, such as +NOISE+, have no letters of a phone
    return Phone(name if name.isalpha() else SILENCE, start, (first + frames) * SHIFT + EDGE)


def pronunciations(
    texts: Iterable[str], own: Mapping[str, Sequence[str]] | None = None
) -> dict[str, list[str]]:
    """Pronunciations of the words of texts, from a given lexicon or else from pocketsphinx's.

    Args:
        texts: normalised.
        own: pronunciations by word.

    Raises:
        DependencyError: pocketsphinx is not installed.
    """
    lexicon = known_words()
    for word, ways in (own or {}).items():
        lexicon[word] = list(ways)
    return {
        word: lexicon[word]
        for word in sorted({word for text in texts for word in text.split()})
        if word in lexicon
    }


class Alignments:
    """A cache of alignments in a file.

    The file (JSON lines) identifies recordings by a digest of samples and text, without names.

    Args:
        path: of the file, created if missing.
        lexicon: as of :class:`Aligner`, which aligns what the file lacks.

    Raises:
        VoicenymError: the file exists and holds something else.
    """

    def __init__(self, path: Path, lexicon: Mapping[str, Sequence[str]]) -> None:
        self._path, self._lexicon = path, lexicon
        self._kept: dict[str, list[Phone] | None] = {}
        if path.is_file():
            try:
                lines = path.read_text("utf-8").splitlines()
            except (OSError, UnicodeDecodeError):
                raise VoicenymError(
                    f"{path}: cannot be read as text; remove the file, and it is made anew"
                ) from None
            for number, line in enumerate(lines, 1):
                try:
                    row = json.loads(line)
                    phones = row["phones"]
                    self._kept[str(row["of"])] = phones and [_kept_phone(*one) for one in phones]
                except (ValueError, KeyError, TypeError, RecursionError):
                    raise VoicenymError(
                        f"{path}:{number}: no alignment; remove the file, and it is made anew"
                    ) from None

    def of(
        self, recordings: Sequence[Recording], say: Callable[[str], None] = lambda text: None
    ) -> list[list[Phone] | None]:
        """Phones of each recording, None where text and speech do not fit.

        Args:
            recordings: with text; their original samples are aligned.
            say: receives progress messages.
        """
        names = [_name(recording) for recording in recordings]
        missing = [i for i, name in enumerate(names) if name not in self._kept]
        if missing:
            private_folder(self._path.parent)
            with Aligner(self._lexicon) as aligner, open_private(self._path, "a") as file:
                for done, i in enumerate(missing, 1):
                    found = aligner.align(recordings[i].samples(), normalise(recordings[i].text))
                    self._kept[names[i]] = found
                    rows = [[n, round(s, 4), round(e, 4)] for n, s, e in found or []]
                    row = {"of": names[i], "phones": rows or None}
                    file.write(json.dumps(row) + "\n")
                    if done % 500 == 0:
                        say(f"{done} of {len(missing)} recordings aligned")
        return [self._kept[name] for name in names]


def _kept_phone(name: str, start: float, end: float) -> Phone:
    if not isinstance(name, str) or not 0.0 <= float(start) <= float(end) < math.inf:
        raise ValueError
    return Phone(name, float(start), float(end))


def _name(recording: Recording) -> str:
    what = f"{recording.digest()} {normalise(recording.text)}"
    return hashlib.sha256(what.encode()).hexdigest()[:32]
