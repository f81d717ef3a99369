"""File size that the header of a container states, if any."""

from __future__ import annotations

import struct
from typing import BinaryIO

_UNKNOWN = 0xFFFFFFFF
_ASF_PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
_SEARCHED = 1 << 16
_BROADCAST = 1


def stated_size(file: BinaryIO, head: bytes, size: int) -> int | None:
    """Least number of bytes of the file; ``None`` if its header does not state it.

    Args:
        file: a recording; its read position is moved.
        head: its first 16 bytes or more.
        size: its size in bytes.
    """
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        length = struct.unpack("<I", head[4:8])[0]
        return 8 + length if length not in (0, _UNKNOWN) else None
    if head[:4] == b"FORM":
        return int(8 + struct.unpack(">I", head[4:8])[0])
    if head[:4] == b"FRM8":
        return int(12 + struct.unpack(">Q", head[4:12])[0])
    if head[:4] == b".snd":
        start, length = struct.unpack(">II", head[4:12])
        return start + length if length != _UNKNOWN else None
    if head[:4] == b"DSD ":
        return _read(file, 12, "<Q")
    if head[:4] == b"riff":
        return _read(file, 16, "<Q")
    if head[:4] == b"caff":
        return _caf(file, size)
    if head[:4] == b"\x30\x26\xb2\x75":
        return _asf(file)
    return None


def _read(file: BinaryIO, at: int, kind: str) -> int:
    file.seek(at)
    width = struct.calcsize(kind)
    return int(struct.unpack(kind, file.read(width).ljust(width, b"\0"))[0])


def _caf(file: BinaryIO, size: int) -> int | None:
    """Size up to the end of the last chunk; the chunk of samples may have no stated length."""
    at = 8
    while at + 12 <= size:
        file.seek(at)
        _, length = struct.unpack(">4sq", file.read(12))
        if length < 0:
            return None
        at += 12 + length
    return at


def _asf(file: BinaryIO) -> int | None:
    file.seek(0)
    head = file.read(_SEARCHED)
    at = head.find(_ASF_PROPERTIES)
    if at < 0 or at + 92 > len(head):
        return None
    length, flags = (
        struct.unpack_from("<Q", head, at + 40)[0],
        struct.unpack_from("<I", head, at + 88)[0],
    )
    return None if flags & _BROADCAST else int(length)
