"""Edit lists of sound in mp4, mov and 3gp files (ISO/IEC 14496-12, 8.6.6) that begins late.

ffmpeg's muxer writes where a track begins, or how much of its beginning is hidden, never both:
sound that begins later than the picture would show its encoder's priming as sound. Its demuxer
takes the length of such sound from the coded track, padding included.
"""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import BinaryIO

from voicenym.audio.container_files.mp4_boxes import Box, boxes

_MOST_SHORT = 1 << 31
_PARENTS = (b"moov", b"trak", b"edts")


def place_sound(file: BinaryIO, start: int, priming: int, length: int) -> None:
    """Rewrites the edit list of the sound: a wait, then the sound without its priming.

    Args:
        file: a complete file with ``moov`` as its last box, open for reading and writing; the time
            scales of the film and of its sound are the sound's sample rate.
        start: samples of the wait.
        priming: samples that the encoder put before the sound.
        length: of the sound in samples.

    Raises:
        ValueError: the sound has no edit list.
    """
    found = _of_sound(file)
    if not found:
        raise ValueError("the sound has no edit list")
    old = found[-1]
    content = _edits(start, priming, length)
    file.seek(old.end)
    rest = file.read()
    file.seek(old.start)
    file.write(content + rest)
    growth = len(content) - (old.end - old.start)
    for box in found[:-1]:
        file.seek(box.start)
        file.write(struct.pack(">I", box.end - box.start + growth))


def late_length(file: BinaryIO) -> Fraction | None:
    """Seconds of the first sound track after its wait; ``None`` if it has other edits, or none.

    Moves the file's read position.
    """
    scale = 0
    for box in boxes(file, 0, file.seek(0, 2)):
        if box.kind == b"mvhd":
            file.seek(box.body)
            long = file.read(1) == b"\1"
            file.seek(box.body + (20 if long else 12))
            scale = struct.unpack(">I", file.read(4).ljust(4, b"\0"))[0]
            break
    found = _of_sound(file)
    if not scale or not found:
        return None
    file.seek(found[-1].body)
    head = file.read(8).ljust(8, b"\0")
    one = ">qqI" if head[0] == 1 else ">iiI"
    width = struct.calcsize(one)
    if head[4:] != b"\0\0\0\2":
        return None
    edits = file.read(2 * width).ljust(2 * width, b"\0")
    (_, wait, _), (length, start, _) = struct.iter_unpack(one, edits)
    return Fraction(length, scale) if wait == -1 and start >= 0 and length > 0 else None


def _of_sound(file: BinaryIO) -> list[Box]:
    """Edit list of the first sound track, after the boxes around it; empty if it has none."""
    path: list[Box] = []
    found: list[Box] = []
    for box in boxes(file, 0, file.seek(0, 2)):
        path = [b for b in path if b.end > box.start]
        if box.kind in _PARENTS:
            path.append(box)
        if box.kind == b"trak":
            found = []
        elif box.kind == b"elst":
            found = [*path, box]
        elif box.kind == b"hdlr":
            file.seek(box.body + 8)
            if file.read(4) == b"soun":
                return found
    return []


def _edits(start: int, priming: int, length: int) -> bytes:
    """The box: each edit states its duration, where in the coded sound it begins, and its speed."""
    version = int(max(start, priming, length) >= _MOST_SHORT)
    one = ">qqI" if version else ">iiI"
    edits = struct.pack(one, start, -1, 1 << 16) + struct.pack(one, length, priming, 1 << 16)
    return struct.pack(">I4sII", 16 + len(edits), b"elst", version << 24, 2) + edits
