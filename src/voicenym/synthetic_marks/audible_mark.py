"""An audible mark: two soft tones at the start of a recording and at intervals, over its sound."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from voicenym.audio import open_reader, open_writer
from voicenym.corpus.batches.single_file import block_size
from voicenym.corpus.plans.output_target import check_target
from voicenym.errors import VoicenymError

TONES = (880.0, 1320.0)
"""Frequencies in Hz, one after the other; both pass a telephone."""
TONE_SECONDS, FADE_SECONDS = 0.15, 0.02
AMPLITUDE = 0.06
"""-24 dB of full scale: heard beside speech, without covering it."""
EVERY = 60.0
"""Seconds from mark to mark unless told otherwise."""
LEAST_EVERY = 1.0

Samples = npt.NDArray[np.float32]


@lru_cache(maxsize=8)
def mark(rate: int) -> Samples:
    """The mark ``[time]`` at a sample rate in Hz; a telephone's 8 kHz is enough."""
    size = round(TONE_SECONDS * rate)
    time = np.arange(size) / rate
    fade = np.minimum(1.0, np.minimum(time, time[::-1]) / FADE_SECONDS)
    shape = AMPLITUDE * np.sin(0.5 * math.pi * fade) ** 2
    return np.concatenate([shape * np.sin(2 * math.pi * f * time) for f in TONES]).astype("f4")


def added(block: Samples, first: int, rate: int, every: float = EVERY) -> Samples:
    """A block with the marks that fall on it.

    Args:
        block: ``[channel, time]``.
        first: index of its first sample in the recording.
        rate: in Hz.
        every: seconds from the start of a mark to that of the next.
    """
    tone, period = mark(rate), round(every * rate)
    place = (first + np.arange(block.shape[1])) % period
    inside = place < len(tone)
    if not inside.any():
        return block
    result = block.copy()
    result[:, inside] += tone[place[inside]]
    return np.clip(result, -1.0, 1.0)


def write_marked(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    every: float = EVERY,
    *,
    overwrite: bool = False,
) -> None:
    """Writes a recording with audible marks; container, codec, rate and channels are kept.

    Args:
        source: the recording.
        target: the output, which appears when it is complete.
        every: seconds from mark to mark, at least :data:`LEAST_EVERY`.
        overwrite: whether an existing target may be replaced.

    Raises:
        AudioError: a faulty recording or target; nothing is written then.
        VoicenymError: too short an interval.
    """
    if not every >= LEAST_EVERY:
        raise VoicenymError(f"marks every {every:g} s; give {LEAST_EVERY:g} s or more")
    check_target(source, target, overwrite)
    with open_reader(source) as reader:
        picture = source if reader.has_picture else None
        with open_writer(
            target, reader.format, reader.rate, reader.channels, picture=picture,
            overwrite=overwrite,
        ) as writer:  # fmt: skip
            for block in _marked(reader.blocks(block_size(reader.rate, reader.channels)),
                                 reader.rate, every):  # fmt: skip
                writer.write(block)


def _marked(blocks: Iterator[Samples], rate: int, every: float) -> Iterator[Samples]:
    first = 0
    for block in blocks:
        yield added(block, first, rate, every)
        first += block.shape[1]
