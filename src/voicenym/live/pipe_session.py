"""Pipe session: PCM samples from one binary file to another through an engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

import numpy

from voicenym.audio.atomic import write_failed
from voicenym.errors import AudioError, VoicenymError, counted
from voicenym.live.live_engine import LiveEngine
from voicenym.live.live_state import State

FORMATS = {"s16le": "<i2", "f32le": "<f4"}
"""Sample formats by the names that ffmpeg and others give them."""


def run_pipe(
    engine: LiveEngine,
    source: BinaryIO,
    target: BinaryIO,
    pcm: str,
    say: Callable[[str], None],
    most: int | None = None,
) -> int:
    """Anonymize PCM block by block; each block is written before the next is read.

    As many samples come out as went in, later by the stream's latency; after the end of the input
    the rest follows. While the engine is silent, zeros come out.

    Args:
        engine: with a margin of 0.
        source: PCM with interleaved channels.
        target: gets PCM of the same kind.
        pcm: name of the format, one of :data:`FORMATS`.
        say: gets each message of the engine.
        most: samples of a channel that are read at most; None for all.

    Returns:
        Number of samples of a channel that were read.

    Raises:
        AudioError: the input is empty, or ends within a sample; or faults left silence in the
            output, which is written to its end all the same; or the output takes no more.
        VoicenymError: the session ended by itself; silence was written until then.
    """
    kind = numpy.dtype(FORMATS[pcm])
    width = kind.itemsize * engine.channels
    engine.work()  # the stream is there before the first sample
    latency = engine.stream_latency  # after a fault at the end there is no stream
    count = written = 0

    def size() -> int:
        """Samples of the next block."""
        return engine.block if most is None else min(engine.block, most - count)

    while len(data := _read(source, size() * width)) == engine.block * width:
        count += engine.block
        written += _through(engine, _decoded(data, kind, engine.channels), target, kind, say)
    rest = len(data) % width
    last = _decoded(data[: len(data) - rest], kind, engine.channels)
    count += len(last)
    if not count:
        raise AudioError("standard input: no sound; pipe PCM samples in")
    missing = count + max(latency, engine.stream_latency) - written
    while missing > 0:
        block = numpy.zeros((engine.block, engine.channels), numpy.float32)
        block[: len(last)] = last
        last = last[:0]
        missing -= _through(engine, block, target, kind, say, missing)
    if rest:
        raise AudioError(
            f"standard input: ends within a sample; is it {pcm} with "
            f"{counted(engine.channels, 'channel')}?"
        )
    status = engine.status()
    if faults := status.failures + status.overloads:
        raise AudioError(
            f"standard input: {counted(faults, 'fault')} left silence in the output, as the "
            "warnings say; "
            "mend the input, choose another system, or leave the machine more time, and run it "
            "again"
        )
    return count


def _through(
    engine: LiveEngine,
    block: numpy.ndarray,
    target: BinaryIO,
    kind: numpy.dtype,
    say: Callable[[str], None],
    most: int | None = None,
) -> int:
    """Write what the engine gives for a block, at most so many samples; returns their number."""
    engine.give(block)
    while engine.work():
        pass
    out = engine.take(len(block))[:most]
    try:
        target.write(_encoded(out, kind))
        target.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise write_failed("standard output", error) from error
    if engine.state is State.ENDED:
        raise VoicenymError(engine.messages.pop())
    while engine.messages:
        say(engine.messages.popleft())
    return len(out)


def _read(source: BinaryIO, size: int) -> bytes:
    """So many bytes, or fewer at the end."""
    parts = []
    while size and (part := source.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _decoded(data: bytes, kind: numpy.dtype, channels: int) -> numpy.ndarray:
    """``[time, channel]`` float32."""
    samples = numpy.frombuffer(data, kind).astype(numpy.float32).reshape(-1, channels)
    return samples / numpy.float32(32768.0) if kind.kind == "i" else samples


def _encoded(samples: numpy.ndarray, kind: numpy.dtype) -> bytes:
    if kind.kind == "i":
        samples = numpy.clip(numpy.round(samples * 32768.0), -32768, 32767)
    return samples.astype(kind).tobytes()
