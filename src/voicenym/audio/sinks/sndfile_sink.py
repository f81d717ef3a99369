"""Writes FLAC and Ogg Vorbis through libsndfile, without comments."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import soundfile

from voicenym.audio import pcm
from voicenym.audio.container_files import ogg_serial
from voicenym.audio.container_files.containers import FLAC_CHANNELS, MOST_FLAC_RATE, unfit
from voicenym.audio.sources.sndfile_source import VORBIS_ORDER
from voicenym.audio.types import Format

_LIMITS = {"flac": (FLAC_CHANNELS, MOST_FLAC_RATE), "vorbis": (255, 200_000)}
"""Largest number of channels, and largest rate in Hz, of the encoders."""
_PIECE = 4096
"""Frames passed to libvorbis at once; much larger pieces overflow its stack."""
_TRIED = 1 << 16
"""Bytes that are written to learn the error of a disk."""
# Bits per second and channel that libvorbis spends at 44.1 kHz for quality 0 and 1.
_LEAST, _MOST = 32_000.0, 250_000.0


@contextmanager
def _disk_errors(path: Path | IO[bytes]) -> Iterator[None]:
    """Context manager in which a failure of libsndfile, which does not say why, is the error of the
    disk that further bytes meet, if any.
    """
    try:
        yield
    except (soundfile.LibsndfileError, RuntimeError):
        if isinstance(path, Path):
            with open(path, "ab", buffering=0) as file:
                left = _TRIED
                while left:
                    left -= file.write(bytes(left)) or 0
        raise


class SndfileSink:
    """Sink for FLAC, which keeps its bits, and Vorbis, with the quality nearest to the bit rate."""

    def __init__(self, path: Path | IO[bytes], format: Format, rate: int, channels: int) -> None:
        most, fastest = _LIMITS[format.codec]
        if channels > most or rate > fastest:
            raise unfit(format, rate, channels)  # libvorbis would crash
        self._path = path
        self._bits = format.bits or 16
        self._vorbis = format.codec == "vorbis"
        order = VORBIS_ORDER.get(channels) if self._vorbis else None
        self._order: slice | list[int] = slice(None) if order is None else list(order)
        settings = {"format": "OGG", "subtype": "VORBIS"}
        if self._vorbis:
            per_channel = (format.bit_rate or 96_000 * channels) / channels * 44_100 / rate
            share = np.log(max(per_channel, _LEAST) / _LEAST) / np.log(_MOST / _LEAST)
            level = float(np.clip(1.0 - share, 0.0, 1.0))
        else:
            settings = {"format": "FLAC", "subtype": f"PCM_{self._bits}"}
            level = 5 / 8
        # by a descriptor, because libsndfile treats some names specially
        place = (
            os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC) if isinstance(path, Path) else path
        )
        with _disk_errors(path):
            self._file = soundfile.SoundFile(
                place, "w", rate, channels, compression_level=level, **settings
            )

    def write(self, block: pcm.Block) -> None:
        with _disk_errors(self._path):
            for start in range(0, block.shape[1], _PIECE):
                piece = block[self._order, start : start + _PIECE].T
                if self._vorbis:
                    self._file.write(np.clip(piece, -1.0, 1.0))
                elif self._bits == 16:
                    self._file.write(pcm.to_int(piece, 16).astype(np.int16))
                else:
                    self._file.write((pcm.to_int(piece, 24) << 8).astype(np.int32))

    def finish(self) -> None:
        with _disk_errors(self._path):
            self._file.close()
        if not isinstance(self._path, Path):
            return
        if self._vorbis:
            ogg_serial.reset(self._path)
            return
        with open(self._path, "r+b") as file:
            # libFLAC's name holds the date of its release; a reader needs none of it.
            head = file.read(4096)
            at = head.find(b"reference libFLAC")
            if at >= 4:
                length = int.from_bytes(head[at - 4 : at], "little")
                file.seek(at)
                file.write(b"voicenym".ljust(length)[:length])

    def close(self) -> None:
        self._file.close()
