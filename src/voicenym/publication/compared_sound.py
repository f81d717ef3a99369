"""Sound of a file and of its original, brought to one rate, and the correlation of both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from voicenym.audio import open_reader
from voicenym.corpus.recording import Recording
from voicenym.corpus.sample_correlation import SampleCorrelation
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


def sample_correlation(one: Sound, other: Sound) -> float:
    """Largest magnitude of the correlation of samples of a channel; 0 for silence.

    Args:
        one, other: of one rate and number of channels; the longer one is cut.
    """
    correlation = SampleCorrelation(one.channels)
    for block, after in zip_longest(one.blocks, other.blocks):
        if block is not None:
            correlation.push_input(block)
        if after is not None:
            correlation.push_output(after)
    correlation.finish()
    return max(abs(found) if math.isfinite(found) else 0.0 for found in correlation.found)
