"""Opens any container for writing block by block; the file appears when it is complete."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import numpy as np

from voicenym.audio import pcm
from voicenym.audio.atomic import AtomicFile, write_failed
from voicenym.audio.closeable import Closing
from voicenym.audio.container_files.containers import (
    CONTAINERS,
    PICTURE_CONTAINERS,
    container_of,
    target,
)
from voicenym.audio.given_audio import check_binary_file, checked_rate
from voicenym.audio.types import Format
from voicenym.errors import AudioError
from voicenym.temporary import temporary_directory

if TYPE_CHECKING:
    import torch


class _Sink(Protocol):
    def write(self, block: pcm.Block) -> None: ...
    def finish(self) -> None: ...
    def close(self) -> None: ...


class Writer(Closing):
    """An open output recording, made by :func:`open_writer`; a context manager.

    Leaving the context completes the file; an exception removes the partial file.

    Attributes:
        format: of its storage, the source's if the container supports it.
        rate: sample rate of the blocks, in Hz.
        channels: of the blocks.
    """

    def __init__(
        self,
        make: Callable[[Path], _Sink],
        file: AtomicFile | None,
        stream: BinaryIO | None,
        format: Format,
        rate: int,
        channels: int,
        name: str,
    ) -> None:
        self.format, self.rate, self.channels, self.name = format, rate, channels, name
        self._file = file
        self._stream = stream
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if file is not None:
            path = file.temporary
        else:
            self._folder = temporary_directory()
            path = Path(self._folder.name) / "output"
        self._path = path
        self._sink: _Sink | None = None
        try:
            self._sink = make(path)
        except BaseException as error:
            self.abort()
            if isinstance(error, AudioError):
                raise AudioError(f"{name}: {error}") from None
            raise self._failed(error) from error

    def _failed(self, error: BaseException) -> BaseException:
        if not isinstance(error, Exception):
            return error
        if isinstance(error, AudioError):
            return error if self.name in str(error) else AudioError(f"{self.name}: {error}")
        return write_failed(self.name, error)

    @property
    def stored_rate(self) -> int:
        """Stored rate in Hz: ``rate``, unless the codec does not support it."""
        return int(getattr(self._sink, "stored_rate", self.rate))

    def surplus(self, frames: int) -> int:
        """Samples of silence that the container adds to ``frames`` samples, at the stored rate."""
        added = getattr(self._sink, "surplus", None)
        return 0 if added is None else int(added(frames * self.stored_rate // self.rate))

    def write(self, block: np.ndarray[Any, Any] | torch.Tensor) -> None:
        """Appends samples.

        Args:
            block: ``[channel, time]``, or ``[time]`` for one channel; floats in [-1, 1]; values
                beyond are clipped if the codec cannot hold them.

        Raises:
            AudioError: another number of channels, NaN or infinity, disk full.
        """
        samples = np.asarray(block, dtype=np.float32)
        samples = samples.reshape(-1, samples.shape[-1]) if samples.ndim < 2 else samples
        if samples.ndim != 2 or samples.shape[0] != self.channels:
            raise AudioError(
                f"{self.name}: blocks need the shape [{self.channels}, time], "
                f"not {list(samples.shape)}"
            )
        pcm.check_finite(samples, self.name)
        assert self._sink is not None
        if not samples.shape[1]:
            return
        try:
            self._sink.write(samples)
        except Exception as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Completes the file and gives it its name."""
        self.finish()
        self.commit()

    def finish(self) -> None:
        """Writes what is left; the file is complete, but for its name."""
        assert self._sink is not None
        try:
            self._sink.finish()
            self._sink = None
        except BaseException as error:
            self.abort()
            raise self._failed(error) from error

    def commit(self) -> None:
        """Flushes the finished file to the disk and gives it its name; may be another thread's."""
        try:
            if self._file is not None:
                self._file.commit()
            elif self._stream is not None:
                with open(self._path, "rb") as whole:
                    shutil.copyfileobj(whole, self._stream)
                self._stream.flush()
        except BaseException as error:
            self.abort()
            raise self._failed(error) from error
        self.abort()

    def taken(self) -> bytes:
        """Content of the finished file, which gets no name and is not flushed to the disk."""
        try:
            return self._path.read_bytes()
        finally:
            self.abort()

    def abort(self) -> None:
        """Removes the partial file, unless it already has its name."""
        try:
            if self._sink is not None:
                self._sink.close()
        except Exception:
            pass
        finally:
            self._sink = None
            if self._file is not None:
                self._file.discard()
            if self._folder is not None:
                self._folder.cleanup()


def open_writer(
    path: str | os.PathLike[str] | BinaryIO,
    format: Format | None,
    rate: int,
    channels: int,
    *,
    picture: str | os.PathLike[str] | BinaryIO | None = None,
    overwrite: bool = False,
) -> Writer:
    """Opens a recording for writing; the extension of ``path`` determines its container.

    Args:
        path: the file, or a binary file object (then the container is that of ``format``).
        format: of the source; codec, bits and bit rate are kept if the container supports them.
        rate: sample rate of the blocks, in Hz.
        channels: of the blocks.
        picture: a film whose picture is copied, not encoded anew, without any of its metadata.
        overwrite: whether a file of that name may be replaced.

    Raises:
        AudioError: exists already, unknown extension, cannot be written, too many channels.
    """
    rate = checked_rate(rate)
    if channels < 1:
        raise AudioError(f"cannot write {channels} channels; there must be 1 at least")
    if isinstance(path, (str, os.PathLike)):
        place = Path(path)
        name = str(place)
        chosen = target(container_of(place, name), place.suffix.lower(), format)
        if isinstance(picture, (str, os.PathLike)) and _same(place, Path(picture)):
            raise AudioError(f"{name}: is the film itself; choose another name for the output")
        stream = None
    else:
        check_binary_file(path, "write")
        name, stream = "output", path
        container = format.container if format is not None else "wav"
        if container not in CONTAINERS:  # a kind that is read and not written
            container = "wav" if picture is None else "matroska"
        chosen = target(container, "", format)
    if picture is not None and chosen.container not in PICTURE_CONTAINERS:
        raise AudioError(
            f"{name}: holds no picture; name an output that ends in .mp4, .mov or .mkv"
        )
    film = Path(picture) if isinstance(picture, (str, os.PathLike)) else picture
    file = AtomicFile(place, overwrite) if stream is None else None
    if isinstance(film, io.IOBase):
        film.seek(0)

    def make(temporary: Path) -> _Sink:
        return _sink(temporary, chosen, rate, channels, film)

    return Writer(make, file, stream, chosen, rate, channels, name)


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _sink(
    path: Path, format: Format, rate: int, channels: int, film: Path | BinaryIO | None
) -> _Sink:
    if format.container in ("wav", "rf64") and format.codec in pcm.PCM_BYTES:
        from voicenym.audio.sinks.wav_sink import WavSink

        return WavSink(path, format.codec, rate, channels, format.container == "rf64")
    if format.container == "flac" or (format.container, format.codec) == ("ogg", "vorbis"):
        from voicenym.audio.sinks.sndfile_sink import SndfileSink

        return SndfileSink(path, format, rate, channels)
    if format.codec == "vorbis":
        from voicenym.audio.sinks.vorbis_sink import VorbisSink

        return VorbisSink(path, format, rate, channels, film)
    from voicenym.audio.sinks.av_sink import AvSink

    return AvSink(path, format, rate, channels, film)
