"""Source that decodes through ffmpeg, without the priming and the padding of lossy codecs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, BinaryIO

import av
import numpy as np

from voicenym.audio.container_files.edit_lists import late_length
from voicenym.audio.container_files.truncation import truncated, xing
from voicenym.audio.pcm import Block, to_float
from voicenym.audio.sources import libav
from voicenym.audio.sources.sound_gaps import TIMED, SoundGaps
from voicenym.audio.types import Format
from voicenym.errors import AudioError

_CONTAINERS = {"mov": "mp4", "aac": "adts"}
MOST_PLANES = 8
"""Number of channels from which on packed frames are used, because PyAV reads beyond planar
ones."""
_MOST_PADDING = 8192
"""Largest padding of any codec in samples; a larger surplus over the duration is not padding."""
_COUNTED = ("aiff", "ape", "au", "caf", "dsf", "mpc8", "tak", "tta", "w64", "wv")
"""Demuxers whose durations are exact numbers of samples in the file, not estimates."""

_SILENCE = 1 << 16
"""Samples of a block of silence in a gap."""
_COUNT_SLACK = 16
"""Largest difference between a stated number of samples and the sound, by rounding of time."""


def is_picture(stream: Any) -> bool:
    """Whether a stream is moving picture and not cover art."""
    still = av.stream.Disposition.attached_pic | av.stream.Disposition.timed_thumbnails
    return stream.type == "video" and not stream.disposition & still


class AvSource:
    """First audio track of a recording, read by the demuxer of its content.

    Raises:
        AudioError: no audio track, no channels, a rate of zero; from :meth:`blocks`: damage.
    """

    def __init__(self, file: BinaryIO, name: str, size: int, demuxer: str) -> None:
        self._name = name
        self._file = file
        self._promised_packets: int | None = None
        self._packer: Any = None
        try:
            self._container: Any = libav.open_input(file, demuxer)
        except (av.error.FFmpegError, OSError, ValueError):
            raise AudioError(
                f"{name}: is not a recording that can be read, or is damaged; "
                f"check that it plays, and get a whole copy"
            ) from None
        if not self._container.streams.audio:
            self._container.close()
            raise AudioError(f"{name}: has no audio track; choose a recording with sound")
        stream = self._stream = self._container.streams.audio[0]
        context = stream.codec_context
        if context is None or context.codec.name not in libav.DECODERS:
            self._container.close()
            coding = "an unknown coding" if context is None else context.codec.canonical_name
            raise AudioError(
                f"{name}: its sound is {coding}, which is not read here; convert it to WAV or FLAC"
            )
        libav.limit(context)
        self.rate = int(context.sample_rate or 0)
        self.channels = int(context.channels or 0)
        if not self.rate or not self.channels or context.format is None:
            self._container.close()
            raise AudioError(
                f"{name}: its audio track says no sample rate or channels; get a whole copy"
            )
        self.has_picture = any(map(is_picture, self._container.streams))
        self._tracks = len(self._container.streams.audio)
        self._subtitles = len(self._container.streams.subtitles)
        self._limit = self._exact_length()
        varied = demuxer == "caf" and not context.codec.name.startswith("pcm_")
        self._counted = self._estimate() if demuxer in _COUNTED and not varied else None
        kind = demuxer
        if kind == "mp3":
            self._promised_packets, self._limit = xing(file, self.rate)
            # ffmpeg has its own read position in the file: open it again after moving it.
            self._container.close()
            self._container = libav.open_input(file, demuxer)
            stream = self._stream = self._container.streams.audio[0]
            context = stream.codec_context
            libav.limit(context)
        self._gaps = SoundGaps(self.rate, name) if demuxer in TIMED else None
        self.frames: int | None = self._limit or self._estimate()
        self.format = self._format(kind, context, size)

    def _exact_length(self) -> int | None:
        """Number of samples by the edit list of an mp4 or mov, which determines the start of the
        padding.
        """
        stream = self._stream
        if self._container.format.name != "mov" or not stream.duration:
            return None
        position = self._file.tell()
        late = late_length(self._file)
        self._file.seek(position)
        duration = Fraction(stream.duration * (stream.time_base or 0))
        return round((duration if late is None else min(late, duration)) * self.rate)

    def _estimate(self) -> int | None:
        stream = self._stream
        if stream.duration:
            return int(stream.duration * Fraction(stream.time_base or 0) * self.rate)
        if self._container.duration and not self.has_picture:
            return int(self._container.duration / 1e6 * self.rate)
        return None

    def _format(self, kind: str, context: Any, size: int) -> Format:
        container = _CONTAINERS.get(kind, kind)
        if container == "mp4":
            brand = self._brand()
            container = "mov" if brand == "qt" else "3gp" if brand.startswith("3g") else "mp4"
        if container == "matroska" and self._is_webm():
            container = "webm"
        codec = context.codec.canonical_name
        if codec.startswith("pcm_") and container not in ("aiff", "au"):
            codec = codec.replace("be", "le") if codec.endswith("be") else codec
        bits = None
        if codec in ("flac", "alac"):
            # 24 bits come in 32-bit words; 16 in 16.
            bits = 24 if context.format.bytes == 4 else 16
        rate = None
        if bits is None and not codec.startswith("pcm_"):
            rate = context.bit_rate or None
            if rate is None and self._container.duration and not self.has_picture:
                rate = int(8 * size / (self._container.duration / 1e6))
        return Format(container, codec, bits=bits, bit_rate=rate)

    def _brand(self) -> str:
        return str(self._container.metadata.get("major_brand", "qt")).strip()

    def _is_webm(self) -> bool:
        position = self._file.tell()
        self._file.seek(0)
        head = self._file.read(64)
        self._file.seek(position)
        return b"webm" in head

    def blocks(self, size: int) -> Iterator[Block]:
        held: list[Block] = []
        count = 0
        given = 0
        try:
            for block in self._decoded():
                held.append(block)
                count += block.shape[1]
                # The end is delayed until its padding is known.
                if count > size + _MOST_PADDING:
                    whole = np.concatenate(held, axis=1)
                    ready = (count - _MOST_PADDING) // size * size
                    for start in range(0, ready, size):
                        yield whole[:, start : start + size]
                    given += ready
                    count -= ready
                    held = [whole[:, ready:].copy()]
        except (av.error.FFmpegError, OSError):
            raise AudioError(
                f"{self._name}: is damaged or truncated; get a whole copy of the recording"
            ) from None
        if self._counted is not None and given + count < self._counted - _COUNT_SLACK:
            raise truncated(self._name)
        rest = np.concatenate(held, axis=1) if held else np.zeros((self.channels, 0), np.float32)
        if self._limit is not None:
            if given + count < self._limit - self._slack():
                raise truncated(self._name)
            if given <= self._limit and given + count - self._limit <= _MOST_PADDING:
                rest = rest[:, : self._limit - given]
        for start in range(0, rest.shape[1], size):
            yield rest[:, start : start + size]

    def _slack(self) -> int:
        """Rounding of a duration, in films to a frame of the picture."""
        return self.rate // 5 if self.has_picture else 4096

    def _decoded(self) -> Iterator[Block]:
        packets = 0
        for packet in self._container.demux(self._stream):
            if packet.size:
                packets += 1
                if packet.is_corrupt:
                    raise truncated(self._name)
            for frame in packet.decode():
                if frame.sample_rate != self.rate or frame.layout.nb_channels != self.channels:
                    raise AudioError(
                        f"{self._name}: changes its sample rate or channels midway; "
                        f"convert it to WAV first"
                    )
                missing = 0 if self._gaps is None else self._gaps.before(frame)
                for start in range(0, missing, _SILENCE):
                    size = min(_SILENCE, missing - start)
                    yield np.zeros((self.channels, size), np.float32)
                for readable in self._readable(frame):
                    samples = readable.to_ndarray()
                    if not readable.format.is_planar:
                        samples = samples.reshape(-1, self.channels).T
                    yield to_float(samples)
        if self._promised_packets is not None and packets < self._promised_packets:
            raise truncated(self._name)

    def _readable(self, frame: Any) -> list[Any]:
        if self.channels < MOST_PLANES:
            return [frame]
        if self._packer is None:
            kind = frame.format.name.removesuffix("p")
            self._packer = av.AudioResampler(kind, frame.layout.name, frame.sample_rate)
        packed: list[Any] = self._packer.resample(frame)
        return packed

    @property
    def warnings(self) -> tuple[str, ...]:
        """Of what was read so far."""
        found = []
        if self._tracks > 1:
            found.append(
                f"{self._name}: has {self._tracks} sound tracks; the first is taken, and the "
                "others are left out: give each as a file of its own if it is needed"
            )
        if self._subtitles:
            found.append(
                f"{self._name}: has subtitles, which are left out, since they may name people: "
                "read them, and add them to the result if they do not"
            )
        return (*found, *(() if self._gaps is None else self._gaps.warnings))

    def close(self) -> None:
        self._container.close()
