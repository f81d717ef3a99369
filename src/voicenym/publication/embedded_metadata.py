"""Metadata in files of sound: tags, chunks, pictures and chapters, which are not published."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

import av

from voicenym.audio.container_files import container_detection
from voicenym.audio.sources import libav
from voicenym.errors import counted
from voicenym.evaluation.recording_audit import tags

SOUND_CHUNKS = frozenset((b"fmt ", b"data", b"fact", b"PEAK", b"ds64", b"JUNK"))
"""Chunks of RIFF WAVE that describe the sound; PEAK holds a time stamp, which is checked."""
FLAC_BLOCKS = {2: "application data", 5: "a cue sheet", 6: "a picture"}
"""Metadata blocks of FLAC (RFC 9639) that a stream does not need, apart from comments."""


def embedded(path: Path) -> tuple[str, ...]:
    """What a file holds beside its sound, in words; empty if nothing.

    Args:
        path: of a recording that can be read.
    """
    found: list[str] = []
    with path.open("rb") as file:
        head = file.read(12)
        if head[:4] in (b"RIFF", b"RF64") and head[8:] == b"WAVE":
            found += _wave_chunks(file)
        elif head[:4] == b"fLaC":
            found += _flac_blocks(file)
    try:
        found += [*tags(path), *_tracks(path)]
    except (av.error.FFmpegError, OSError, ValueError):
        found.append("metadata that cannot be read")
    return tuple(found)


def _tracks(path: Path) -> list[str]:
    """Tracks and chapters beside the sound."""
    with path.open("rb") as file:
        demuxer = container_detection.demuxer(file)
        if demuxer is None:
            return []
        with libav.open_input(file, demuxer) as container:
            films, chapters = len(container.streams.video), len(container.chapters())
            others = len(container.streams) - len(container.streams.audio) - films
    found = ["a picture or a film"] if films else []
    found += (
        [counted(others, "track that is no sound", "tracks that are no sound")] if others else []
    )
    return found + ([counted(chapters, "chapter")] if chapters else [])


def _wave_chunks(file: BinaryIO) -> list[str]:
    found, size = [], file.seek(0, 2)
    position = 12
    while position + 8 <= size:
        file.seek(position)
        name, length = struct.unpack("<4sI", file.read(8))
        if name == b"data" and length == 0xFFFFFFFF:  # RF64: the length stands in ds64
            break
        if name not in SOUND_CHUNKS:
            found.append(f"a chunk {name.decode('latin-1')!r} of {length} bytes")
        elif name == b"PEAK" and length >= 8 and struct.unpack("<II", file.read(8))[1]:
            found.append("a chunk 'PEAK' with the time of writing")
        elif name == b"JUNK" and file.read(length).strip(b"\0"):
            found.append(f"a chunk 'JUNK' of {length} bytes that is not empty")
        position += 8 + length + length % 2
    if size > position:
        found.append(f"{size - position} bytes after its last chunk")
    return found


def _flac_blocks(file: BinaryIO) -> list[str]:
    found = []
    file.seek(4)
    while len(head := file.read(4)) == 4:
        kind, length = head[0] & 0x7F, int.from_bytes(head[1:], "big")
        if kind in FLAC_BLOCKS:
            found.append(f"{FLAC_BLOCKS[kind]} of {length} bytes")
        if head[0] & 0x80:
            break
        file.seek(length, 1)
    return found
