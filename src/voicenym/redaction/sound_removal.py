"""Replaces intervals of a recording by silence, a tone or spoken words, block by block.

Samples outside of the intervals are unchanged, bit for bit. Inside, no original sample is left: a
border fades into the mirror image of the kept sound beside it
(:mod:`voicenym.corpus.people.border_fades`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voicenym.audio import Format, Reader
from voicenym.corpus.people.border_fades import FADE_SECONDS, Borders, Piece
from voicenym.errors import AudioError
from voicenym.redaction.word_placing import Interval, union

if TYPE_CHECKING:
    from voicenym.redaction.replacements.spoken_replacements import SpokenWords

SILENCE, BEEP, WORD = "silence", "beep", "word"
WAYS = (SILENCE, BEEP, WORD)
TONE = 1000.0
"""Frequency of the tone in Hz."""
AMPLITUDE = 0.1

Block = npt.NDArray[np.float32]


class RemovedSound:
    """The sound of a reader with intervals replaced; a source of :class:`voicenym.audio.Reader`.

    Args:
        reader: open, of which no block was read; it is closed with this.
        intervals: in seconds.
        frames: samples per channel of the recording.
        way: ``silence`` or ``beep``, also of intervals in which no word is said.
        words: that are said in intervals; None for none.
    """

    def __init__(
        self,
        reader: Reader,
        intervals: Sequence[Interval],
        frames: int,
        way: str = SILENCE,
        words: SpokenWords | None = None,
    ) -> None:
        self._reader, self._frames, self._way, self._words = reader, frames, way, words
        self.rate, self.channels = reader.rate, reader.channels
        self.frames: int | None = frames
        self.format: Format = reader.format
        self.has_picture = reader.has_picture
        self._pieces = pieces(intervals, reader.rate, frames)

    def blocks(self, size: int) -> Iterator[Block]:
        """Blocks ``[channel, time]``, all but the last of ``size`` samples."""
        fade = max(1, round(FADE_SECONDS * self.rate))
        borders = Borders(self._pieces, self._frames, fade, self._render)
        kept: list[Block] = []
        have = count = 0
        for block in self._reader.blocks(size):
            count += block.shape[1]
            if count > self._frames:
                break
            kept.append(borders.push(block, last=count == self._frames))
            have += kept[-1].shape[1]
            while have >= size:
                whole = np.concatenate(kept, 1)
                yield whole[:, :size]
                kept, have = [whole[:, size:]], have - size
        if count != self._frames:
            raise AudioError(
                f"{self._reader.name}: has changed while it was read; run again when nobody "
                "writes it"
            )
        if have:
            yield np.concatenate(kept, 1)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of the recording."""
        return self._reader.warnings

    def close(self) -> None:
        self._reader.close()

    def _render(self, index: int, start: int, end: int) -> Block:
        """Sound of a piece, up to a fade after its end."""
        piece = self._pieces[index]
        hole = piece.start, piece.end
        if self._words is not None and self._words.within(*(x / self.rate for x in hole)):
            return self._words.sound(hole, start, end, self.rate, self.channels)
        if self._way == SILENCE:
            return np.zeros((self.channels, end - start), np.float32)
        turns = np.arange(start, end, dtype=np.float64) * (TONE / self.rate)
        tone = (AMPLITUDE * np.sin(2.0 * math.pi * turns)).astype(np.float32)
        return np.repeat(tone[None], self.channels, 0)


def removed(
    reader: Reader,
    intervals: Sequence[Interval],
    frames: int,
    way: str,
    words: SpokenWords | None = None,
) -> Reader:
    """A reader of the recording with intervals replaced, as by :class:`RemovedSound`."""
    source: Any = RemovedSound(reader, intervals, frames, way, words)
    return Reader(source, None, reader.name)


def pieces(intervals: Sequence[Interval], rate: int, frames: int) -> list[Piece]:
    """Pieces in samples that cover the intervals, within the recording.

    Example:
        >>> (piece,) = pieces([(0.5, 1.0), (0.9, 1.2)], 1000, 1100)
        >>> piece.start, piece.end
        (500, 1100)
    """
    found = []
    for start, end in union(intervals):
        first, last = max(0, math.floor(start * rate)), min(frames, math.ceil(end * rate))
        if last > first:
            found.append((first, last))
    done: list[Piece] = []
    for first, last in found:
        if done and first <= done[-1].end:
            done[-1] = Piece(done[-1].start, max(last, done[-1].end), None)
        else:
            done.append(Piece(first, last, None))
    return done
