"""Decoding of speech to timed phones or words by pocketsphinx, without a transcript.

The phone loop accepts any sequence of phones with a bigram of phones (``allphone``), at about 0.05
of real time. The words are decoded with pocketsphinx's model of free text and narrow beams, at
about 0.12 of real time; their error rate is high, but the same words of one speaker often have the
same errors.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from voicenym.nets.words.phone_states.phones import SILENCE
from voicenym.recognition.sphinx_processes.library_process import Worker
from voicenym.recognition.sphinx_processes.sphinx import (
    NO_START,
    PATIENCE,
    SLOWEST,
    features,
    model_folder,
)

MODULE = "voicenym.recognition.sphinx_processes.segment_worker"
FRAME = 0.01
"""Seconds of a frame."""
PHONE_LOOP: dict[str, Any] = {"lw": 2.0, "beam": 1e-20, "pbeam": 1e-20}
"""Options of the phone loop, those of pocketsphinx's documentation on phoneme recognition."""
FAST_WORDS: dict[str, Any] = {
    "fwdflat": False,
    "bestpath": False,
    "ds": 2,
    "topn": 2,
    "maxwpf": 5,
    "maxhmmpf": 3000,
}
"""Options of a single pass with few hypotheses, three times as fast as the default."""


class Segment(NamedTuple):
    """A phone, a word or a silence: its name, first frame and number of frames of 10 ms."""

    name: str
    first: int
    frames: int


class SegmentDecoder:
    """Decodes recordings in a process of pocketsphinx, which restarts after a crash.

    Args:
        kind: ``phones`` or ``words``.

    Raises:
        DependencyError: pocketsphinx is not installed.

    Example:
        >>> with SegmentDecoder("phones") as decoder:          # doctest: +SKIP
        ...     decoder.decode(samples)[:2]
        [Segment(name='SIL', first=0, frames=21), Segment(name='M', first=21, frames=9)]
    """

    def __init__(self, kind: str) -> None:
        folder = model_folder()
        options: dict[str, Any] = {"samprate": 16_000.0, "featparams_text": features()}
        options["hmm"] = str(folder / "en-us")
        if kind == "phones":
            options |= {"allphone": str(folder / "en-us-phone.lm.bin"), **PHONE_LOOP}
        else:
            options |= {"lm": str(folder / "en-us.lm.bin"), **FAST_WORDS}
            options["dict"] = str(folder / "cmudict-en-us.dict")
        self._worker = Worker(MODULE, options, NO_START)

    def decode(self, samples: np.ndarray) -> list[Segment]:
        """Segments in order, including silences; empty if the process fails or nothing is
        recognised.

        Args:
            samples: ``[time]`` float32 at 16 kHz.
        """
        data = np.rint(np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes()
        if not data:
            return []
        limit = PATIENCE + SLOWEST * len(samples) / 16_000
        answer = self._worker.ask(f"{len(data)}\n".encode() + data, limit)
        if answer is None:
            self._worker.close()
            return []
        return [Segment(_name(name), first, frames) for name, first, frames in json.loads(answer)]

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _name(word: str) -> str:
    """A phone or a word without the number of its pronunciation; fillers are silence.

    Example:
        >>> [_name(x) for x in ("going(2)", "<sil>", "+NSN+", "[NOISE]", "AA")]
        ['going', 'SIL', 'SIL', 'SIL', 'AA']
    """
    bare = word.partition("(")[0]
    return bare if bare.replace("'", "").replace("-", "").replace(".", "").isalpha() else SILENCE


def installed() -> bool:
    """Whether pocketsphinx and its models are here."""
    from voicenym.errors import DependencyError

    try:
        folder: Path = model_folder()
    except DependencyError:
        return False
    return (folder / "en-us-phone.lm.bin").is_file()
