"""Anonymizes one file block by block; memory does not grow with its length."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from voicenym.anonymizer import BLOCK_SECONDS, Anonymizer, Refusal, Stream
from voicenym.audio import Reader, Writer, open_reader, open_writer
from voicenym.corpus import recording_checks
from voicenym.corpus.batches.fallback import refused
from voicenym.corpus.plans.output_target import check_target
from voicenym.corpus.recording_checks import Level
from voicenym.dsp.speech_presence import LevelModulation
from voicenym.errors import AudioError
from voicenym.pseudonym import Pseudonym

if TYPE_CHECKING:
    from voicenym.corpus.nearness.near_original import NearOriginalCheck

IN_SYNC = "has a picture, so that the speaker's timing is kept, which attackers can use"
HASH_BYTES = 1 << 20
HOUR = 3600
MOST_SAMPLES = 1 << 25
"""Samples of all channels of a block: 128 MiB."""

Source = str | os.PathLike[str] | BinaryIO
Progress = Callable[[float], None]
Edit = Callable[[Reader], Reader]


@dataclass(frozen=True)
class Result:
    """Outcome of one recording.

    Args:
        duration: in seconds.
        rate: sample rate in Hz.
        channels: number of channels.
        sha256: of the output file, in hex; ``None`` for a stream.
        warnings: for the user, each a sentence.
        refusal: of the system, where the fall-back made the output.
    """

    duration: float
    rate: int
    channels: int
    sha256: str | None
    warnings: tuple[str, ...]
    refusal: Refusal | None = None


def sha256_of(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a regular file, in hex.

    Raises:
        OSError: it cannot be read, or is a pipe or a device, which may never end.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "is no regular file", os.fspath(path))
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(HASH_BYTES):
            digest.update(data)
    return digest.hexdigest()


def anonymize_file(
    system: Anonymizer,
    pseudonym: Pseudonym,
    source: Source,
    target: str | os.PathLike[str] | BinaryIO,
    *,
    name: str | None = None,
    overwrite: bool = False,
    lenient: bool = False,
    progress: Progress | None = None,
    fallback: Anonymizer | None = None,
) -> Result:
    """Anonymizes one recording into a file that appears only when it is complete.

    Its arguments are those of :func:`anonymize_unnamed`.

    Raises:
        RefusedError, AudioError: as there; nothing is written then.
    """
    return anonymize_unnamed(
        system,
        pseudonym,
        source,
        target,
        name=name,
        overwrite=overwrite,
        lenient=lenient,
        progress=progress,
        fallback=fallback,
    ).commit()


@dataclass(frozen=True)
class Unnamed:
    """A complete output that is not on the disk yet and has no name."""

    writer: Writer
    target: str | os.PathLike[str] | BinaryIO
    result: Result

    def commit(self) -> Result:
        """Flushes the output to the disk and gives it its name, as any thread.

        Raises:
            AudioError: it cannot be written; nothing is there then.
        """
        self.writer.commit()
        if not isinstance(self.target, (str, os.PathLike)):
            return self.result
        return replace(self.result, sha256=sha256_of(self.target))

    def taken(self) -> bytes:
        """Content of the output, instead of a file: nothing is flushed to the disk or named."""
        return self.writer.taken()


def anonymize_unnamed(
    system: Anonymizer,
    pseudonym: Pseudonym,
    source: Source,
    target: str | os.PathLike[str] | BinaryIO,
    *,
    name: str | None = None,
    overwrite: bool = False,
    lenient: bool = False,
    progress: Progress | None = None,
    fallback: Anonymizer | None = None,
    edit: Edit = lambda reader: reader,
) -> Unnamed:
    """Anonymizes one recording into a file that its caller gives its name.

    Args:
        system: the anonymizer.
        pseudonym: of the new voice.
        source: a path, or a binary file that can be read from its start again.
        target: a path, or a binary file.
        name: of the source in messages; default: its path, or "standard input".
        overwrite: whether an existing target may be replaced.
        lenient: accept silent, clipped and very short recordings, and an Ogg without an end.
        progress: called with the seconds done after each block.
        fallback: the anonymizer of a recording that the system refuses; None: that is an error.
        edit: from an open reader to one of edited sound, which is anonymized instead.

    Raises:
        RefusedError: the system refuses the recording, and there is no fall-back, or it refuses it
            too; nothing is written then.
        AudioError: a faulty recording or target, or an output that is nearly its input; nothing is
            written then.
    """
    name = name or _name(source)
    if isinstance(target, (str, os.PathLike)):
        check_target(source, target, overwrite)
    if not isinstance(source, (str, os.PathLike)):
        source.seek(0)
    profile = _profile(system, pseudonym, source, lenient, edit) if system.reads_ahead else None
    refusal = system.refusal(profile)
    if refusal is not None:
        if fallback is None:
            raise refused(name, refusal)
        instead = anonymize_unnamed(
            fallback,
            pseudonym,
            source,
            target,
            name=name,
            overwrite=overwrite,
            lenient=lenient,
            progress=progress,
            edit=edit,
        )
        return replace(instead, result=replace(instead.result, refusal=refusal))
    level = Level()
    if not isinstance(source, (str, os.PathLike)):
        source.seek(0)
    with edit(open_reader(source, lenient=lenient)) as reader:
        rate, channels = reader.rate, reader.channels
        level.movement = LevelModulation(rate)
        picture = _again(source) if reader.has_picture else None
        used = system if picture is None else system.in_sync()
        stream = used.stream(pseudonym, rate, channels, profile)
        length_ratio = _length_ratio(
            stream, name, system.card.name, rate, channels, picture is not None
        )
        # here, because a process that only starts workers does without torch
        from voicenym.corpus.nearness.near_original import NearOriginalCheck

        check = NearOriginalCheck(used, name, rate, channels, length_ratio)
        writer = open_writer(
            target, reader.format, rate, channels, picture=picture, overwrite=overwrite
        )
        import torch

        with _aborted_by_errors(writer), torch.inference_mode():
            _anonymize_blocks(reader, stream, writer, level, check, progress)
            # checked when the whole recording is decoded and before the file gets its name.
            warnings = (
                *reader.warnings,
                *recording_checks.verdict(name, level, rate, lenient),
                *recording_checks.changes(name, reader, writer, level.frames),
                *([] if used is system else [f"{name}: {IN_SYNC}"]),
                *(f"{name}: {text}" for text in stream.warnings),
            )
            check.finish()
            writer.finish()
    result = Result(level.frames / rate, rate, channels, None, warnings)
    return Unnamed(writer, target, result)


def _anonymize_blocks(
    reader: Reader,
    stream: Stream,
    writer: Writer,
    level: Level,
    check: NearOriginalCheck,
    progress: Progress | None,
) -> None:
    """Writes what a stream makes of a whole recording; level and check get what passes."""
    import torch

    size, ended = block_size(reader.rate, reader.channels), False
    for block in reader.blocks(size):
        level.push(block)
        check.push_input(block)
        ended = block.shape[1] < size  # only the last block is shorter
        give = stream.finish if ended else stream.push
        made = give(torch.from_numpy(block))
        check.push_output(made)
        writer.write(made)
        if progress is not None:
            progress(level.frames / reader.rate)
    if not ended:
        made = stream.flush()
        check.push_output(made)
        writer.write(made)


def _length_ratio(
    stream: Stream, name: str, system: str, rate: int, channels: int, has_picture: bool
) -> float:
    """Length of an output over that of its input, the same in all channels.

    Args:
        stream: that makes the output.
        name: of the recording, for errors.
        system: its name, for errors.
        rate: in Hz.
        channels: their number.
        has_picture: whether the recording is a film.

    Raises:
        AudioError: a picture or other channels would lose step with the sound.
    """
    hour = [rate * HOUR] * channels
    lengths = stream.lengths(hour)
    if has_picture and lengths != hour:
        raise AudioError(
            f"{name}: has a picture, and {system} is set to change how fast the "
            "sound runs, which would part the two; leave out --set rate=true"
        )
    if len(set(lengths)) > 1:
        raise AudioError(
            f"{name}: has {channels} channels, and {system} is set to draw how long "
            "their sounds last, which would part them; leave out --set timing=drawn, or give "
            "each channel as a file of its own"
        )
    return max(lengths) / hour[0]


@contextmanager
def _aborted_by_errors(writer: Writer) -> Iterator[None]:
    """Context manager in which an error removes the partial output."""
    try:
        yield
    except BaseException:
        writer.abort()
        raise


def _again(source: Source) -> str | os.PathLike[str] | BinaryIO:
    """The source opened again, with a read position of its own."""
    if isinstance(source, (str, os.PathLike)):
        return source
    if isinstance(source, io.BytesIO):
        return io.BytesIO(source.getvalue())  # the bytes are shared
    place = source.tell()
    source.seek(0)
    copy = io.BytesIO(source.read())
    source.seek(place)
    return copy


def block_size(rate: int, channels: int) -> int:
    """Samples per channel of a block; fewer for very many channels or very high rates."""
    return max(1, min(round(BLOCK_SECONDS * rate), MOST_SAMPLES // channels))


def _profile(
    system: Anonymizer, pseudonym: Pseudonym, source: Source, lenient: bool, edit: Edit
) -> object:
    import torch

    with edit(open_reader(source, lenient=lenient)) as reader, torch.inference_mode():
        profiling = system.profiling(reader.rate, reader.channels, pseudonym=pseudonym)
        for block in reader.blocks(block_size(reader.rate, reader.channels)):
            profiling.push(torch.from_numpy(block))
        return profiling.result()


def _name(source: Source) -> str:
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else "standard input"
