"""Opens any recording for reading block by block; refuses other files."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from voicenym.audio import pcm
from voicenym.audio.closeable import Closing
from voicenym.audio.given_audio import check_binary_file
from voicenym.audio.limits import LEAST_RATE, MOST_CHANNELS, MOST_RATE
from voicenym.audio.types import Format
from voicenym.errors import AudioError, counted
from voicenym.special_files import special_kind


class _Source(Protocol):
    rate: int
    channels: int
    frames: int | None
    format: Format
    has_picture: bool

    @property
    def warnings(self) -> tuple[str, ...]: ...
    def blocks(self, size: int) -> Iterator[pcm.Block]: ...
    def close(self) -> None: ...


class Reader(Closing):
    """An open recording, made by :func:`open_reader`; a context manager.

    Attributes:
        name: of the file, for messages.
        rate: sample rate, in Hz.
        channels: their number.
        frames: samples per channel; ``None`` if unknown, an estimate for compressed sound.
        format: of its storage.
        has_picture: whether it has a video track.
    """

    def __init__(
        self, source: _Source, file: BinaryIO | None, name: str, warnings: tuple[str, ...] = ()
    ) -> None:
        self._source = source
        self._file = file
        self.name = name
        self.rate = source.rate
        self.channels = source.channels
        self.frames = source.frames
        self.format = source.format
        self.has_picture = source.has_picture
        self._warnings = warnings
        self._used = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """For the user, each a sentence that names the file; all of them once it is read."""
        return (*self._warnings, *self._source.warnings)

    def blocks(self, size: int) -> Iterator[pcm.Block]:
        """Blocks of the recording, from its beginning, once.

        Args:
            size: samples per channel of every block but the last, which may be shorter.

        Yields:
            ``[channel, time]`` numpy float32 in [-1, 1], all finite.

        Raises:
            AudioError: damaged, truncated, without a sample, or with NaN or infinity.
        """
        if size < 1:
            raise ValueError(f"blocks need at least one sample, not {size}")
        if self._used:
            raise AudioError(f"{self.name}: was read to its end already; open it again")
        self._used = True
        count = 0
        for block in self._source.blocks(size):
            count += block.shape[1]
            yield pcm.check_finite(block, self.name)
        if not count:
            raise AudioError(f"{self.name}: holds no sound, its length is zero; record it again")

    def close(self) -> None:
        self._source.close()
        if self._file is not None:
            self._file.close()


def open_reader(source: str | os.PathLike[str] | BinaryIO, *, lenient: bool = False) -> Reader:
    """Open a recording; its content, not its name, determines the format.

    Args:
        source: a path, or a binary file object (one that cannot seek is read into memory).
        lenient: accept an Ogg that lacks only its end mark, with a warning.

    Raises:
        AudioError: not found, not readable, a folder, empty, not audio, no audio track, truncated.
    """
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        file = _open(path)
        try:
            return _reader(file, str(path), lenient, owned=True)
        except BaseException:
            file.close()
            raise
    check_binary_file(source, "read")
    name = str(getattr(source, "name", "") or "input")
    if not source.seekable():
        source = io.BytesIO(source.read())
    return _reader(source, name, lenient, owned=False)


def _open(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise AudioError(f"{path}: is a folder; name a recording in it")
        if kind := special_kind(path):
            raise AudioError(f"{path}: is {kind}; save the recording to a file, and give that")
        return open(path, "rb")
    except FileNotFoundError:
        raise AudioError(f"{path}: does not exist; check the name") from None
    except PermissionError:
        raise AudioError(f"{path}: may not be read; ask its owner for permission") from None
    except (OSError, ValueError) as error:
        raise AudioError(f"{path}: cannot be opened ({error}); check the name") from None


def _reader(file: BinaryIO, name: str, lenient: bool, owned: bool) -> Reader:
    from voicenym.audio.container_files import truncation

    size = file.seek(0, 2)
    if not size:
        raise AudioError(f"{name}: is empty (0 bytes); get a whole copy of the recording")
    file.seek(0)
    head = file.read(64)
    riff = head[:4] in (b"RIFF", b"RF64", b"BW64") and head[8:12] == b"WAVE"
    warning = None if riff else truncation.check(file, name, lenient)
    file.seek(0)
    source = _source(file, name, size, head, riff)
    try:
        _check_form(source, name)
    except AudioError:
        source.close()
        raise
    return Reader(source, file if owned else None, name, (warning,) if warning else ())


def _check_form(source: _Source, name: str) -> None:
    """Refuses forms that no recorder makes, which would fill the memory or need years."""
    if not LEAST_RATE <= source.rate <= MOST_RATE or source.channels > MOST_CHANNELS:
        raise AudioError(
            f"{name}: says that it has {counted(source.channels, 'channel')} at {source.rate} "
            "Hz; up to "
            f"{MOST_CHANNELS} channels at {LEAST_RATE} to {MOST_RATE} Hz are read: convert it first"
        )


def _source(file: BinaryIO, name: str, size: int, head: bytes, riff: bool) -> _Source:
    # each library is loaded when a recording needs it: PyAV alone takes a tenth of a second
    if riff:
        from voicenym.audio.sources.wav_reader import WavSource

        wav = WavSource(file, name)
        if wav.codec is not None:
            return wav
        file.seek(0)
    if riff or head[:4] == b"fLaC" or (head[:4] == b"OggS" and b"\x01vorbis" in head):
        import soundfile

        from voicenym.audio.container_files.ogg_pages import links
        from voicenym.audio.sources.chained_vorbis import ChainedVorbis
        from voicenym.audio.sources.sndfile_source import SndfileSource

        try:
            if head[:4] == b"OggS" and len(chain := links(file)) > 1:
                return ChainedVorbis(file, name, chain)
            file.seek(0)
            return SndfileSource(file, name, size)
        except (soundfile.LibsndfileError, RuntimeError):
            file.seek(0)  # FLAC of an unusual kind: ffmpeg may know it
    from voicenym.audio.container_files import container_detection
    from voicenym.audio.container_files.mp4_boxes import promises_too_much
    from voicenym.audio.sources.av_source import AvSource

    demuxer = container_detection.demuxer(file)
    if demuxer is None:
        raise AudioError(
            f"{name}: is not a recording that can be read, or is damaged; "
            f"check that it plays, and get a whole copy or convert it to WAV or FLAC"
        )
    if demuxer == "mov" and promises_too_much(file, size):
        raise AudioError(
            f"{name}: promises more sound or picture than its {size} bytes can hold, so it is "
            f"damaged or made to do harm; get a whole copy of the recording"
        )
    return AvSource(file, name, size, demuxer)
