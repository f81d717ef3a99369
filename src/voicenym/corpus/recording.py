"""Recordings that attackers and metrics use: file, speaker and samples."""

from __future__ import annotations

import hashlib
import io
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from voicenym.corpus.commands import output_of
from voicenym.dsp.downmix import downmix
from voicenym.errors import AudioError

RATE = 16_000
"""Sample rate of verifiers, recognisers and metrics, in Hz."""
SHORTEST = 0.1
"""Seconds below which a recording is too short for a verifier."""
ADULT = 18
"""Years of age from which a speaker counts as an adult."""


NOT_HERE = (
    "its private copy is not on this machine; with --address, set TMPDIR to a folder that all "
    "nodes share"
)


@dataclass(frozen=True, order=True)
class Recording:
    """One utterance of one speaker.

    Args:
        name: unique within its corpus.
        speaker: its speaker.
        path: of the sound file.
        sex: ``f`` or ``m``, empty where unknown.
        text: transcript, empty where unknown.
        start, end: seconds within the file; an ``end`` of None is its end.
        command: of a Kaldi ``wav.scp`` that the user trusts, which prints the file; empty for the
            file at ``path``.
        age: of the speaker in years, or the name of an age group; empty where unknown.
        corpus: of the recording, if a manifest names several; else empty.
        emotion, accent: labels of a manifest; empty where unknown.
        origin: place of a recording of a shard or a store for messages, of which ``path`` is a
            private copy; empty for others.
    """

    name: str
    speaker: str
    path: Path
    sex: str = ""
    text: str = ""
    start: float = 0.0
    end: float | None = None
    command: str = ""
    age: str = ""
    corpus: str = ""
    emotion: str = ""
    accent: str = ""
    origin: str = ""

    @property
    def place(self) -> str:
        """Where it comes from, for messages."""
        return self.origin or self.command or str(self.path)

    @property
    def age_group(self) -> str:
        """``children`` or ``adults`` by the years, or the group that ``age`` names.

        Example:
            >>> Recording("u1", "ann", Path("u1.wav"), age="9").age_group
            'children'
        """
        try:
            years = float(self.age)
        except ValueError:
            return self.age.strip().lower()
        if not 0.0 <= years < math.inf:
            return ""
        return "children" if years < ADULT else "adults"

    def digest(self) -> str:
        """SHA-256 of the file and of the part of it that the recording covers."""
        sha256 = _sha256_of_output(self.command) if self.command else _sha256(self.path)
        return f"{sha256} {self.start:.6f} {self.end}"

    def samples(self) -> np.ndarray:
        """Mono float32 ``[time]`` at 16 kHz; channels are averaged
        (:mod:`voicenym.dsp.downmix`).

        Raises:
            AudioError: if the file cannot be read, or is too short or silent.
            CorpusError: its command failed.
        """
        import soxr

        signal, rate = self.sound()
        return np.ascontiguousarray(soxr.resample(signal, rate, RATE), dtype=np.float32)

    def sound(self) -> tuple[np.ndarray, int]:
        """Mono float32 ``[time]`` at the recording's own rate, and that rate in Hz.

        Raises:
            AudioError, CorpusError: as of :meth:`samples`.
        """
        from voicenym.audio import read

        try:
            audio = read(io.BytesIO(output_of(self.command)) if self.command else self.path)
        except AudioError as error:
            if not self.origin:
                raise
            if not self.path.exists():
                raise AudioError(f"{self.origin}: {NOT_HERE}") from None
            raise AudioError(str(error).replace(str(self.path), self.origin)) from None
        signal = downmix(np.atleast_2d(audio.samples.numpy()))
        if self.end is not None or self.start:
            stop = None if self.end is None else round(self.end * audio.rate)
            signal = signal[round(self.start * audio.rate) : stop]
        if len(signal) < SHORTEST * audio.rate:
            raise AudioError(f"{self.place}: shorter than {SHORTEST:g} s; leave it out")
        if not np.any(signal):
            raise AudioError(f"{self.place}: silent; leave it out")
        return signal, audio.rate


@lru_cache(maxsize=100_000)
def _sha256_of_output(command: str) -> str:
    return hashlib.sha256(output_of(command)).hexdigest()


def _sha256(path: Path) -> str:
    """SHA-256 of a file; again where it has changed, or another one has its relative path."""
    try:
        stat = path.stat()
        return _sha256_of_file(path.absolute(), stat.st_ino, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise AudioError(f"{path}: {error.strerror or error}; check the path") from error


@lru_cache(maxsize=100_000)
def _sha256_of_file(path: Path, inode: int, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
