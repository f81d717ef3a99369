"""A segment of a recording as a file in memory; no original speech is written to disk."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from voicenym.audio import open_reader
from voicenym.audio.container_files.containers import wav_codec
from voicenym.audio.sinks.wav_sink import WavSink
from voicenym.errors import CorpusError, counted

MOST_OVERSHOOT = 0.5
"""Seconds by which an utterance may end after its recording, as in Kaldi's extract-segments."""
BLOCK_SECONDS = 10


@dataclass(frozen=True)
class Passage:
    """An utterance within a recording's file, cut out in memory when it is read.

    Args:
        path: of the recording.
        name: of the utterance.
        start, end: seconds within the recording; to its end where ``end`` is None.
        channels: indices of the channels, from 0; None for all.
    """

    path: Path
    name: str
    start: float
    end: float | None
    channels: tuple[int, ...] | None = None

    @property
    def stretch(self) -> tuple[float, float | None]:
        """Start and end, in seconds."""
        return self.start, self.end

    @property
    def part(self) -> str:
        """Its times and channels."""
        return f"{self.start} {self.end} {self.channels}"

    def open(self, lenient: bool = False) -> BinaryIO:
        """The utterance as a WAV file in memory.

        Raises:
            AudioError: the recording cannot be read.
            CorpusError: it ends before the utterance does, or has no such channel.
        """
        return cut_out(
            self.path, self.name, self.start, self.end, channels=self.channels, lenient=lenient
        )

    def __str__(self) -> str:
        return f"{self.path} ({self.name})"


def cut_out(
    source: Path | BinaryIO,
    name: str,
    start: float,
    end: float | None,
    *,
    channels: Sequence[int] | None = None,
    lenient: bool = False,
    label: str | None = None,
    where: str = "the manifest",
) -> BinaryIO:
    """Samples from ``start`` to ``end`` as a WAV file in memory, with the recording's bits.

    Args:
        source: the recording.
        name: of the utterance, for messages.
        start, end: seconds; an ``end`` of None is the recording's end.
        channels: indices of the channels, from 0; None for all.
        lenient: as in ``voicenym.audio.open_reader``.
        label: of the recording in messages; default: its path.
        where: table that states the times, for messages.

    Raises:
        AudioError: the recording cannot be read.
        CorpusError: it ends before the utterance does, or has no such channel.
    """
    # open_writer would write a temporary file first for a file object.
    target = io.BytesIO()
    with open_reader(source, lenient=lenient) as reader:
        if channels is not None and not all(0 <= c < reader.channels for c in channels):
            raise CorpusError(
                f"{label or source}: has {counted(reader.channels, 'channel')}, but {name} is in "
                "channel "
                f"{max(channels)}, counted from 0; mend {where}"
            )
        first = round(start * reader.rate)
        last = None if end is None else round(end * reader.rate)
        count = reader.channels if channels is None else len(channels)
        wav = WavSink(target, wav_codec(reader.format), reader.rate, count, rf64=False)
        position = first
        for block in _between(reader.blocks(reader.rate * BLOCK_SECONDS), first, last):
            wav.write(block if channels is None else block[list(channels)])
            position += block.shape[1]
        wav.finish()
        if last is not None and last - position > MOST_OVERSHOOT * reader.rate:
            raise CorpusError(
                f"{label or source}: ends before {name} does, which {where} has end at {end} s; "
                f"get a whole copy of the recording, or mend {where}"
            )
    target.seek(0)
    return target


def _between(blocks: Iterator[np.ndarray], first: int, last: int | None) -> Iterator[np.ndarray]:
    """Samples from ``first`` up to ``last`` of blocks ``[channel, time]``."""
    position = 0
    for block in blocks:
        length = block.shape[1]
        low = max(0, first - position)
        high = length if last is None else min(length, last - position)
        if low < high:
            yield block[:, low:high]
        position += length
        if last is not None and position >= last:
            break
