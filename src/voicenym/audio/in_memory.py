"""Recordings in memory: :func:`read` and :func:`write`."""

from __future__ import annotations

import os
from typing import BinaryIO

import numpy as np

from voicenym.audio.given_audio import checked_audio, checked_samples
from voicenym.audio.reader import open_reader
from voicenym.audio.types import Audio
from voicenym.audio.writer import open_writer
from voicenym.errors import AudioError

MAX_BYTES = 8 << 30
_BLOCK = 1 << 18


def read(
    source: str | os.PathLike[str] | BinaryIO, max_bytes: int = MAX_BYTES, *, lenient: bool = False
) -> Audio:
    """Read a recording.

    Args:
        source: a path, or a binary file object.
        max_bytes: of samples in memory, at 4 bytes each; more is refused.
        lenient: accept an Ogg that lacks only its end mark, as from some live recorders.

    Returns:
        Audio with float32 samples ``[channel, time]``, or ``[time]`` for one channel.

    Raises:
        AudioError: not a recording, damaged, or longer than ``max_bytes``.
    """
    import torch

    with open_reader(source, lenient=lenient) as reader:
        parts, size = [], 0
        for block in reader.blocks(_BLOCK):
            size += block.nbytes
            if size > max_bytes:
                raise AudioError(
                    f"{reader.name}: is too long to be held in memory; go through it with "
                    f"open_reader, or use the command line, which does"
                )
            parts.append(block)
        samples = torch.from_numpy(np.concatenate(parts, axis=1))
        return Audio(samples[0] if reader.channels == 1 else samples, reader.rate, reader.format)


def write(
    path: str | os.PathLike[str] | BinaryIO, audio: Audio, *, overwrite: bool = False
) -> None:
    """Writes a recording without metadata; the file gets its name when it is complete.

    Args:
        path: its extension determines the container; or a binary file object, with
            ``audio.format``.
        audio: ``audio.format`` determines codec, bits and bit rate if the container supports them.
        overwrite: whether a file of that name may be replaced.

    Raises:
        AudioError: exists already, unknown extension, cannot be written; or samples that are no
            floats ``[time]`` or ``[channel, time]``.
    """
    samples = checked_samples(checked_audio(audio).samples).numpy()
    with open_writer(path, audio.format, audio.rate, len(samples), overwrite=overwrite) as writer:
        for start in range(0, samples.shape[1], _BLOCK):
            writer.write(samples[:, start : start + _BLOCK])
