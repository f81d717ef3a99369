"""Copies the video stream of a film without re-encoding and without metadata."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import av

from voicenym.audio.container_files import container_detection
from voicenym.audio.container_files.mp4_boxes import without_profiles
from voicenym.audio.sources import libav
from voicenym.audio.sources.av_source import is_picture
from voicenym.audio.video.video_metadata import Cleaner, check, cleaner
from voicenym.errors import AudioError

WITHOUT_EDIT_LISTS = ("matroska", "webm")
"""Formats that show every frame that they hold."""


class Picture:
    """Picture tracks of a film, packet by packet, for a muxer.

    Only the coded picture is copied, cleaned by :mod:`voicenym.audio.video.video_metadata`,
    without tags, side data of packets, and the film's other tracks.

    Of the frames that an edit list hides, those from the last key frame before the first shown one
    on are copied, because it is decoded from them, and stay hidden; those after the end are left
    out.

    Args:
        film: a path, or a file object.

    Raises:
        AudioError: the film cannot be read, or its picture is coded in a way that cannot be
            cleaned.
    """

    def __init__(self, film: Path | BinaryIO) -> None:
        self._file: BinaryIO = open(film, "rb") if isinstance(film, Path) else film  # noqa: SIM115
        self._owned = isinstance(film, Path)
        self._container: Any = None
        self._copies: dict[int, Any] = {}
        self._cleaners: dict[int, Cleaner] = {}
        self._shows_all = False
        try:
            demuxer = container_detection.demuxer(self._file)
            if demuxer is None:
                raise ValueError("no film")
            self._demuxer = demuxer
            seen = without_profiles(self._file) if demuxer == "mov" else self._file
            self._container = libav.open_input(seen, demuxer)
        except (av.error.FFmpegError, OSError, ValueError):
            self.close()
            raise AudioError("the film's picture cannot be read; get a whole copy") from None
        self.tracks: list[Any] = [s for s in self._container.streams if is_picture(s)]

    def offset(self) -> Fraction:
        """Time of the first sample of the sound, in seconds of the film's time."""
        sound = self._container.streams.audio
        if not sound:
            return Fraction(0)
        place = self._file.tell()
        try:
            first = _first_frame(self._file, self._demuxer)
        finally:
            self._file.seek(place)
        if first is not None:
            return first
        return Fraction((sound[0].start_time or 0) * sound[0].time_base)

    def add_to(self, container: Any) -> None:
        """Creates a stream for each picture in an output."""
        self._shows_all = container.format.name in WITHOUT_EDIT_LISTS
        for track in self.tracks:
            check(track)
            try:
                copy = container.add_stream_from_template(track, opaque=True)
            except ValueError:
                raise AudioError(
                    f"cannot hold a picture coded as {track.codec_context.name}; name an output "
                    "that ends in .mkv"
                ) from None
            self._cleaners[track.index] = cleaner(track, copy)
            copy.metadata.clear()
            copy.time_base = track.time_base
            self._copies[track.index] = copy

    def packets(self) -> Iterator[Any]:
        """Cleaned packets in the film's order, each with its output stream.

        Raises:
            AudioError: frames before the start are hidden and the output would show them, parts of
                the middle are cut out, or the coding changes midway.
        """
        last: dict[int, int] = {}
        for packet in self._container.demux(self.tracks):
            if not packet.size or _after_end(packet):
                continue
            if self._shows_all and _before_start(packet):
                raise AudioError(
                    "the film was trimmed without being encoded anew, and this format would show "
                    "what was cut off at its start; name an output that ends in .mp4 or .mov, or "
                    "re-encode the film"
                )
            index, base = packet.stream_index, packet.time_base
            if (
                packet.is_discard
                and packet.dts is not None
                and packet.dts < last.get(index, packet.dts)
            ):
                raise AudioError(
                    "parts were cut out of the film without encoding it anew, which cannot be "
                    "copied; re-encode it, or name an output that ends in .wav for the sound alone"
                )
            if packet.dts is not None:
                last[index] = packet.dts
            if packet.has_sidedata("new_extradata"):
                raise AudioError(
                    "the film's picture changes its coding midway, which cannot be copied cleanly; "
                    "re-encode the film, or name an output that ends in .wav for the sound alone"
                )
            for clean in self._cleaners[index](packet):
                clean.time_base = base
                clean.stream = self._copies[index]
                yield clean

    def close(self) -> None:
        if self._container is not None:
            self._container.close()
            self._container = None
        if self._owned:
            self._file.close()


def _first_frame(file: BinaryIO, demuxer: str) -> Fraction | None:
    """Time of the first sample that a decoder gives, without the priming that it drops."""
    try:
        with libav.open_input(file, demuxer) as film:
            track = film.streams.audio[0]
            if track.codec_context is None or track.codec_context.codec.name not in libav.DECODERS:
                return None
            libav.limit(track.codec_context)
            for frame in film.decode(track):
                return None if frame.pts is None else Fraction(frame.pts * frame.time_base)
    except (av.error.FFmpegError, OSError, ValueError):
        pass
    return None


def _before_start(packet: Any) -> bool:
    """Whether an edit list hides a frame because it lies before the track's start."""
    start = packet.stream.start_time
    if not packet.is_discard or packet.pts is None or start is None:
        return False
    return bool(packet.pts < start)


def _after_end(packet: Any) -> bool:
    """Whether an edit list hides a frame that is decoded after the last shown one."""
    track = packet.stream
    if not packet.is_discard or packet.dts is None or track.duration is None:
        return False
    return bool(packet.dts >= (track.start_time or 0) + track.duration)
