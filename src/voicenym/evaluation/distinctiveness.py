"""Speaker vectors of a system's output: similarity matrices, distinctiveness and diversity."""

from __future__ import annotations

import numpy as np

from voicenym.evaluation import reported_metrics
from voicenym.evaluation.results import Measured
from voicenym.evaluation.trials import Trials
from voicenym.metrics.metric_inputs import VoiceVectors
from voicenym.verification.scoring import unit

BLOCKS = ("oo", "oa", "aa")
"""Original with original, original with anonymized, anonymized with anonymized recordings."""


def measure(
    original: np.ndarray, published: np.ndarray, trials: Trials, replicates: int
) -> tuple[dict[str, np.ndarray], dict[str, Measured]]:
    """Voice similarity matrices, and all metrics of speaker vectors.

    Elements of a matrix have no interval: an element is of two speakers, and speakers are what the
    bootstrap draws. Means of its diagonal (``own``) and of the rest (``others``) have one.

    Args:
        original, published: vectors ``[trial, dimension]`` of the trials before and after.
        trials: whose they are.
        replicates: of the bootstrap over speakers.

    Returns:
        Matrices ``[speaker, speaker]`` named ``oo``, ``oa``, ``aa``, and figures by metric.

    Raises:
        ScoreError: vectors of zeros, or NaN.
    """
    voices = vectors(original, published, trials, replicates)
    figures = reported_metrics.measure(voices)
    return {block: voices.similarity(block).matrix for block in BLOCKS}, figures


def of_originals(original: np.ndarray, trials: Trials, replicates: int) -> dict[str, Measured]:
    """Metrics of the original vectors ``[trial, dimension]``, which compare with nothing."""
    voices = vectors(original, original, trials, replicates)
    return reported_metrics.measure(voices, originals=True)


def vectors(
    original: np.ndarray, published: np.ndarray, trials: Trials, replicates: int = 1000
) -> VoiceVectors:
    """Vectors of length one with the speakers of the trials."""
    speakers = np.array([recording.speaker for recording in trials.recordings])
    return VoiceVectors(unit(original), unit(published), speakers, replicates=replicates)
