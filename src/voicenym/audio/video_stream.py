"""Copies the video stream of a film without re-encoding and without metadata."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import av

from voicenym.audio import container_detection, libav
from voicenym.audio.av_source import is_picture
from voicenym.audio.mp4_boxes import without_profiles
from voicenym.audio.video_metadata import Cleaner, check, cleaner
from voicenym.errors import AudioError


class Picture:
    """Picture tracks of a film, packet by packet, for a muxer.

    Only the coded picture is copied, cleaned by :mod:`voicenym.audio.video_metadata`, without tags,
    side data of packets, and the film's other tracks.

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
        try:
            demuxer = container_detection.demuxer(self._file)
            if demuxer is None:
                raise ValueError("no film")
            seen = without_profiles(self._file) if demuxer == "mov" else self._file
            self._container = libav.open_input(seen, demuxer)
        except (av.error.FFmpegError, OSError, ValueError):
            self.close()
            raise AudioError("the film's picture cannot be read; get a whole copy") from None
        self.tracks: list[Any] = [s for s in self._container.streams if is_picture(s)]

    def offset(self) -> Fraction:
        """Start of the sound, in seconds of the film's time."""
        sound = self._container.streams.audio
        if not sound or not sound[0].start_time:
            return Fraction(0)
        return Fraction(sound[0].start_time * sound[0].time_base)

    def add_to(self, container: Any) -> None:
        """Creates a stream for each picture in an output."""
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
        """Cleaned packets in the film's order, each with its output stream."""
        for packet in self._container.demux(self.tracks):
            if not packet.size:
                continue
            index, base = packet.stream_index, packet.time_base
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
