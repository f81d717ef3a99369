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
