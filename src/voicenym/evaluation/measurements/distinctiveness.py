"""Speaker vectors of a system's output: similarity matrices, distinctiveness and diversity."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from voicenym.evaluation import reported_metrics
from voicenym.evaluation.results import Measured
from voicenym.evaluation.trial_plans.conditions import measurable
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.metrics.metric_inputs import VoiceVectors
from voicenym.verification.scoring import unit

BLOCKS = ("oo", "oa", "aa")
"""Original with original, original with anonymized, anonymized with anonymized recordings."""


def measure(
    original: np.ndarray, published: np.ndarray, trials: Trials, replicates: int
) -> tuple[dict[str, np.ndarray], dict[str, Measured]]:
    """Voice similarity matrices, and all metrics of speaker vectors, pooled and by condition.

    Pooled over the sexes, matrices compare women with men, who are easy to distinguish. Figures of
    the conditions, such as ``G_VD f``, compare within one sex, as Noé et al. (2020) do.

    Elements of a matrix have no interval, because an element belongs to two speakers and the
    bootstrap draws speakers. Means of its diagonal (``own``) and of the rest (``others``) have one.

    Args:
        original, published: vectors ``[trial, dimension]`` of the trials before and after.
        trials: with their speakers.
        replicates: of the bootstrap over speakers.

    Returns:
        Matrices ``[speaker, speaker]`` named ``oo``, ``oa``, ``aa``, and figures by metric, without
        those that are unknown (:func:`unknown`).

    Raises:
        ScoreError: vectors of zeros, or NaN.
    """
    voices = vectors(original, published, trials, replicates)
    figures = {**reported_metrics.measure(voices), **_by_condition(voices, trials)}
    known = {name: one for name, one in figures.items() if not math.isnan(one.value)}
    return {block: voices.similarity(block).matrix for block in BLOCKS}, known


def unknown(trials: Trials) -> tuple[str, ...]:
    """Note on the figures that need two recordings of a speaker, if nobody has two.

    Similarities are calibrated on pairs of recordings of one speaker.
    """
    recordings = Counter(recording.speaker for recording in trials.recordings)
    if max(recordings.values()) > 1:
        return ()
    return (
        "G_VD, DeID and mean similarities were not measured: no speaker has two recordings among "
        "the trials, by whose similarity vectors are calibrated; give more recordings (--tried)",
    )


def of_originals(original: np.ndarray, trials: Trials, replicates: int) -> dict[str, Measured]:
    """Metrics of the original vectors ``[trial, dimension]`` alone."""
    voices = vectors(original, original, trials, replicates)
    whole = reported_metrics.measure(voices, originals=True)
    return {**whole, **_by_condition(voices, trials, originals=True)}


def _by_condition(voices: VoiceVectors, trials: Trials, **options: Any) -> dict[str, Measured]:
    """Metrics of each condition's speakers, with matrices and calibrations of its own."""
    figures: dict[str, Measured] = {}
    for condition in measurable(trials):
        part = voices.part(condition.of(trials.recordings))
        figures.update(reported_metrics.of_condition(part, condition.name, **options))
    return figures


def vectors(
    original: np.ndarray, published: np.ndarray, trials: Trials, replicates: int = 1000
) -> VoiceVectors:
    """Vectors of length one with the speakers of the trials."""
    speakers = np.array([recording.speaker for recording in trials.recordings])
    return VoiceVectors(unit(original), unit(published), speakers, replicates=replicates)
