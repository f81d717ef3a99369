"""Samples of a chained Ogg Vorbis: recordings one after another in one file, as of net radio.

libsndfile reads the first link and knows nothing of the others. Each is decoded on its own here,
so that its stated end counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from voicenym.audio.pcm import Block
from voicenym.audio.sources.sndfile_source import SndfileSource
from voicenym.errors import AudioError


class _Part:
    """Bytes from ``start`` up to ``end`` of a file, as a file."""

    def __init__(self, file: BinaryIO, start: int, end: int) -> None:
        self._file, self._start, self._size = file, start, end - start
        self._place = 0

    def read(self, count: int = -1) -> bytes:
        left = max(0, self._size - self._place)
        self._file.seek(self._start + self._place)
        data = self._file.read(left if count < 0 else min(count, left))
        self._place += len(data)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        self._place = max(0, (0, self._place, self._size)[whence] + offset)
        return self._place

    def tell(self) -> int:
        return self._place


class ChainedVorbis:
    """Source of all links in turn.

    Args:
        file: the recording.
        name: of it.
        links: first byte, and first byte after, of each link.

    Raises:
        soundfile.LibsndfileError, RuntimeError: libsndfile does not support a link.
        AudioError: links differ in rate or channels; from :meth:`blocks`: damage.
    """

    has_picture = False
    warnings: tuple[str, ...] = ()

    def __init__(self, file: BinaryIO, name: str, links: Sequence[tuple[int, int]]) -> None:
        self._file, self._name, self._links = file, name, links
        self._open: SndfileSource | None = None
        forms, counts = set(), []
        for index in range(len(links)):  # one decoder at a time: a hostile chain has many links
            source = self._link(index)
            forms.add((source.rate, source.channels))
            counts.append(source.frames or 0)
            if not index:
                self.format = source.format
            source.close()
        if len(forms) > 1:
            raise AudioError(
                f"{name}: changes its sample rate or channels midway; convert it to WAV first"
            )
        self.rate, self.channels = forms.pop()
        self.frames: int | None = sum(counts)

    def _link(self, index: int) -> SndfileSource:
        start, end = self._links[index]
        part: BinaryIO = _Part(self._file, start, end)  # type: ignore[assignment]
        return SndfileSource(part, self._name, end - start)

    def blocks(self, size: int) -> Iterator[Block]:
        rest = np.zeros((self.channels, 0), np.float32)
        for index in range(len(self._links)):
            self._open = self._link(index)
            for block in self._open.blocks(size):
                rest = np.concatenate([rest, block], axis=1)
                if rest.shape[1] >= size:
                    yield rest[:, :size]
                    rest = rest[:, size:]
            self.close()
        if rest.shape[1]:
            yield rest

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None
