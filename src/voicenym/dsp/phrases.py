"""Phrases of a recording: stretches of speech between pauses, by level alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

FRAME_RATE = 100.0
"""Frames of level a second."""
LEAST_PAUSE = 0.2
"""Seconds below which a gap is a closure within a phrase."""
LEAST_PHRASE = 0.12
"""Seconds below which a sound in a pause is a click."""
MARGIN = 0.05
"""Seconds of onset and decay on either side of a phrase."""
SHARE = 0.35
"""Threshold between the noise and the loudest frame nearby, as a share of the way in dB."""
LEAST_DB = 6.0
"""Least distance of the threshold from the noise."""
LEAST_RANGE_DB = 12.0
"""Distance of the loudest frames (95th percentile) from the noise below which pauses are not found:
quiet sounds of speech would count as pauses.
"""
RANGE_DB = 35.0
"""Frames this far below the loudest nearby are a pause."""
NEARBY = 3.0
"""Seconds on either side of which the loudest frame counts."""
SMOOTHING = 7
"""Frames of the Hann window that smooths the level."""


class Phrases(NamedTuple):
    """Phrases of a recording.

    Args:
        spans: ``[phrase, (start, end)]`` in seconds, in order, without overlap.
        seconds: length of the recording.
    """

    spans: npt.NDArray[np.float64]
    seconds: float


class FrameLevels:
    """Mean squares of frames of 10 ms of a signal that arrives in blocks.

    Args:
        rows: of the signal.
        rate: in Hz, a multiple of :data:`FRAME_RATE`.
    """

    def __init__(self, rows: int, rate: int) -> None:
        self._hop = round(rate / FRAME_RATE)
        self._rest = torch.zeros(rows, 0)
        self._levels: list[torch.Tensor] = []

    def push(self, block: torch.Tensor) -> None:
        """Adds ``[row, time]``."""
        signal = torch.cat([self._rest, block.cpu()], dim=1)
        whole = signal.shape[1] // self._hop * self._hop
        frames = signal[:, :whole].unflatten(1, (-1, self._hop))
        self._levels.append(frames.square().mean(2))
        self._rest = signal[:, whole:].clone()

    def result(self) -> npt.NDArray[np.float32]:
        """Mean squares ``[row, frame]`` of all whole frames."""
        empty = self._rest.new_zeros(len(self._rest), 0)
        return torch.cat([empty, *self._levels], dim=1).numpy()


def phrases(levels: npt.NDArray[np.floating]) -> Phrases:
    """Phrases of a recording.

    A frame is speech if its level is above a share of the way from the noise (5th percentile of the
    recording) to the loudest frame nearby. Where there is no pause, or much noise, the recording is
    one phrase.

    Args:
        levels: ``[frame]``, mean squares of frames of 10 ms.

    Example:
        >>> levels = np.concatenate([np.full(50, 1e-6), np.full(80, 1e-2), np.full(60, 1e-6)])
        >>> phrases(levels).spans.round(2).tolist()
        [[0.42, 1.38]]
    """
    seconds = len(levels) / FRAME_RATE
    if not len(levels) or not np.any(levels > 0.0):
        return Phrases(np.zeros((0, 2)), seconds)
    window = np.hanning(SMOOTHING + 2)[1:-1]
    side = SMOOTHING // 2
    smooth = np.convolve(np.pad(levels, side, mode="edge"), window / window.sum(), mode="valid")
    level = 10.0 * np.log10(np.maximum(smooth, 1e-12))
    noise, loudest = np.percentile(level, (5.0, 95.0)).tolist()
    if loudest - noise < LEAST_RANGE_DB:
        return Phrases(np.array([[0.0, seconds]]), seconds)
    side = round(NEARBY * FRAME_RATE)
    nearby = torch.nn.functional.max_pool1d(torch.from_numpy(level)[None], 2 * side + 1, 1, side)[
        0
    ].numpy()
    above = np.maximum(LEAST_DB, SHARE * (nearby - noise))
    is_speech = level > np.maximum(noise + above, nearby - RANGE_DB)
    edges = np.flatnonzero(np.diff(is_speech.astype(np.int8), prepend=0, append=0))
    found: list[list[float]] = []
    for start, end in (edges.reshape(-1, 2) / FRAME_RATE).tolist():
        if found and start - found[-1][1] < LEAST_PAUSE + 2.0 * MARGIN:
            found[-1][1] = end
        else:
            found.append([start, end])
    kept = [part for part in found if part[1] - part[0] >= LEAST_PHRASE]
    if not kept:
        return Phrases(np.array([[0.0, seconds]]), seconds)
    spans = np.array(kept) + np.array([-MARGIN, MARGIN])
    return Phrases(spans.clip(0.0, seconds), seconds)
