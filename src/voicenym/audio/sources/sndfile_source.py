"""Reads FLAC, Ogg Vorbis and WAVE's telephone codecs through libsndfile, sample-exact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import soundfile
from numpy.typing import NDArray

from voicenym.audio.container_files.flac_frames import seconds_after
from voicenym.audio.container_files.truncation import truncated
from voicenym.audio.pcm import Block
from voicenym.audio.sources.nameless_file import reading
from voicenym.audio.types import Format
from voicenym.errors import AudioError

_CONTAINERS = {"WAV": "wav", "WAVEX": "wav", "RF64": "rf64", "FLAC": "flac", "OGG": "ogg"}
_CODECS = {"VORBIS": "vorbis", "ULAW": "pcm_mulaw", "ALAW": "pcm_alaw"}
_FLAC_BITS = {"PCM_S8": 8, "PCM_16": 16, "PCM_24": 24}
VORBIS_ORDER = {
    3: (0, 2, 1),
    5: (0, 2, 1, 3, 4),
    6: (0, 2, 1, 4, 5, 3),
    7: (0, 2, 1, 5, 6, 4, 3),
    8: (0, 2, 1, 6, 7, 4, 5, 3),
}
"""Channel order of Vorbis (I, 4.3.9), as indices into that of WAVE and ffmpeg."""
_OTHERS = ("GSM610", "MPEG_LAYER_III", "MPEG_LAYER_II", "MPEG_LAYER_I")
"""Codings of WAVE files in which libsndfile cannot seek to the beginning."""
_FLAC_BEGINNINGS = (b"fLaC\x00\x00\x00\x22", b"fLaC\x80\x00\x00\x22")
"""Signature and header of the first block, of which others follow or none (RFC 9639)."""
_LEAST_FLAC = 42
"""Bytes of signature and first block."""
_SEARCHED = 1 << 20
_MOST_REST = 0.1
"""Seconds of sound that may follow the stated end of a FLAC."""
_UNKNOWN_FRAMES = 1 << 62
"""libsndfile returns a number above this for a FLAC without a stated length, as programs write it
to a pipe, and finds no end of it."""


class SndfileSource:
    """Samples of a file that libsndfile decodes.

    Raises:
        soundfile.LibsndfileError, RuntimeError: from the constructor, if libsndfile does not
            support the file.
        AudioError: from :meth:`blocks`, if the file is damaged or ends early.
    """

    has_picture = False
    warnings: tuple[str, ...] = ()

    def __init__(self, file: BinaryIO, name: str, size: int) -> None:
        self._name = name
        self._raw = file
        self._file = soundfile.SoundFile(reading(file))
        if self._file.subtype in _OTHERS:
            self._file.close()
            raise RuntimeError(f"{self._file.subtype} is left to libav")
        self.rate = int(self._file.samplerate)
        self.channels = int(self._file.channels)
        count = int(self._file.frames)
        if not 0 <= count < _UNKNOWN_FRAMES:
            self._file.close()
            raise RuntimeError("a FLAC that states no length is left to libav")
        self.frames: int | None = count
        self._order: NDArray[np.intp] | slice = slice(None)
        container = _CONTAINERS.get(self._file.format, "wav")
        subtype = self._file.subtype
        if container == "flac":
            self.format = Format("flac", "flac", bits=_FLAC_BITS.get(subtype, 16))
        else:
            codec = _CODECS.get(subtype, "pcm_s16le")
            if codec == "vorbis" and self.channels in VORBIS_ORDER:
                self._order = np.argsort(VORBIS_ORDER[self.channels])
            seconds = count / self.rate
            known = codec == "vorbis" and self.frames and seconds > 0
            self.format = Format(
                container, codec, bit_rate=round(8 * size / seconds) if known else None
            )

    def blocks(self, size: int) -> Iterator[Block]:
        count = 0
        while True:
            try:
                if not count:
                    self._file.seek(0)
                block = self._file.read(size, dtype="float32", always_2d=True)
            except (soundfile.LibsndfileError, RuntimeError):
                raise AudioError(
                    f"{self._name}: is damaged or truncated; get a whole copy of the recording"
                ) from None
            if not len(block):
                break
            count += len(block)
            yield np.ascontiguousarray(block.T[self._order])
        if self.frames is not None and count < self.frames:
            raise truncated(self._name)
        if self.format.container != "flac":
            return
        stopped = self._raw.tell()
        if self._another_follows():
            raise AudioError(
                f"{self._name}: is several FLAC recordings joined into one file, of which players "
                "play the first or all; give each as a file of its own"
            )
        self._raw.seek(stopped)
        if seconds_after(self._raw, count, self.rate) > _MOST_REST:
            raise AudioError(
                f"{self._name}: goes on after the end at {count / self.rate:.1f} s that its header "
                "states, as if the recorder was interrupted; write it anew: ffmpeg -i IN.flac "
                "OUT.flac"
            )

    def _another_follows(self) -> bool:
        """Whether another FLAC begins behind the one that was read."""
        # libsndfile reads ahead, and the first FLAC begins before its samples
        place = max(_LEAST_FLAC, self._raw.tell() - _SEARCHED)
        tail = b""
        self._raw.seek(place)
        while data := self._raw.read(_SEARCHED):
            if any(beginning in tail + data for beginning in _FLAC_BEGINNINGS):
                return True
            tail = data[-len(_FLAC_BEGINNINGS[0]) :]
        return False

    def close(self) -> None:
        self._file.close()
