"""Refuses a recording of a system that is nearly its original: listeners would hear that voice.

An original that was stored again in another format, at another rate or level, is not found by the
bytes of its file. The measures and thresholds are those by which ``voicenym anonymize`` refuses an
output (:mod:`voicenym.corpus.near_original`).
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from voicenym.corpus.near_original import SAME_SAMPLES, likeness
from voicenym.corpus.sample_correlation import SampleCorrelation
from voicenym.corpus.signal_similarity import SignalSimilarity

Measure = TypeVar("Measure", SignalSimilarity, SampleCorrelation)
SAME_SECONDS = 0.05
"""Difference of durations up to which they count as equal: the padding of a codec."""


def nearness(original: np.ndarray, made: np.ndarray, rate: int) -> str:
    """How a recording is nearly its original, in words; empty if it is not.

    Args:
        original, made: ``[time]``.
        rate: of both, in Hz.
    """
    same = abs(len(made) - len(original)) <= SAME_SECONDS * rate
    # of another length are a system that changes the tempo, and an original with silence around it
    for tempo in (1.0,) if same else (1.0, len(made) / len(original)):
        similar = _compared(SignalSimilarity(rate, 1, tempo), original, made)
        if how := likeness(similar.found[0]):
            return how
    correlation = _compared(SampleCorrelation(1), original, made).found[0]
    if same and abs(correlation) >= SAME_SAMPLES:  # not of silence, which has NaN
        return f"correlation of samples {correlation:.3f}"
    return ""


def _compared(measure: Measure, original: np.ndarray, made: np.ndarray) -> Measure:
    measure.push_input(original[None].astype(np.float32))
    measure.push_output(made[None].astype(np.float32))
    measure.finish()
    return measure
