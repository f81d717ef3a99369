"""Reads RIFF WAVE and RF64 (EBU Tech 3306) with uncompressed samples."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from voicenym.audio import pcm
from voicenym.audio.container_files.truncation import truncated
from voicenym.audio.types import Format
from voicenym.errors import AudioError

_INT_CODECS = {8: "pcm_u8", 16: "pcm_s16le", 24: "pcm_s24le", 32: "pcm_s32le"}
_FLOAT_CODECS = {32: "pcm_f32le", 64: "pcm_f64le"}
_MOST_FMT = 1 << 16
"""Largest size of a fmt chunk in bytes; 26 of them are read."""
_FILES = (b"RIFF", b"RF64", b"BW64")
"""Kinds of chunks that are recordings of their own."""
_TAGS = (b"APETAGEX", b"ID3", b"TAG", b"LYRICSBEGIN")
"""Beginnings of tags that programs append to any kind of recording."""
_MOST_REST = 0.1
"""Seconds of bytes in no chunk that may follow the sound."""
_MOST_CHUNKS = 10_000
_SEARCHED = 1 << 20
_UNKNOWN = 0xFFFFFFFF
"""Size in the header of a file written to a pipe, or of an RF64."""


class WavSource:
    """Samples of a WAVE file; ``codec`` is ``None`` if they are compressed.

    Raises:
        AudioError: no samples, an invalid header, or less data than the header states.
    """

    warnings: tuple[str, ...] = ()

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self.codec: str | None = None
        self._bytes = 0
        self.has_picture = False
        size = file.seek(0, 2)
        file.seek(0)
        magic = file.read(12)[:4]
        long_size: int | None = None
        fmt = b""
        position = 12
        while True:
            file.seek(position)
            header = file.read(8)
            if len(header) < 8:
                raise truncated(name) if fmt or position > size else self._bad("has no sound")
            kind, length = struct.unpack("<4sI", header)
            if kind == b"ds64":
                long_size = struct.unpack("<QQQ", file.read(24).ljust(24, b"\0"))[1]
            elif kind == b"fmt ":
                fmt = file.read(min(length, _MOST_FMT))
            elif kind == b"data":
                break
            position += 8 + length + length % 2
        self._start = position + 8
        if length == _UNKNOWN and long_size is not None and magic in (b"RF64", b"BW64"):
            length = long_size
        available = size - self._start
        self._parse(fmt)
        self.format = Format("rf64" if magic != b"RIFF" else "wav", self.codec or "pcm_s16le")
        if length in (0, _UNKNOWN) and available > 0:
            length = available  # written to a pipe: the size was not yet known
        if length > available:
            raise truncated(name)
        if self.codec is None:
            return
        if length % self._align:
            raise truncated(name)
        self._check_end(self._start + length, size)
        self._bytes = length
        self.frames: int | None = length // self._align

    def _bad(self, what: str) -> AudioError:
        return AudioError(f"{self._name}: {what}; export it again as WAV or FLAC")

    def _parse(self, fmt: bytes) -> None:
        if len(fmt) < 16:
            raise self._bad("has no description of its samples (no fmt chunk)")
        tag, self.channels, self.rate, _, self._align, bits = struct.unpack("<HHIIHH", fmt[:16])
        if tag == 0xFFFE and len(fmt) >= 26:
            tag = struct.unpack("<H", fmt[24:26])[0]
        if not self.channels or not self.rate:
            raise self._bad("says that it has no channels or a sample rate of zero")
        codec = {1: _INT_CODECS, 3: _FLOAT_CODECS}.get(tag, {}).get(bits)
        if codec and self._align == self.channels * pcm.PCM_BYTES[codec]:
            self.codec = codec

    def _check_end(self, end: int, size: int) -> None:
        """Refuses sound after the stated end, which nobody would miss in another voice.

        Recorders that were interrupted leave an early size in the header, and a size of 4 GiB or
        more is stated modulo 4 GiB.
        """
        # some programs leave out the byte that pads sound of odd length
        rest = size - max(_after_chunks(self._file, end + odd, size) for odd in {0, end % 2})
        seconds = rest / (self._align * self.rate)
        if seconds > _MOST_REST and not _is_void(self._file, size - rest):
            raise AudioError(
                f"{self._name}: goes on for {seconds:.1f} s after the end that its header states, "
                "as if the recorder was interrupted, the file has more than 4 GiB, or several were "
                "joined; write the header anew: ffmpeg -ignore_length 1 -i IN.wav -c copy -rf64 "
                "auto OUT.wav"
            )

    def blocks(self, size: int) -> Iterator[pcm.Block]:
        assert self.codec is not None
        self._file.seek(self._start)
        left = self._bytes
        while left:
            data = self._file.read(min(left, size * self._align))
            if not data or len(data) % self._align:
                raise truncated(self._name)
            left -= len(data)
            yield pcm.decode(data, self.codec, self.channels)

    def close(self) -> None:
        pass


def _after_chunks(file: BinaryIO, place: int, size: int) -> int:
    """Where the chunks from ``place`` on end, or the first ones of very many."""
    for _ in range(_MOST_CHUNKS):
        if place + 8 > size:
            break
        file.seek(place)
        kind, length = struct.unpack("<4sI", file.read(8))
        end = place + 8 + length
        if kind in _FILES or not (kind.isascii() and kind.decode().isprintable()) or end > size:
            return place
        place = end + length % 2
    return min(place, size)


def _is_void(file: BinaryIO, place: int) -> bool:
    """Whether nothing but zeros, or a tag, follows."""
    file.seek(place)
    data = file.read(_SEARCHED)
    if data.startswith(_TAGS):
        return True
    while data:
        if data.strip(b"\0"):
            return False
        data = file.read(_SEARCHED)
    return True
