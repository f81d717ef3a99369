"""Regions of speech from probabilities of speech, by hysteresis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.nets.activity.silero import CHUNK, RATE

CHUNK_SECONDS = CHUNK / RATE


@dataclass(frozen=True)
class RegionRule:
    """When speech begins and ends.

    Args:
        onset: probability from which a region begins.
        offset: probability below which it ends.
        least_gap: seconds; shorter gaps are closed.
        least_region: seconds; shorter regions are dropped.
        margin: seconds that are added on either side.
    """

    onset: float = 0.5
    offset: float = 0.35
    least_gap: float = 0.25
    least_region: float = 0.15
    margin: float = 0.03


SPEECH = RegionRule()
"""Rule of the diarizer."""
ANY_SPEECH = RegionRule(onset=0.15, offset=0.1, least_gap=0.5, least_region=0.0, margin=0.25)
"""Rule for what may be speech: sounds outside of it are background."""


def speech_regions(
    probabilities: npt.NDArray[np.floating], seconds: float, rule: RegionRule = SPEECH
) -> npt.NDArray[np.float64]:
    """Regions ``[region, (start, end)]`` in seconds, in order, without overlap.

    Args:
        probabilities: ``[chunk]`` of :class:`voicenym.nets.activity.silero.SpeechProbabilities`.
        seconds: length of the recording.
        rule: when speech begins and ends.

    Example:
        >>> import numpy as np
        >>> found = speech_regions(np.repeat([0.0, 0.9, 0.4, 0.0], 20), 2.56)
        >>> found.round(2).tolist()
        [[0.61, 1.95]]
    """
    above = probabilities >= rule.offset
    edges = np.flatnonzero(np.diff(above.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    loud = np.concatenate([[0], np.cumsum(probabilities >= rule.onset)])
    found: list[list[float]] = []
    for first, last in edges[loud[edges[:, 1]] > loud[edges[:, 0]]].tolist():
        start, end = first * CHUNK_SECONDS, last * CHUNK_SECONDS
        if found and start - found[-1][1] < rule.least_gap:
            found[-1][1] = end
        else:
            found.append([start, end])
    kept = [part for part in found if part[1] - part[0] >= rule.least_region]
    regions = np.array(kept, dtype=np.float64).reshape(-1, 2)
    regions = (regions + np.array([-rule.margin, rule.margin])).clip(0.0, seconds)
    together: list[list[float]] = []
    for start, end in regions.tolist():
        if together and start <= together[-1][1]:
            together[-1][1] = max(end, together[-1][1])
        elif end > start:
            together.append([start, end])
    return np.array(together, dtype=np.float64).reshape(-1, 2)
