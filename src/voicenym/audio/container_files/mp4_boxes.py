"""Boxes of mp4, mov and 3gp files (ISO/IEC 14496-12), as far as safety requires.

libav creates an index of all samples that a film declares, regardless of the size of its file: a
few hundred bytes may declare billions. :func:`promises_too_much` checks this before libav opens the
file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

MOST_SAMPLES = 1 << 24
"""Most coded frames of a track: more than three days of picture, and 190 hours of AAC."""
_MOST_BOXES = 200_000
_INSIDE = frozenset((b"moov", b"trak", b"mdia", b"minf", b"stbl", b"edts", b"moof", b"traf"))
_PICTURES = (
    b"avc1 avc2 avc3 avc4 hvc1 hev1 dvh1 dvhe av01 vp08 vp09 mp4v mp2v mpeg jpeg mjpa mjpb apch "
    b"apcn apcs apco ap4h ap4x s263 encv m1v  xvid dmb1 mx5p FFV1"
)
_ENTRIES = frozenset(_PICTURES.split())
_VISUAL = 86
"""Bytes of a picture's sample entry before the boxes in it."""


@dataclass(frozen=True)
class Box:
    """The position of a box.

    Args:
        kind: its four letters.
        start: of its header.
        body: where its content begins.
        end: where it ends.
    """

    kind: bytes
    start: int
    body: int
    end: int


class TooMany(ValueError):
    """More boxes than any recording has."""


def boxes(file: IO[bytes], start: int, end: int, seen: list[int] | None = None) -> Iterator[Box]:
    """All boxes from ``start`` to ``end``, also nested ones; moves the file's read position."""
    count = [0] if seen is None else seen
    while start + 8 <= end:
        file.seek(start)
        length, kind = struct.unpack(">I4s", file.read(8).ljust(8, b"\0"))
        body = start + 8
        if length == 1:
            length, body = struct.unpack(">Q", file.read(8).ljust(8, b"\0"))[0], start + 16
        elif length == 0:
            length = end - start
        if length < body - start:
            return
        count[0] += 1
        if count[0] > _MOST_BOXES:
            raise TooMany("more boxes than a recording has")
        box = Box(kind, start, body, min(start + length, end))
        yield box
        if kind in _INSIDE:
            yield from boxes(file, body, box.end, count)
        elif kind == b"stsd":
            yield from boxes(file, body + 8, box.end, count)
        elif kind in _ENTRIES:
            yield from boxes(file, start + _VISUAL, box.end, count)
        start += length


@dataclass
class _Track:
    """Sample counts of a track."""

    samples: int = 0
    size: int = 0
    chunks: int = 0
    runs: tuple[tuple[int, int], ...] = ()
    even: bool = False
    edits: int = 0

    def excessive(self, size: int) -> bool:
        # each sample has a byte at least, here or in its table
        if self.samples > size or self.size * self.samples > size:
            return True
        # of equal samples of equal length, libav's index holds one entry for many
        if self.samples > MOST_SAMPLES and not (self.size and self.even):
            return True
        if self.edits > 2 and self.samples * self.edits > MOST_SAMPLES:
            return True
        ends = [*(first for first, _ in self.runs[1:]), self.chunks + 1]
        spread = zip(self.runs, ends, strict=False)
        return sum(max(0, end - first) * many for (first, many), end in spread) > size


def promises_too_much(file: IO[bytes], size: int) -> bool:
    """Whether an index of the declared samples would need memory out of proportion."""
    tracks = [_Track()]
    pieces = 0
    try:
        for box in boxes(file, 0, size):
            if box.kind == b"trak":
                tracks.append(_Track())
            elif box.kind == b"trun":
                pieces += _numbers(file, box)[1]
            else:
                _note(tracks[-1], file, box)
    except TooMany:
        return True
    return pieces > min(size, MOST_SAMPLES) or any(track.excessive(size) for track in tracks)


def _numbers(file: IO[bytes], box: Box) -> tuple[int, ...]:
    """First 32-bit numbers of a box, including version and flags."""
    file.seek(box.body)
    count = min(16, max(0, box.end - box.body))
    return struct.unpack(">IIII", file.read(count).ljust(16, b"\0"))


def _note(track: _Track, file: IO[bytes], box: Box) -> None:
    if box.kind not in (b"elst", b"stsz", b"stz2", b"stts", b"stco", b"co64", b"stsc"):
        return
    _, one, two, three = _numbers(file, box)
    if box.kind == b"elst":
        track.edits = one
    elif box.kind == b"stsz":
        track.size, track.samples = one, two
    elif box.kind == b"stz2":
        track.samples = two
    elif box.kind == b"stts":
        track.even = one == 1 and three == 1
    elif box.kind in (b"stco", b"co64"):
        track.chunks = one
    else:
        file.seek(box.body + 8)
        rows = file.read(min(12 * one, max(0, box.end - box.body - 8)))
        track.runs = tuple(
            struct.unpack_from(">II", rows, at) for at in range(0, len(rows) - 11, 12)
        )


class WithoutProfiles:
    """A film whose colour profiles read as empty boxes, because their text names makers and
    devices.
    """

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._hidden = []
        for box in boxes(file, 0, size):
            file.seek(box.body)
            if box.kind == b"colr" and file.read(4) in (b"prof", b"rICC"):
                self._hidden.append(box.start + 4)
        file.seek(0)

    def read(self, count: int = -1) -> bytes:
        place = self._file.tell()
        data = self._file.read(count)
        for at in self._hidden:
            if place - 4 < at < place + len(data):
                patched = bytearray(data)
                for i, byte in enumerate(b"free"):
                    if 0 <= at + i - place < len(patched):
                        patched[at + i - place] = byte
                data = bytes(patched)
        return data

    def seek(self, *where: int) -> int:
        return self._file.seek(*where)

    def tell(self) -> int:
        return self._file.tell()


def without_profiles(file: IO[bytes]) -> Any:
    """The film, with hidden colour profiles if it has any."""
    size = file.seek(0, 2)
    return WithoutProfiles(file, size)
