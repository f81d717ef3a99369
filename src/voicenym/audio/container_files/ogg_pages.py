"""Pages of an Ogg, their checksums, and what is damaged or missing among them (RFC 3533).

Decoders drop a page whose checksum does not fit, a second of sound or more, and go on.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

_HEADER = 27
"""Bytes of a page before its table of segments."""
_FLAGS, _GRANULE, SERIAL, _NUMBER, CHECKSUM, _SEGMENTS = 5, 6, 14, 18, 22, 26
"""Offsets of the fields in a page."""
_FIRST = 2
"""Flag of the first page of a stream."""
_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_SEARCHED = 1 << 20


@dataclass(frozen=True)
class Page:
    """A page: where it begins in the file, and its bytes."""

    place: int
    data: bytes

    @property
    def serial(self) -> bytes:
        """Number of its stream."""
        return self.data[SERIAL:_NUMBER]

    @property
    def is_whole(self) -> bool:
        """Whether its bytes are those that were written."""
        return self.data[CHECKSUM:_SEGMENTS] == checksum(self.data).to_bytes(4, "little")


def checksum(page: bytes) -> int:
    """Checksum of a page, whatever stands in its field.

    It is zlib's CRC with the bits of bytes in the other order, without its inversions.
    """
    data = (page[:CHECKSUM] + bytes(4) + page[_SEGMENTS:]).translate(_REVERSED)
    crc = zlib.crc32(data, 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int.from_bytes(crc.to_bytes(4, "little").translate(_REVERSED), "big")


def pages(file: BinaryIO) -> Iterator[Page]:
    """Pages from the beginning of a file up to where none begins or one is cut."""
    place = 0
    while True:
        file.seek(place)
        head = file.read(_HEADER)
        if len(head) < _HEADER or head[:4] != b"OggS":
            return
        table = file.read(head[_SEGMENTS])
        body = file.read(sum(table))
        if len(table) < head[_SEGMENTS] or len(body) < sum(table):
            return
        page = Page(place, head + table + body)
        yield page
        place += len(page.data)


def links(file: BinaryIO) -> list[tuple[int, int]]:
    """First byte, and first byte after, of each link of a chain (RFC 3533, section 4).

    A link begins with the first pages of its streams; most files are one link.
    """
    starts: list[int] = []
    opening, end = False, 0
    for page in pages(file):
        begins = bool(page.data[_FLAGS] & _FIRST)
        if begins and not opening:
            starts.append(page.place)
        opening, end = begins, page.place + len(page.data)
    return list(zip(starts, [*starts[1:], end], strict=True))


def damaged_at(file: BinaryIO) -> int | None:
    """Byte of an Ogg at which a page is damaged or missing; None if it has all that was written.

    Bytes after the last page, as of tags, are no damage. Page numbers may jump after the headers of
    a stream, whose granule position is 0: recorders of a live stream join it later.
    """
    before: dict[bytes, tuple[int, int]] = {}
    end = 0
    for page in pages(file):
        if not page.is_whole:
            return page.place
        granule, number = struct.unpack_from("<q4xI", page.data, _GRANULE)
        last = None if page.data[_FLAGS] & _FIRST else before.get(page.serial)
        if last is not None and last[0] and number != (last[1] + 1) % (1 << 32):
            return page.place
        before[page.serial] = granule, number
        end = page.place + len(page.data)
    file.seek(end)
    tail = b""
    while data := file.read(_SEARCHED):
        if b"OggS\0" in tail + data:
            return end
        tail = data[-4:]
    return None
