"""Levels of a recording beside its removed intervals, and the silence that adjoins them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from voicenym.redaction.word_placing import Interval
from voicenym.transcription.word_listening import Blocks

FRAME = 0.05
"""Seconds."""
NEAR = 3.0
"""Seconds on either side whose speech has the level of a word between them."""
ACTIVE = 10.0 ** (-20.0 / 10.0)
"""Power against that of the loudest frame from which a frame is of speech."""
QUIET = 10.0 ** (-30.0 / 10.0)
"""Power against that of the loudest frame below which a frame is silent."""
BLOCK_SECONDS = 10.0


class SurroundingLevels:
    """Powers of the frames of a recording, 80 bytes a second and channel.

    Args:
        source: the recording, which is read once.
    """

    def __init__(self, source: Blocks) -> None:
        size = max(1, round(FRAME * source.rate))
        self._seconds = size / source.rate
        rest = np.zeros((source.channels, 0), np.float32)
        found: list[npt.NDArray[np.float32]] = []
        for block in source.blocks(max(size, round(BLOCK_SECONDS * source.rate))):
            rest = np.concatenate([rest, block], 1)
            whole = rest.shape[1] // size * size
            frames = rest[:, :whole].reshape(source.channels, -1, size)
            found.append(np.square(frames).mean(2))
            rest = rest[:, whole:]
        if rest.shape[1]:
            found.append(np.square(rest).mean(1, keepdims=True))
        self._powers = np.concatenate([np.zeros((source.channels, 0), np.float32), *found], 1)

    def around(self, start: float, end: float, holes: Iterable[Interval]) -> tuple[float, ...]:
        """RMS of the speech beside an interval for each channel; 0 where there is none.

        Args:
            start, end: in seconds.
            holes: intervals whose sound does not count, this one and those near it.
        """
        first, last = self._frame(start - NEAR), self._frame(end + NEAR) + 1
        return self._levels(first, last, holes)

    def overall(self, holes: Iterable[Interval]) -> tuple[float, ...]:
        """RMS of all speech outside of some intervals, for each channel."""
        return self._levels(0, self._powers.shape[1], holes)

    def _levels(self, first: int, last: int, holes: Iterable[Interval]) -> tuple[float, ...]:
        part = self._powers[:, first:last]
        kept = np.ones(part.shape[1], bool)
        for start, end in holes:
            kept[max(0, self._frame(start) - first) : max(0, self._frame(end) + 1 - first)] = False
        return tuple(_speech(own[kept]) for own in part)

    def silence_before(self, time: float, most: float) -> float:
        """Seconds of silence in all channels that end at a time, at most so many."""
        first = self._frame(time - most) + 1
        return self._quiet(range(self._frame(time) - 1, first - 1, -1)) * self._seconds

    def silence_after(self, time: float, most: float) -> float:
        """Seconds of silence in all channels that begin at a time, at most so many."""
        last = min(self._frame(time + most), self._powers.shape[1])
        return self._quiet(range(self._frame(time) + 1, last)) * self._seconds

    def _quiet(self, frames: Sequence[int]) -> int:
        """How many of the frames are silent before the first that is not."""
        loudest = self._powers.max(1, initial=0.0)
        for count, frame in enumerate(frames):
            if (self._powers[:, frame] > QUIET * loudest).any():
                return count
        return len(frames)

    def _frame(self, time: float) -> int:
        return min(max(0, int(time / self._seconds)), self._powers.shape[1])


def _speech(powers: npt.NDArray[np.float32]) -> float:
    """RMS of the frames of speech; 0 without sound."""
    loud = powers[powers > ACTIVE * powers.max(initial=0.0)]
    return float(np.sqrt(loud.mean(dtype=np.float64))) if len(loud) else 0.0


def speech_level(samples: npt.NDArray[np.float32], rate: int) -> float:
    """RMS of the frames of speech of samples ``[time]``."""
    size = max(1, round(FRAME * rate))
    whole = samples[: len(samples) // size * size].reshape(-1, size)
    frames = whole if len(whole) else samples[None]
    return _speech(np.square(frames).mean(1)) if frames.size else 0.0
