"""Detects truncated files by the structure of their container.

Decoders conceal what is missing; a recording must not become shorter unnoticed.
"""

from __future__ import annotations

import struct
from typing import BinaryIO

from voicenym.audio.container_files.ogg_pages import damaged_at
from voicenym.audio.container_files.stated_size import stated_size
from voicenym.errors import AudioError

_END_OF_STREAM = 4
"""Flag of the last page of every stream in an Ogg."""


def truncated(name: str) -> AudioError:
    """Error for a file that ends too early."""
    return AudioError(
        f"{name}: is truncated, its end is missing; get a whole copy of the recording"
    )


def check(file: BinaryIO, name: str, lenient: bool = False) -> str | None:
    """Checks whether the file ends before its container does.

    Args:
        file: a recording.
        name: of it.
        lenient: accept an Ogg that lacks only its end mark, as from some live recorders.

    Returns:
        A warning, if such an Ogg is accepted.

    Raises:
        AudioError: the end is missing, or a page of an Ogg.
    """
    warning = None
    file.seek(0)
    head = file.read(16)
    size = file.seek(0, 2)
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free"):
        broken = _boxes_broken(file, size)
    elif head[:4] == b"\x1a\x45\xdf\xa3":
        broken = _matroska_broken(file, size)
    elif head[:4] == b"OggS":
        page = _last_page(file, size)
        broken = page is None
        if page is not None and not page[5] & _END_OF_STREAM:
            message = (
                f"{name}: has no mark of its end, as if it were cut or a live recording stopped"
            )
            if not lenient:
                raise AudioError(
                    f"{message}: it may be truncated; get a whole copy of the recording, or add "
                    f"--lenient to take what is there"
                )
            warning = f"{message}; what is there was taken"
        if not broken and (place := damaged_at(file)) is not None:
            raise AudioError(
                f"{name}: is damaged: a part is missing or altered at byte {place}, which would be "
                "left out of the sound; get a whole copy of the recording"
            )
    elif (stated := stated_size(file, head, size)) is not None:
        broken = stated > size
    else:
        broken = _mp3_broken(file, size)
    file.seek(0)
    if broken:
        raise truncated(name)
    return warning


def _boxes_broken(file: BinaryIO, size: int) -> bool:
    """Checks the boxes of ISO/IEC 14496-12: all must fit, and ``moov`` must be among them."""
    position, kinds = 0, set()
    while position + 8 <= size:
        file.seek(position)
        length, kind = struct.unpack(">I4s", file.read(8))
        if length == 1:
            raw = file.read(8)
            if len(raw) < 8:
                return True
            length = struct.unpack(">Q", raw)[0]
        elif length == 0:
            length = size - position
        kinds.add(kind)
        if length < 8 or position + length > size:
            # Some writers leave a few stray bytes after the last box.
            return not (length < 8 and b"moov" in kinds)
        position += length
    return b"moov" not in kinds


def _matroska_broken(file: BinaryIO, size: int) -> bool:
    """Checks the stated length of the Segment of RFC 9559, which live recordings lack."""
    file.seek(4)
    header = _vint(file)
    file.seek(file.tell() + (header or 0))
    if file.read(4) != b"\x18\x53\x80\x67":
        return file.tell() >= size
    length = _vint(file)
    return length is not None and file.tell() + length > size


def _vint(file: BinaryIO) -> int | None:
    """A variable-size integer; ``None`` if all its bits are set (unknown)."""
    first = file.read(1)
    if not first or not first[0]:
        return 0
    extra = 8 - first[0].bit_length()
    value = (first[0] & (0x7F >> extra)) << 8 * extra | int.from_bytes(file.read(extra), "big")
    return None if value == (1 << 7 * (extra + 1)) - 1 else value


def _last_page(file: BinaryIO, size: int) -> bytes | None:
    """Last page of RFC 3533 if it is complete; a page has at most 65307 bytes."""
    start = max(0, size - 2 * 65_307)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"OggS\x00")
    if at < 0 or at + 27 > len(tail):
        return None
    count = tail[at + 26]
    table = tail[at + 27 : at + 27 + count]
    end = at + 27 + count + sum(table)
    return None if len(table) < count or end > len(tail) else tail[at:end]


def _first_frame(file: BinaryIO) -> bytes:
    """Beginning of an mp3, after its ID3."""
    file.seek(0)
    head = file.read(10)
    start = 0
    if head[:3] == b"ID3" and len(head) == 10:
        start = 10 + sum((byte & 0x7F) << 7 * (3 - i) for i, byte in enumerate(head[6:10]))
    file.seek(start)
    frame = file.read(2048)
    file.seek(0)
    return frame


def _mp3_broken(file: BinaryIO, size: int) -> bool:
    """Whether a Xing/Info header that counts bytes, and not frames, counts more than there are."""
    frame = _first_frame(file)
    at = max(frame.find(b"Xing"), frame.find(b"Info"))
    if frame[:1] != b"\xff" or not 4 <= at <= 40 or at + 12 > len(frame):
        return False
    flags, count = struct.unpack(">II", frame[at + 4 : at + 12])
    return bool(flags & 3 == 2 and count > size)


def xing(file: BinaryIO, rate: int) -> tuple[int | None, int | None]:
    """Lengths in an mp3's Xing, Info or VBRI header: MPEG frames, and samples (LAME's tag)."""
    frame = _first_frame(file)
    if frame[36:40] == b"VBRI" and len(frame) >= 54:  # Fraunhofer's encoder
        return struct.unpack(">I", frame[50:54])[0], None
    at = max(frame.find(b"Xing"), frame.find(b"Info"))
    if at < 0 or at + 12 > len(frame):
        return None, None
    flags, frames = struct.unpack(">II", frame[at + 4 : at + 12])
    if not flags & 1:
        return None, None
    lame = at + 8 + 4 * bool(flags & 1) + 4 * bool(flags & 2)
    lame += 100 * bool(flags & 4) + 4 * bool(flags & 8)
    gap = int.from_bytes(frame[lame + 21 : lame + 24], "big")
    if frame[lame : lame + 4] not in (b"LAME", b"Lavf", b"Lavc") or not gap:
        return frames, None
    samples = frames * (1152 if rate >= 32_000 else 576) - (gap >> 12) - (gap & 0xFFF)
    return frames, max(samples, 1)
