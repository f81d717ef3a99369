"""Borders between kept and hidden sound, with cross-fades that lie inside the hidden part.

At a border, hidden sound fades in while the mirror image of the kept sound beside it fades out, so
that the signal is continuous although no kept sample changes and no original sample of the hidden
part is used. Between two hidden parts, the anonymized sounds fade into each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Block = npt.NDArray[np.float32]
FADE_SECONDS = 0.01
Render = Callable[[int, int, int], Block]
"""Anonymized sound of a piece by its index: ``[channel, time]`` from a sample to another, counted
from the piece's start; up to a fade after its end."""


@dataclass(frozen=True)
class Piece:
    """A part of a recording whose samples are replaced.

    Args:
        start, end: in samples.
        voice: whose pseudonym hides it; None where it is silenced.
    """

    start: int
    end: int
    voice: str | None


class Borders:
    """Replaces the pieces of a recording that arrives in blocks.

    Args:
        pieces: in order, without overlap.
        frames: samples of the recording.
        fade: samples of a cross-fade.
        render: sound of the pieces.
    """

    def __init__(self, pieces: Sequence[Piece], frames: int, fade: int, render: Render) -> None:
        self._pieces, self._frames, self._fade, self._render = pieces, frames, fade, render
        self._first = 0  # of the pieces that do not lie before the current block
        self._signal: Block | None = None
        self._begin = 0
        self._done = 0

    def push(self, block: Block, last: bool = False) -> Block:
        """Gives a block of the original, gets what is finished: twice a fade stays back.

        Args:
            block: ``[channel, time]``.
            last: whether the recording ends with it.
        """
        self._signal = block if self._signal is None else np.concatenate([self._signal, block], 1)
        end = self._begin + self._signal.shape[1]
        stop = end if last else max(self._done, end - 2 * self._fade)
        out = self._filled(self._done, stop)
        self._done = stop
        keep = max(self._begin, stop - 2 * self._fade)
        self._signal = self._signal[:, keep - self._begin :].copy()
        self._begin = keep
        return out

    def _original(self, start: int, end: int) -> Block:
        assert self._signal is not None
        return self._signal[:, start - self._begin : end - self._begin]

    def _filled(self, start: int, end: int) -> Block:
        out = self._original(start, end).copy()
        while self._first < len(self._pieces) and self._pieces[self._first].end <= start:
            self._first += 1
        for index in range(self._first, len(self._pieces)):
            if self._pieces[index].start >= end:
                break
            low, high = max(start, self._pieces[index].start), min(end, self._pieces[index].end)
            out[:, low - start : high - start] = self._piece(index, low, high)
        return out

    def _piece(self, index: int, low: int, high: int) -> Block:
        """Samples ``[low, high)`` of a piece, with its borders."""
        piece = self._pieces[index]
        place = np.arange(low, high)
        sound = self._render(index, low - piece.start, high - piece.start).astype(np.float32)
        fade = max(1, min(self._fade, (piece.end - piece.start) // 2))
        before = self._pieces[index - 1] if index else None
        after = self._pieces[index + 1] if index + 1 < len(self._pieces) else None
        into = (place - piece.start + 0.5) / fade
        if piece.start > 0 and low < piece.start + fade:
            other = np.zeros_like(sound)
            count = min(piece.start + fade, high) - low
            if before is not None and before.end == piece.start:
                length = before.end - before.start
                shift = length + low - piece.start
                other[:, :count] = self._render(index - 1, shift, shift + count)
            else:
                left = 0 if before is None else before.end
                source = 2 * piece.start - 1 - place[:count]
                there = source >= left
                other[:, :count][:, there] = self._at(source[there])
            sound = _mixed(sound, other, into)
        kept_after = piece.end < self._frames and (after is None or after.start != piece.end)
        if kept_after and high > piece.end - fade:
            other = np.zeros_like(sound)
            first = max(piece.end - fade, low) - low
            right = self._frames if after is None else after.start
            source = 2 * piece.end - 1 - place[first:]
            there = source < right
            other[:, first:][:, there] = self._at(source[there])
            sound = _mixed(sound, other, (piece.end - place - 0.5) / fade)
        return sound

    def _at(self, samples: npt.NDArray[np.int64]) -> Block:
        assert self._signal is not None
        return self._signal[:, samples - self._begin]


def _mixed(sound: Block, other: Block, place: npt.NDArray[np.floating]) -> Block:
    """``sound`` with a weight from 0 to 1 by ``place``, and ``other`` with the rest."""
    weight = np.square(np.sin(0.5 * np.pi * place.clip(0.0, 1.0))).astype(np.float32)
    return sound * weight + other * (1.0 - weight)
