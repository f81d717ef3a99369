"""Writes RIFF WAVE and RF64 files that contain only the samples.

libsndfile is not used here: it adds a time stamp (the PEAK chunk) and scales integers by 32767.
"""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import BinaryIO

from voicenym.audio import pcm

_PCM_GUID = bytes.fromhex("0000000000001000800000aa00389b71")[2:]
_RIFF_LIMIT = 0xFFFFFFFF - 4096
_MASKS = {1: 0x4, 2: 0x3, 3: 0x7, 4: 0x33, 5: 0x37, 6: 0x3F, 7: 0x70F, 8: 0x63F}


class WavSink:
    """WAVE sink with space for RF64's sizes (a JUNK chunk), so that a file may grow beyond 4 GiB.

    A file in memory stays open, so that its owner can read it.
    """

    def __init__(
        self, path: Path | io.BytesIO, codec: str, rate: int, channels: int, rf64: bool
    ) -> None:
        self._codec, self._rate, self._channels, self._rf64 = codec, rate, channels, rf64
        self._bytes = 0
        self._in_memory = isinstance(path, io.BytesIO)
        self._file: BinaryIO = path if isinstance(path, io.BytesIO) else path.open("wb")
        self._file.write(self._header())

    def _header(self) -> bytes:
        width = pcm.PCM_BYTES[self._codec]
        align = width * self._channels
        floating = self._codec.startswith("pcm_f")
        tag = 3 if floating else 1
        extensible = self._channels > 2 or self._codec in ("pcm_s24le", "pcm_s32le")
        fmt = struct.pack(
            "<HHIIHH",
            0xFFFE if extensible else tag,
            self._channels,
            self._rate,
            self._rate * align,
            align,
            8 * width,
        )
        if extensible:
            mask = _MASKS.get(self._channels, 0)
            fmt += struct.pack("<HHIH", 22, 8 * width, mask, tag) + _PCM_GUID
        frames = self._bytes // align
        body = 4 + 8 + 28 + 8 + len(fmt) + 8 + self._bytes + self._bytes % 2
        if floating:
            body += 12
        long = self._rf64 or body > _RIFF_LIMIT
        sizes = struct.pack("<QQQI", body, self._bytes, frames, 0) if long else bytes(28)
        unknown = 0xFFFFFFFF
        header = struct.pack(
            "<4sI4s", b"RF64" if long else b"RIFF", unknown if long else body, b"WAVE"
        )
        header += struct.pack("<4sI", b"ds64" if long else b"JUNK", 28) + sizes
        header += struct.pack("<4sI", b"fmt ", len(fmt)) + fmt
        if floating:
            header += struct.pack("<4sII", b"fact", 4, unknown if long else frames)
        return header + struct.pack("<4sI", b"data", unknown if long else self._bytes)

    def write(self, block: pcm.Block) -> None:
        data = pcm.encode(block, self._codec)
        self._file.write(data)
        self._bytes += len(data)

    def finish(self) -> None:
        if self._bytes % 2:
            self._file.write(b"\0")
        self._file.seek(0)
        self._file.write(self._header())
        self.close()

    def close(self) -> None:
        if not self._in_memory:
            self._file.close()
