"""Signal of a recording at 16 kHz, block by block, for analysis."""

from __future__ import annotations

import os
from collections.abc import Iterator

import torch

from voicenym.audio import open_reader
from voicenym.dsp.downmix import downmix
from voicenym.dsp.resampling import RateChanger

RATE = 16_000
BLOCK_SECONDS = 20.0


def channels_of(
    path: str | os.PathLike[str], *, lenient: bool = False, rate: int = RATE
) -> Iterator[torch.Tensor]:
    """Blocks ``[channel, time]`` of a recording at ``rate``, from its beginning.

    Raises:
        AudioError: as :func:`voicenym.audio.open_reader`.
    """
    with open_reader(path, lenient=lenient) as reader:
        changer = RateChanger(reader.rate, rate, reader.channels)
        for block in reader.blocks(max(1, round(BLOCK_SECONDS * reader.rate))):
            yield changer.push(torch.from_numpy(block))
        yield changer.flush()


def mono(path: str | os.PathLike[str], *, lenient: bool = False) -> Iterator[torch.Tensor]:
    """Blocks ``[time]`` of a recording at 16 kHz, whose channels are averaged
    (:mod:`voicenym.dsp.downmix`).
    """
    for block in channels_of(path, lenient=lenient):
        yield torch.from_numpy(downmix(block.numpy()))


def seconds_of(path: str | os.PathLike[str], *, lenient: bool = False) -> float:
    """Length of a recording in seconds, by its samples and not by its header."""
    with open_reader(path, lenient=lenient) as reader:
        size = max(1, round(BLOCK_SECONDS * reader.rate))
        frames: int = sum(block.shape[1] for block in reader.blocks(size))
        return frames / reader.rate
