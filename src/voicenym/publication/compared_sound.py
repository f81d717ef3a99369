"""Sound of a file and of its original, brought to one rate, and the correlation of both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.audio import open_reader
from voicenym.corpus.recording import Recording
from voicenym.errors import AudioError

BLOCK = 1 << 16
"""Samples per channel that are read at a time."""


@dataclass(frozen=True)
class Sound:
    """Blocks ``[channel, time]`` of a recording, with its rate in Hz."""

    blocks: Sequence[np.ndarray]
    rate: int

    @property
    def seconds(self) -> float:
        return float(sum(block.shape[1] for block in self.blocks) / self.rate)

    @property
    def channels(self) -> int:
        return int(self.blocks[0].shape[0])

    @property
    def level(self) -> float:
        """Root mean square in dB below full scale; -200 for digital silence."""
        count = sum(block.size for block in self.blocks)
        energy = sum(float(np.square(block, dtype=np.float64).sum()) for block in self.blocks)
        return 10 * math.log10(max(energy / max(count, 1), 1e-20))

    def as_of(self, other: Sound) -> Sound:
        """The same sound at the rate of another; mono if numbers of channels differ."""
        if (self.rate, self.channels) == (other.rate, other.channels):
            return self
        import soxr

        whole = np.concatenate(self.blocks, axis=1)
        if self.channels != other.channels:
            whole = np.repeat(whole.mean(0, keepdims=True), other.channels, 0)
        changed = soxr.resample(whole.T, self.rate, other.rate).T.astype(np.float32)
        return Sound(tuple(_split(changed)), other.rate)


def _split(samples: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, samples.shape[1], BLOCK):
        yield samples[:, start : start + BLOCK]


def sound(recording: Recording) -> Sound:
    """The sound of a recording, also of a part of a file.

    Raises:
        AudioError: it cannot be read, or is the output of a command.
    """
    if recording.command:
        raise AudioError(
            f"{recording.name}: its wav.scp names a command; give a corpus of files, as voicenym "
            "anonymize writes it"
        )
    with open_reader(recording.path) as reader:
        blocks, rate = [np.asarray(block) for block in reader.blocks(BLOCK)], reader.rate
    if recording.start or recording.end is not None:
        stop = None if recording.end is None else round(recording.end * rate)
        part = np.concatenate(blocks, axis=1)[:, round(recording.start * rate) : stop]
        blocks = list(_split(part))
    if not blocks:
        raise AudioError(f"{recording.path}: {recording.name} lies outside of it; mend the table")
    return Sound(tuple(blocks), rate)


def aligned_correlation(one: Sound, other: Sound) -> float:
    """Magnitude of the correlation of samples without a shift; 0 for silence.

    The comparison of law 8 is by segments of about a second; this one also finds a copy that is
    shorter, or a steady sound.

    Args:
        one, other: of one rate and number of channels; the longer one is cut.
    """
    length = round(min(one.seconds, other.seconds) * one.rate)
    pairs = zip(_aligned(one.blocks, length), _aligned(other.blocks, length), strict=True)
    products = np.zeros(3)
    for x, y in pairs:
        products += [np.vdot(x, y), np.vdot(x, x), np.vdot(y, y)]
    return float(abs(products[0]) / max(math.sqrt(products[1] * products[2]), 1e-20))


def _aligned(blocks: Sequence[np.ndarray], length: int) -> Iterator[np.ndarray]:
    """Blocks of equal size ``[channel, time]`` in float64, of the first samples only."""
    left = length
    for block in blocks:
        part = block[:, :left].astype(np.float64)
        left -= part.shape[1]
        if part.size:
            yield part
