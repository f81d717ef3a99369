"""Anonymizes one file block by block; memory does not grow with its length."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from voicenym.anonymizer import BLOCK_SECONDS, Anonymizer, Refusal
from voicenym.audio import Reader, Writer, open_reader, open_writer
from voicenym.corpus.fallback import refused
from voicenym.dsp.speech_presence import LevelModulation
from voicenym.errors import AudioError
from voicenym.pseudonym import Pseudonym

SHORTEST_SECONDS = 0.020
"""Duration of one analysis window; a shorter recording holds no speech to anonymize."""
FULL_SCALE = 0.999
MOST_CLIPPED = 0.10
"""Share of samples at full scale above which a recording is refused."""
SOME_CLIPPED = 0.001
"""Share of samples at full scale above which a warning is given."""
IN_SYNC = "has a picture, so that the speaker's timing is kept, which attackers can use"
HASH_BYTES = 1 << 20
HOUR = 3600
MOST_SAMPLES = 1 << 25
"""Samples of all channels of a block: 128 MiB."""

Source = str | os.PathLike[str] | BinaryIO
Progress = Callable[[float], None]


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


@dataclass
class _Level:
    """Statistics of a signal for the checks, accumulated block by block."""

    samples: int = 0
    clipped: int = 0
    loudest: float = 0.0
    frames: int = 0
    movement: LevelModulation | None = None

    def push(self, block: np.ndarray) -> None:
        if self.movement is not None:
            self.movement.push(block)
        magnitude = np.abs(block)
        self.samples += block.size
        self.frames += block.shape[1]
        self.clipped += int((magnitude >= FULL_SCALE).sum())
        self.loudest = max(self.loudest, float(magnitude.max(initial=0.0)))


def sha256_of(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file, in hex."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(HASH_BYTES):
            digest.update(data)
    return digest.hexdigest()


def same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths are the same file, also through links."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return Path(one).resolve() == Path(other).resolve()


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

    Raises:
        RefusedError: the system refuses the recording, and there is no fall-back, or it refuses it
            too; nothing is written then.
        AudioError: a faulty recording or target, or an output that is nearly its input; nothing is
            written then.
    """
    name = name or _name(source)
    if isinstance(target, (str, os.PathLike)):
        _check_target(source, target, overwrite)
    if not isinstance(source, (str, os.PathLike)):
        source.seek(0)
    profile = _profile(system, source, lenient) if system.needs_profile else None
    refusal = system.refusal(profile)
    if refusal is not None:
        if fallback is None:
            raise refused(name, refusal)
        instead = anonymize_file(
            fallback,
            pseudonym,
            source,
            target,
            name=name,
            overwrite=overwrite,
            lenient=lenient,
            progress=progress,
        )
        return replace(instead, refusal=refusal)
    level = _Level()
    if not isinstance(source, (str, os.PathLike)):
        source.seek(0)
    with open_reader(source, lenient=lenient) as reader:
        rate, channels = reader.rate, reader.channels
        level.movement = LevelModulation(rate)
        picture = _again(source) if reader.has_picture else None
        used = system if picture is None else system.in_sync()
        stream = used.stream(pseudonym, rate, channels, profile)
        hour = [rate * HOUR] * channels
        lengths = stream.lengths(hour)
        if picture is not None and lengths != hour:
            raise AudioError(
                f"{name}: has a picture, and {system.card.name} is set to change how fast the "
                "sound runs, which would part the two; leave out --set rate=true"
            )
        # here, because a process that only starts workers does without torch
        from voicenym.corpus.near_original import NearOriginalCheck

        check = NearOriginalCheck(used, name, rate, channels, max(lengths) / hour[0])
        writer = open_writer(
            target, reader.format, rate, channels, picture=picture, overwrite=overwrite
        )
        import torch

        with writer, torch.inference_mode():
            size, ended = _block_size(rate, channels), False
            for block in reader.blocks(size):
                level.push(block)
                check.push_input(block)
                ended = block.shape[1] < size  # only the last block is shorter
                give = stream.finish if ended else stream.push
                made = give(torch.from_numpy(block))
                check.push_output(made)
                writer.write(made)
                if progress is not None:
                    progress(level.frames / rate)
            if not ended:
                made = stream.flush()
                check.push_output(made)
                writer.write(made)
            # checked when the whole recording is decoded and before the file gets its name.
            warnings = (
                *reader.warnings,
                *_verdict(name, level, rate, lenient),
                *_changed(name, reader, writer, level.frames),
                *([] if used is system else [f"{name}: {IN_SYNC}"]),
                *(f"{name}: {text}" for text in stream.warnings),
            )
            check.finish()
    digest = sha256_of(target) if isinstance(target, (str, os.PathLike)) else None
    return Result(level.frames / rate, rate, channels, digest, warnings)


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


def _block_size(rate: int, channels: int) -> int:
    """Samples per channel of a block; fewer for very many channels or very high rates."""
    return max(1, min(round(BLOCK_SECONDS * rate), MOST_SAMPLES // channels))


def _profile(system: Anonymizer, source: Source, lenient: bool) -> object:
    import torch

    with open_reader(source, lenient=lenient) as reader, torch.inference_mode():
        profiling = system.profiling(reader.rate, reader.channels)
        for block in reader.blocks(_block_size(reader.rate, reader.channels)):
            profiling.push(torch.from_numpy(block))
        return profiling.result()


def _name(source: Source) -> str:
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else "standard input"


def _check_target(source: Source, target: str | os.PathLike[str], overwrite: bool) -> None:
    if isinstance(source, (str, os.PathLike)) and same_file(source, target):
        raise AudioError(
            f"{os.fspath(target)}: the output is the input itself; choose another name with -o, "
            "so that the original is never replaced"
        )
    if Path(target).is_dir():
        raise AudioError(f"{os.fspath(target)}: is a folder; give a file name with -o")
    if not overwrite and os.path.lexists(target):
        raise AudioError(
            f"{os.fspath(target)}: exists already; add --overwrite to replace it, or choose "
            "another name with -o"
        )


def _changed(name: str, reader: Reader, writer: Writer, frames: int) -> tuple[str, ...]:
    """Properties of the recording's format that the output could not keep."""
    before, after = reader.format, writer.format
    changes = []
    # another container has its own default codec
    if before.container == after.container and before.codec != after.codec:
        changes.append(f"{before.codec} as {after.codec}")
    if writer.stored_rate != writer.rate:
        changes.append(f"{writer.rate} Hz as {writer.stored_rate} Hz")
    warnings = []
    if changes:
        warnings.append(f"{name}: stored {' and '.join(changes)}: no encoder keeps it here")
    if silence := writer.surplus(frames):
        warnings.append(
            f"{name}: {1000 * silence / writer.stored_rate:.0f} ms of silence follow the sound: "
            f".aac cannot say where it ends; .m4a can"
        )
    return tuple(warnings)


def _verdict(name: str, level: _Level, rate: int, lenient: bool) -> tuple[str, ...]:
    """Warnings about a recording, or an :class:`AudioError` if it is unfit for anonymization."""
    problems = []
    if level.frames < SHORTEST_SECONDS * rate:
        problems.append(
            f"lasts {1000 * level.frames / rate:.0f} ms, less than one window of "
            f"{1000 * SHORTEST_SECONDS:.0f} ms; join it with its neighbours"
        )
    elif level.loudest == 0.0:
        problems.append("is silent from start to end; check that the right track was recorded")
    share = level.clipped / max(1, level.samples)
    if share >= MOST_CLIPPED:
        problems.append(
            f"is clipped: {100 * share:.0f} % of its samples are at full scale; record it again "
            "at a lower level"
        )
    if problems and not lenient:
        raise AudioError(f"{name}: {problems[0]}, or add --lenient to anonymize it as it is")
    warnings = [f"{name}: {problem}" for problem in problems]
    if level.loudest and level.movement is not None and level.movement.speechless():
        warnings.append(
            f"{name}: no speech was found in it, so nothing to anonymize: its level hardly moves; "
            "check that the right track was recorded"
        )
    if SOME_CLIPPED <= share < MOST_CLIPPED:
        warnings.append(
            f"{name}: {100 * share:.1f} % of the samples are clipped; expect distortion"
        )
    return tuple(warnings)
