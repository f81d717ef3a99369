"""How a stored recording is nearly its original: behind silence, at another tempo or another speed.

``voicenym anonymize`` compares an output with its input while it writes it
(:mod:`voicenym.corpus.nearness.near_original`), and knows the tempo. Of two files, nobody says it:
an output of another length may have another tempo, be played at another speed, which moves its
pitch too, or be a copy with silence around it, or a part of one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from voicenym.anonymizer import Anonymizer
from voicenym.corpus.nearness.near_original import Comparison
from voicenym.errors import DependencyError

SAME_SECONDS = 0.05
"""Difference of durations up to which they count as equal: the padding of a codec."""
ALIGNED_SECONDS = 60.0
"""Sound of a recording by which a delay is found."""
LEAST_SHARED = 0.5
"""Share of the shorter sound that must remain beside the other after a delay."""
MOST_SPEED = 2.0
"""Greatest ratio of durations at which a recording may be its original at another speed."""


class StoredSound(Protocol):
    """Sound of a file, which may be read more than once.

    Attributes:
        rate: in Hz.
        channels: of the blocks.
        samples: per channel.
    """

    @property
    def rate(self) -> int: ...

    @property
    def channels(self) -> int: ...

    @property
    def samples(self) -> int: ...

    def blocks(self) -> Iterator[np.ndarray]:
        """Blocks ``[channel, time]``."""


def nearness(original: StoredSound, made: StoredSound, system: Anonymizer | None = None) -> str:
    """How a recording is nearly its original, in words; empty if it is not.

    Args:
        original, made: of one rate and number of channels.
        system: that made it, which may select another comparison; None compares signals alone.
    """
    for tempo, delay in _alignments(original, made):
        if how := _compared(original, made, tempo, delay, system):
            return how
    ratio = made.samples / max(original.samples, 1)
    if same_duration(original, made) or not 1 / MOST_SPEED <= ratio <= MOST_SPEED:
        return ""
    how = _compared(original, _AtSpeed(made, original.samples), 1.0, 0, system)
    return how and f"played at {1 / ratio:.3f} times the speed, {how}"


def _compared(
    original: StoredSound, made: StoredSound, tempo: float, delay: int, system: Anonymizer | None
) -> str:
    """As :func:`nearness`, at one tempo and delay in samples."""
    comparison = Comparison(made.rate, made.channels, tempo, system)
    for is_original, block in _by_turns(original, made, delay):
        if is_original:
            comparison.push_input(block)
        else:
            comparison.push_output(block)
    return comparison.nearness()


@dataclass(frozen=True)
class _AtSpeed:
    """A sound played at the speed that gives it another length.

    Args:
        sound: as it is stored.
        samples: of the result, per channel.
    """

    sound: StoredSound
    samples: int

    @property
    def rate(self) -> int:
        return self.sound.rate

    @property
    def channels(self) -> int:
        return self.sound.channels

    def blocks(self) -> Iterator[np.ndarray]:
        import soxr

        rates = float(self.sound.samples), float(self.samples)
        changer = soxr.ResampleStream(*rates, self.channels, "float32")
        for block in self.sound.blocks():
            samples = np.ascontiguousarray(block.T, np.float32)
            yield changer.resample_chunk(samples).T
        yield changer.resample_chunk(np.zeros((0, self.channels), np.float32), last=True).T


def same_duration(original: StoredSound, made: StoredSound) -> bool:
    """Whether durations differ by no more than the padding of a codec."""
    return abs(made.samples - original.samples) <= SAME_SECONDS * made.rate


def _alignments(original: StoredSound, made: StoredSound) -> Iterator[tuple[float, int]]:
    """Tempos and delays in samples under which a recording is compared with its original."""
    yield 1.0, 0
    if not same_duration(original, made):
        if delay := _delay(original, made):
            yield 1.0, delay
        yield made.samples / original.samples, 0


def _delay(original: StoredSound, made: StoredSound) -> int:
    """Samples by which a recording is later than its original, where they correlate most; 0 if
    little of them would be left to compare.

    Raises:
        DependencyError: scipy is not installed.
    """
    try:
        from scipy.signal import correlate
    except ImportError as error:
        raise DependencyError(
            "comparing recordings of unequal length: pip install 'voicenym[evaluate]'"
        ) from error

    largest, found = 0.0, 0
    for before, after in zip(_beginning(original), _beginning(made), strict=True):
        both = np.abs(correlate(after, before, method="fft"))
        scale = math.sqrt(float(before @ before) * float(after @ after))
        place = int(both.argmax())
        if scale > 0.0 and both[place] > largest * scale:
            largest, found = float(both[place]) / scale, place - (len(before) - 1)
    shared = min(original.samples + min(found, 0), made.samples - max(found, 0))
    return found if shared >= LEAST_SHARED * min(original.samples, made.samples) else 0


def _beginning(sound: StoredSound) -> np.ndarray:
    """The first seconds ``[channel, time]``, in double precision."""
    most, kept, size = round(ALIGNED_SECONDS * sound.rate), [np.zeros((sound.channels, 0))], 0
    for block in sound.blocks():
        kept.append(np.asarray(block, np.float64))
        size += block.shape[1]
        if size >= most:
            break
    return np.concatenate(kept, axis=1)[:, :most]


def _by_turns(
    original: StoredSound, made: StoredSound, delay: int
) -> Iterator[tuple[bool, np.ndarray]]:
    """Blocks of both, each time of the one of which a smaller share was given, so that neither is
    held for long.

    Args:
        original, made: the sounds.
        delay: of ``made``, in samples; what only one of them has before the other is left out.

    Returns:
        Whether a block is of the original, and the block.
    """
    skipped = (max(-delay, 0), max(delay, 0))
    sides = [_from(*pair) for pair in zip((original, made), skipped, strict=True)]
    totals = [one.samples - n for one, n in zip((original, made), skipped, strict=True)]
    given, left = [0, 0], [True, True]
    while any(left):
        shares = [given[n] / max(totals[n], 1) if left[n] else math.inf for n in (0, 1)]
        side = shares.index(min(shares))
        block = next(sides[side], None)
        if block is None:
            left[side] = False
        else:
            given[side] += block.shape[1]
            yield side == 0, block


def _from(sound: StoredSound, first: int) -> Iterator[np.ndarray]:
    """Blocks from a sample on."""
    at = 0
    for block in sound.blocks():
        if at + block.shape[1] > first:
            yield block[:, max(0, first - at) :]
        at += block.shape[1]
