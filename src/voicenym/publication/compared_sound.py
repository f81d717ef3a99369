"""Sound of a file and of its original, brought to one rate.

Sounds are read block by block, anew for each use, so that a recording of any length is compared
in the memory of a few blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from voicenym.audio import open_reader
from voicenym.corpus.recording import Recording
from voicenym.dsp.downmix import downmix
from voicenym.errors import AudioError

BLOCK = 1 << 16
"""Samples per channel that are read at a time."""


@dataclass(frozen=True)
class Sound:
    """A recording with the measures of its whole sound.

    Args:
        recording: a file, or a part of one.
        rate: of the blocks, in Hz.
        channels: of the blocks.
        samples: per channel.
        energy: sum of squares of all samples.
    """

    recording: Recording
    rate: int
    channels: int
    samples: int = 0
    energy: float = 0.0

    @property
    def seconds(self) -> float:
        return self.samples / self.rate

    @property
    def level(self) -> float:
        """Root mean square in dB below full scale; -200 for digital silence."""
        count = self.samples * self.channels
        return 10 * math.log10(max(self.energy / max(count, 1), 1e-20))

    def blocks(self) -> Iterator[np.ndarray]:
        """Blocks ``[channel, time]``, read from the file at the rate and the channels of the sound.

        Raises:
            AudioError: the file cannot be read to its end.
        """
        with open_reader(self.recording.path) as reader:
            parts = _part(reader, self.recording)
            changer: Any = None
            if reader.rate != self.rate:
                import soxr

                changer = soxr.ResampleStream(reader.rate, self.rate, self.channels, "float32")
            for block in parts:
                if len(block) != self.channels:
                    block = np.repeat(downmix(block)[None], self.channels, 0)
                if changer is not None:
                    block = changer.resample_chunk(np.ascontiguousarray(block.T)).T
                if block.shape[1]:
                    yield block
            if changer is not None:
                rest = changer.resample_chunk(np.zeros((0, self.channels), np.float32), last=True)
                yield rest.T


def sound(recording: Recording, like: Sound | None = None) -> Sound:
    """The sound of a recording, read to its end.

    Args:
        recording: a file, or a part of one.
        like: whose rate and channels it gets; mono on all channels if their numbers differ. None
            for its own.

    Raises:
        AudioError: it cannot be read, or is the output of a command.
    """
    if recording.command:
        raise AudioError(
            f"{recording.name}: its wav.scp names a command; give a corpus of files, as voicenym "
            "anonymize writes it"
        )
    if like is None:
        with open_reader(recording.path) as reader:
            like = Sound(recording, reader.rate, reader.channels)
    found = Sound(recording, like.rate, like.channels)
    samples, energy = 0, 0.0
    for block in found.blocks():
        samples += block.shape[1]
        energy += float(np.square(block, dtype=np.float64).sum())
    if not samples:
        raise AudioError(f"{recording.path}: {recording.name} lies outside of it; mend the table")
    return Sound(recording, found.rate, found.channels, samples, energy)


def _part(reader: Any, recording: Recording) -> Iterator[np.ndarray]:
    """Blocks of the part of a file that a recording is."""
    start = round(recording.start * reader.rate)
    stop = math.inf if recording.end is None else round(recording.end * reader.rate)
    at = 0
    for block in reader.blocks(BLOCK):
        samples = np.asarray(block)
        size = samples.shape[1]
        first, last = max(0, start - at), min(size, stop - at)
        if first < last:
            yield samples[:, first : int(last)]
        at += size
        if at >= stop:
            for _ in reader.blocks(BLOCK):  # to the end, which finds what is damaged
                pass
            return
