"""What was heard in the stretches of a recording, kept until what is made of them is complete.

A run that was interrupted goes on where it stopped. What was heard in a stretch is taken for the
same samples, hints and rule of the same recogniser alone, so that the check of a redaction, too, is
taken only if the sound is the one that was checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from voicenym.corpus.batches.single_file import sha256_of
from voicenym.kept_work import KeptWork, beside, digest_of
from voicenym.transcription.timed_words import Word
from voicenym.transcription.word_recogniser import WordRecogniser


@dataclass(frozen=True)
class HeardStretch:
    """What was heard in a stretch.

    Args:
        language: code, as it is known after the stretch; None if it is not yet.
        words: with times in the recording.
        unheard: ``(start, end)`` in seconds of speech without a word.
    """

    language: str | None
    words: tuple[Word, ...]
    unheard: tuple[tuple[float, float], ...]


@dataclass
class KnownStretches:
    """Stretches of a recording that were heard in this run.

    An edit of the recording has the same length, and is heard in the same stretches: only those
    whose sound it changes are new.

    Args:
        heard: by key.
        ends: of the stretches in samples at 16 kHz, as they were heard first.
    """

    heard: dict[str, HeardStretch] = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)

    def ended(self, end: int) -> None:
        """Adds the end of a stretch, unless it is known."""
        if not self.ends or end > self.ends[-1]:
            self.ends.append(end)


class HeardStretches:
    """Stretches that were heard, in the order in which they were.

    Args:
        work: the file in which they are.
    """

    def __init__(self, work: KeptWork) -> None:
        self._work = work

    @classmethod
    def open(cls, path: Path, stamp: Mapping[str, Any]) -> HeardStretches | None:
        """The stretches in a file; None where another run uses it, or no file can be there.

        Args:
            path: of the file.
            stamp: what the recording, the recogniser and the options are.

        Raises:
            VoicenymError: the file belongs to another user, or is a symbolic link.
        """
        work = KeptWork.open(path, {"heard": 3, **stamp})
        return None if work is None else cls(work)

    def get(self, key: str) -> HeardStretch | None:
        """The next stretch, if it was heard before.

        Args:
            key: of :func:`stretch_key`.
        """
        part = self._work.take(key)
        return None if part is None else _stretch(part.facts)

    def add(self, key: str, stretch: HeardStretch) -> None:
        """Keeps the next stretch."""
        self._work.note(key, asdict(stretch))

    def close(self) -> None:
        """Closes the file, which stays for another run."""
        self._work.close()

    def remove(self) -> None:
        """Removes the file, because what is made of the stretches is complete."""
        self._work.remove()


def heard_before(
    place: Path, recording: Path, recogniser: WordRecogniser, **options: object
) -> HeardStretches | None:
    """What an interrupted run heard in a recording; None where it cannot be kept.

    Args:
        place: the file lies beside it and is named after it: the output of a transcription, whose
            words it has, but the recording of a redaction, whose output is for others.
        recording: what is heard.
        recogniser: of words.
        options: on which depends what is heard.
    """
    if not recording.is_file():
        return None
    stamp = {
        "recording": sha256_of(recording),
        "recogniser": [recogniser.name, recogniser.version],
        **options,
    }
    return HeardStretches.open(beside(place, "heard"), stamp)


def stretch_key(
    samples: npt.NDArray[np.float32],
    start: float,
    language: str | None,
    hints: Sequence[str],
    rule: object,
) -> str:
    """Key of what is heard in a stretch.

    Args:
        samples: ``[channel, time]`` at 16 kHz.
        start: of the stretch in seconds.
        language: that is known before it.
        hints: words that may occur.
        rule: by which speech is found.
    """
    sound = np.ascontiguousarray(samples, dtype=np.float32).tobytes()
    return digest_of(sound, repr((samples.shape, start, language, list(hints), rule)))


def _stretch(facts: Mapping[str, Any]) -> HeardStretch:
    words = tuple(Word(**{**one, "segment": tuple(one["segment"])}) for one in facts["words"])
    unheard = tuple((float(a), float(b)) for a, b in facts["unheard"])
    return HeardStretch(facts["language"], words, unheard)
