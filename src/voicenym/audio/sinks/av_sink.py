"""Encodes through ffmpeg, with exact length and alignment, and muxes the picture of a film."""

from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import av
import numpy as np

from voicenym.audio import pcm
from voicenym.audio.container_files.containers import CONTAINERS, ENCODERS, unfit
from voicenym.audio.container_files.edit_lists import place_sound
from voicenym.audio.sources import libav
from voicenym.audio.sources.av_source import MOST_PLANES
from voicenym.audio.sources.nameless_file import Written
from voicenym.audio.types import Format
from voicenym.audio.video.video_stream import Picture

_LAYOUTS = {1: "mono", 2: "stereo", 3: "3.0", 4: "4.0", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1"}
_ALAC_LAYOUTS = {7: "6.1(back)", 8: "7.1(wide)"}
_AC3 = ("ac3", "eac3")
_AC3_DELAY = 256
_MARKED = ("matroska", "webm", "mp3")
"""Containers that mark padding of a packet."""
_BOXED = ("mp4", "mov", "3gp")
"""Muxers of containers with edit lists."""
_AAC_FRAME = 1024
_PCM_FRAME = 1024
_MOST_OPUS = 256_000
"""Bits per second and channel."""


def _skip_samples() -> Any:
    """Side data of the kind that marks padding; PyAV cannot create it, so an encoder does."""
    context: Any = av.CodecContext.create("libopus", "w")
    context.rate, context.layout, context.format = 48_000, "mono", "flt"
    silence = np.zeros((1, 100), np.float32)
    frame = av.AudioFrame.from_ndarray(silence, format="flt", layout="mono")
    frame.sample_rate = 48_000
    packets = [*context.encode(frame), *context.encode(None)]
    return packets[-1].get_sidedata("skip_samples")


def discard(packet: Any, tail: int) -> None:
    """Marks the last ``tail`` samples of a packet as padding; the padding at its start stays."""
    head = 0
    first = packet.get_sidedata("skip_samples")
    if first.buffer_size >= 10:
        head = struct.unpack_from("<I", bytes(first), 0)[0]
    mark = _skip_samples()
    mark.update(struct.pack("<IIBB", head, tail, 0, 0))
    packet.set_sidedata(mark)


class AvSink:
    """Sink with one encoder and one muxer.

    Rates that the codec does not have (44.1 kHz in Opus) are resampled to the next higher one
    that it has. Lengths: mp4 and mov carry priming and padding in the edit list, mp3 in the LAME
    header, Ogg in granule positions, Matroska in DiscardPadding. ADTS carries neither: the packet
    of priming is left out, and the length is rounded up to a multiple of 1024 samples. Opus in
    WebM or Matroska shorter than 648 samples (13 ms) is read back as 648, AC-3 shorter than 1280
    as 1280.
    """

    def __init__(
        self, path: Path, format: Format, rate: int, channels: int, picture: BinaryIO | Path | None
    ) -> None:
        self._format = format
        self._name = str(path)
        self._picture: Picture | None = None
        self._output: BinaryIO | None = None
        self._written: Written | None = None
        self._codec = av.Codec(ENCODERS.get(format.codec, format.codec), "w")
        self._encoder_rate = self._nearest_rate(rate)
        self._resampler: Any = None
        if self._encoder_rate != rate:
            import soxr

            self._resampler = soxr.ResampleStream(
                rate, self._encoder_rate, channels, dtype="float32", quality="VHQ"
            )
        self._time_base = Fraction(1, self._encoder_rate)
        options = {"fflags": "+bitexact"}
        muxer = CONTAINERS[format.container].muxer
        if muxer in _BOXED:
            options |= {"use_editlist": "1", "movie_timescale": str(self._encoder_rate)}
        elif muxer == "mp3":
            options |= {"id3v2_version": "0", "write_id3v1": "0", "write_xing": "1"}
        self._offset = 0
        self._container: Any = None
        try:
            if picture is not None:
                self._picture = Picture(picture)
                if muxer in _BOXED and self._picture.tracks:
                    base = self._picture.tracks[0].time_base
                    options["video_track_timescale"] = str(base.denominator)
                self._offset = round(self._picture.offset() * self._encoder_rate)
            self._output = path.open("w+b")
            self._written = Written(self._output)
            self._container = libav.open_output(self._written, muxer, options)
            if self._picture is not None:
                self._picture.add_to(self._container)
            self._open_encoder(channels)
        except BaseException:
            self.close()
            raise
        self._packets = iter(()) if self._picture is None else self._picture.packets()
        self._next_picture = next(self._packets, None)
        self._channels = channels
        self._waiting = np.zeros((channels, 0), np.float32)
        self._sent = 0
        self._muxed = 0
        self._held: list[Any] = []
        self._delay = 0

    @property
    def stored_rate(self) -> int:
        """Stored rate, in Hz."""
        return self._encoder_rate

    def surplus(self, frames: int) -> int:
        """Samples of silence after ``frames`` samples, because ADTS cannot store its length."""
        return -frames % _AAC_FRAME if self._format.container == "adts" else 0

    def _nearest_rate(self, rate: int) -> int:
        rates = sorted(self._codec.audio_rates or [])
        if not rates or rate in rates:
            return rate
        return next((r for r in rates if r > rate), rates[-1])

    def _open_encoder(self, channels: int) -> None:
        rate, name = self._encoder_rate, self._format.codec
        self._layout = _LAYOUTS.get(channels, f"{channels} channels")
        if name == "opus" and channels == 4:
            self._layout = "quad"
        if name == "alac":
            self._layout = _ALAC_LAYOUTS.get(channels, self._layout)
        options: dict[str, str] = {}
        if name == "opus" and channels in (3, 5, 7):
            # Discrete channels, because ffmpeg's surround mapping returns them in another order.
            options["mapping_family"] = "255"
        self._stream = self._container.add_stream(self._codec.name, rate=rate, layout=self._layout)
        context = self._context = self._stream.codec_context
        context.flags |= av.codec.context.Flags.bitexact
        context.time_base = self._time_base
        self._stream.time_base = self._time_base
        if self._format.bits is None and not name.startswith("pcm_"):
            usual = channels * min(96_000, 4 * rate)
            context.bit_rate = self._format.bit_rate or usual
            if name == "opus":
                context.bit_rate = min(context.bit_rate, _MOST_OPUS * channels)
        wanted = {"alac": "s32p" if (self._format.bits or 16) > 16 else "s16p"}
        wanted |= {"flac": "s32" if (self._format.bits or 16) > 16 else "s16"}
        wanted |= {"opus": "flt", "mp3": "fltp"}
        if (self._format.bits or 16) > 16:
            options["bits_per_raw_sample"] = "24"
        context.options = options
        kinds = [f.name for f in self._codec.audio_formats or []]
        self._sample_format = wanted.get(name, kinds[0] if kinds else "fltp")
        context.format = self._sample_format
        self._frame_format = self._sample_format
        self._to_planar: Any = None
        if self._sample_format.endswith("p") and channels >= MOST_PLANES:
            self._frame_format = self._sample_format.removesuffix("p")
            self._to_planar = av.AudioResampler(self._sample_format, self._layout, rate)
        try:
            context.open(strict=False)
        except (av.error.FFmpegError, ValueError):
            raise unfit(self._format, rate, channels) from None
        self._frame = context.frame_size or _PCM_FRAME

    def write(self, block: pcm.Block) -> None:
        if self._resampler is not None:
            block = self._resampler.resample_chunk(np.ascontiguousarray(block.T)).T
        self._encode(block, whole_frames=True)

    def _encode(self, block: pcm.Block, whole_frames: bool) -> None:
        waiting = np.concatenate([self._waiting, block], axis=1)
        start = 0
        while waiting.shape[1] - start >= self._frame:
            self._send(waiting[:, start : start + self._frame])
            start += self._frame
        if not whole_frames and start < waiting.shape[1]:
            self._send(waiting[:, start:])
            start = waiting.shape[1]
        self._waiting = waiting[:, start:].copy()

    def _send(self, block: pcm.Block) -> None:
        frame = av.AudioFrame.from_ndarray(
            self._samples(block), format=self._frame_format, layout=self._layout
        )
        frame.sample_rate = self._encoder_rate
        frame.time_base = self._time_base
        frame.pts = self._sent + self._offset
        self._sent += block.shape[1]
        for ready in [frame] if self._to_planar is None else self._to_planar.resample(frame):
            self._write_packets(self._context.encode(ready))

    def _samples(self, block: pcm.Block) -> Any:
        kind = self._sample_format.rstrip("p")
        if kind in ("flt", "dbl"):
            samples: Any = np.clip(block, -1.0, 1.0).astype("f4" if kind == "flt" else "f8")
        elif kind == "u8":
            samples = (pcm.to_int(block, 8) + 128).astype(np.uint8)
        elif kind == "s16":
            samples = pcm.to_int(block, 16).astype(np.int16)
        elif self._format.bits is not None:
            samples = (pcm.to_int(block, 24) << 8).astype(np.int32)
        else:
            samples = pcm.to_int(block, 32).astype(np.int32)
        if self._frame_format.endswith("p"):
            return np.ascontiguousarray(samples)
        return np.ascontiguousarray(samples.T).reshape(1, -1)

    def _write_packets(self, packets: list[Any]) -> None:
        """Muxes all packets but the last two, which must be marked at the end of the recording."""
        if packets and not self._held and not self._muxed:
            self._delay = self._offset - round(
                packets[0].pts * packets[0].time_base / self._time_base
            )
        self._held.extend(packets)
        while len(self._held) > 2:
            self._mux(self._held.pop(0))

    def _mux(self, packet: Any) -> None:
        self._muxed += 1
        if self._format.container == "adts" and self._muxed == 1:
            return  # priming, which nothing in ADTS could mark as such
        self._mux_picture(packet.dts * packet.time_base)
        packet.stream = self._stream
        self._container.mux(packet)

    def _mux_picture(self, until: Fraction | None) -> None:
        while (packet := self._next_picture) is not None:
            stamp = packet.dts if packet.dts is not None else packet.pts
            if until is not None and stamp is not None and stamp * packet.time_base > until:
                return
            self._container.mux(packet)
            self._next_picture = next(self._packets, None)

    def finish(self) -> None:
        if self._resampler is not None:
            empty = np.zeros((0, self._channels), np.float32)
            self._encode(self._resampler.resample_chunk(empty, last=True).T, whole_frames=True)
        if self._format.container == "adts" and (odd := self._waiting.shape[1] % _AAC_FRAME):
            pad = np.zeros((self._channels, _AAC_FRAME - odd), np.float32)
            self._waiting = np.concatenate([self._waiting, pad], axis=1)
        length = self._sent + self._waiting.shape[1]
        if self._format.codec in _AC3:  # its encoder does not give out what it holds back
            pad = np.zeros((self._channels, _AC3_DELAY), np.float32)
            self._waiting = np.concatenate([self._waiting, pad], axis=1)
        self._encode(np.zeros((self._channels, 0), np.float32), whole_frames=False)
        self._sent = length
        self._write_packets(self._context.encode(None))
        if self._format.container in _MARKED or self._format.codec in _AC3:
            self._mark_padding()
        for packet in self._held:
            self._mux(packet)
        self._finish_picture()

    def _finish_picture(self) -> None:
        self._mux_picture(None)
        self._container.close()
        if self._written is not None and self._written.failure is not None:
            raise self._written.failure
        if self._output is not None:
            if self._format.container in _BOXED and self._offset > 0 and self._delay:
                place_sound(self._output, self._offset, self._delay, self._sent)
            self._output.flush()
        self.close()

    def _mark_padding(self) -> None:
        """Marks the padding at the end, for Matroska's DiscardPadding and mp3's LAME tag.

        mp4 and mov derive it from the duration of the last packet, which AC-3's encoder does not
        cut.

        The encoder of AAC marks no padding; the others mark at most the length of a packet, so that
        a packet of padding alone must be left out.
        """
        if not self._held or self._format.codec not in ("aac", "opus", "mp3", *_AC3):
            return
        packets = self._muxed + len(self._held)
        surplus = packets * self._frame - self._delay - self._sent
        least = 2 if self._format.container == "mp3" else 1  # fewer are not taken for an mp3
        while surplus >= self._frame and len(self._held) > least:
            self._held.pop()
            surplus -= self._frame
        last = self._held[-1]
        discard(last, surplus)
        if self._format.codec in _AC3:
            last.duration = round((self._frame - surplus) * self._time_base / last.time_base)

    def close(self) -> None:
        """Closes all files; without :meth:`finish` before, the output is incomplete."""
        if self._picture is not None:
            self._picture.close()
            self._picture = None
        try:
            if self._container is not None:
                self._container.close()
        finally:
            if self._output is not None:
                self._output.close()
