"""Frames of a FLAC behind the end that its header states (RFC 9639, 9.1).

Decoders stop at the stated end; a recorder that was interrupted leaves an early one.
"""

from __future__ import annotations

from typing import BinaryIO

_LONGEST_HEADER = 16
_LOOKBACK = 1 << 20
"""Bytes that a decoder may have read ahead."""
_MOST_SEARCHED = 1 << 22
"""Bytes that hold the longest frame and those that were read ahead."""
_MOST_BLOCKS = 10_000
"""Blocks of metadata that are passed before the first frame."""


def seconds_after(file: BinaryIO, count: int, rate: int) -> float:
    """Seconds of the frames right behind the stated end, up to a second or so; 0 without any.

    Args:
        file: its read position is where a decoder stopped; it is moved.
        count: samples that the header states.
        rate: in Hz.
    """
    start = max(0, file.tell() - _LOOKBACK)
    file.seek(8)
    least, most = (int.from_bytes(file.read(2), "big") for _ in range(2))
    begin = _first_frame(file)
    rest = file.seek(0, 2) - start
    file.seek(start)
    data = file.read(min(rest, _MOST_SEARCHED))  # a read takes the memory that it asks for
    at, end = 0, count
    ends: set[int] = set()
    while (at := data.find(begin[:2], at)) >= 0:
        found = _frame(data[at : at + _LONGEST_HEADER])
        if found is not None and _alike(data[at : at + 4], begin):
            number, size = found
            first = number * most if least == most else number
            # coded sound may look like a header, but not like that of the frame that comes next
            if first in ends or not ends:
                ends.discard(first)
                ends.add(first + size)
                if count < first + size <= count + rate + size:
                    end = max(end, first + size)
        at += 1
    return (end - count) / rate


def _first_frame(file: BinaryIO) -> bytes:
    """Beginning of the first frame, after the blocks of metadata."""
    place = 4
    for _ in range(_MOST_BLOCKS):
        file.seek(place)
        head = file.read(4).ljust(4, b"\x80")
        place += 4 + int.from_bytes(head[1:], "big")
        if head[0] & 0x80:
            break
    file.seek(place)
    return file.read(4).ljust(4, b"\0")


def _alike(head: bytes, first: bytes) -> bool:
    """Whether two frames have the same rate, bits and channels, of which stereo has four kinds."""
    same = head[2] & 15 == first[2] & 15 and head[3] & 15 == first[3] & 15
    kinds = {head[3] >> 4, first[3] >> 4}
    return same and (len(kinds) == 1 or kinds <= {1, 8, 9, 10})


def _frame(head: bytes) -> tuple[int, int] | None:
    """Coded number and samples of a frame; ``None`` if this is no header of a frame."""
    if len(head) < 6 or head[3] & 1 or head[2] >> 4 == 0 or head[2] & 15 == 15:
        return None
    ones = 8 - (head[4] ^ 0xFF).bit_length()  # bytes of the number, as in UTF-8
    number, at = head[4] & (0x7F >> ones), 4 + max(ones, 1)
    for byte in head[5:at]:
        number = number << 6 | byte & 0x3F
    code = head[2] >> 4
    if code in (6, 7):
        size = int.from_bytes(head[at : at + code - 5], "big") + 1
        at += code - 5
    else:
        size = 192 if code == 1 else 576 << code - 2 if code < 6 else 256 << code - 8
    at += {12: 1, 13: 2, 14: 2}.get(head[2] & 15, 0)
    return (number, size) if at < len(head) and _crc(head[:at]) == head[at] else None


def _crc(data: bytes) -> int:
    """Checksum with the polynomial x^8 + x^2 + x + 1."""
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value << 1 ^ 0x107 * (value >> 7)
    return value
