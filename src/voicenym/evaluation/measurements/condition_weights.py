"""Figures of a benchmark's parts and their weighted means, for G_VD, rho_F0 and word error rates.

The weights are those of the VoicePrivacy Challenges; the mean of equal error rates is in
``protection.py``. Development and test sets have separate means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from voicenym.evaluation.measurements.distinctiveness import vectors
from voicenym.evaluation.reported_metrics import WEIGHTED, named
from voicenym.evaluation.results import Measured
from voicenym.evaluation.trial_plans.trials import Part, Trials, by_group
from voicenym.metrics.intervals import jackknife
from voicenym.metrics.intervals.bootstrap_draws import Drawn, share
from voicenym.metrics.joint_figures.weighted import weighted_mean
from voicenym.metrics.metric import Estimate, Metric
from voicenym.metrics.metric_inputs import RecognisedWords, Tally, VoiceVectors
from voicenym.metrics.voices.voice_distinctiveness import GAIN, gain_of


def utility(
    tallies: Mapping[str, Tally], trials: Trials, **options: Any
) -> tuple[dict[str, Measured], list[str]]:
    """Means of rho_F0 over data sets and sexes, and of word error rates over data sets.

    Args:
        tallies: by metric.
        trials: with their parts; without parts there is no mean.
        options: of the bootstrap.

    Returns:
        Figures by metric, such as ``weighted WER`` and ``WER VCTK``, and notes.
    """
    figures: dict[str, Measured] = {}
    notes = []
    for name, tally in tallies.items():
        metric = named(name)
        assert metric is not None
        # the challenges average word error rates over data sets, and other figures over sexes too
        parts = trials.spoken if metric.data is RecognisedWords else trials.parts
        recordings = np.array(tally.names, dtype=object)
        found, used = [], []
        for part in parts:
            mine = np.isin(recordings, list(_names(trials, part)))
            if tally.below[mine].sum() > 0:
                speakers = np.array(tally.speakers)[mine].tolist()
                found.append((tally.above[mine], tally.below[mine], speakers))
                used.append(part)
        if used:
            drawn = [share(above, below, speakers) for above, below, speakers in found]
            figures.update(_figures(name, metric, drawn, used, **options))
            notes += lacking(name, parts, used)
    return figures, notes


def distinctiveness(
    original: np.ndarray, published: np.ndarray, trials: Trials, **options: Any
) -> tuple[dict[str, Measured], list[str]]:
    """Mean of G_VD in dB over data sets and sexes, each with matrices of its own.

    Args:
        original, published: vectors ``[trial, dimension]`` before and after.
        trials: with their parts; without parts there is no mean.
        options: of the bootstrap.

    Returns:
        ``weighted G_VD`` and that of each part, and notes.
    """
    voices = vectors(original, published, trials, **options)
    if not trials.parts:
        return {}, []
    found, used = [], []
    for part in trials.parts:
        own = voices.part(np.flatnonzero(part.tested.any(0)))
        if all(np.isfinite(own.similarity(block).dominance) for block in ("oo", "aa")):
            found.append(own)
            used.append(part)
    figures: dict[str, Measured] = {}
    for group, places in by_group(used).items():
        weights = np.array([weight for i in places if (weight := used[i].weight) is not None])
        mean = _mean_gain([found[i] for i in places], weights / weights.sum())
        figures[f"{WEIGHTED} {GAIN.name}{group}"] = GAIN.figure(mean.value, mean.interval)
    for part, own in zip(used, found, strict=True):
        measured = GAIN(own)
        assert measured is not None
        figures[f"{GAIN.name} {part.name}"] = measured
    return figures, lacking(GAIN.name, trials.parts, used) if used else []


def _mean_gain(parts: Sequence[VoiceVectors], weights: np.ndarray) -> Estimate:
    """Weighted mean of G_VD in dB, and its interval by a jackknife of the speakers of all parts.

    Args:
        parts: vectors of each part.
        weights: of the parts, of sum 1.
    """

    def mean(own: Sequence[VoiceVectors]) -> float:
        return float(weights @ np.array([gain_of(part) for part in own]))

    people = np.unique(np.concatenate([part.speakers for part in parts]))
    others = []
    for names in jackknife.groups(people):
        there = [bool(np.isin(names, part.speakers).any()) for part in parts]  # others stay as is
        left = [p.without(names) if mine else p for p, mine in zip(parts, there, strict=True)]
        others.append(mean(left))
    value = mean(parts)
    return Estimate(value, jackknife.limits(value, others, len(people)))


def _names(trials: Trials, part: Part) -> set[str]:
    """Names of the test recordings of a part."""
    return {trials.recordings[i].name for i in np.flatnonzero(part.tested.any(0))}


def _figures(
    name: str, metric: Metric[Any], drawn: Sequence[Drawn], parts: Sequence[Part], **options: Any
) -> dict[str, Measured]:
    """Weighted mean of each group of parts, and the figure of each part."""
    figures: dict[str, Measured] = {}
    for group, places in by_group(parts).items():
        weights = [weight for i in places if (weight := parts[i].weight) is not None]
        mean = weighted_mean([drawn[i] for i in places], weights, metric.unit, **options)
        figures[f"{WEIGHTED} {name}{group}"] = metric.figure(mean.value, mean.interval)
    every = weighted_mean(drawn, [1.0] * len(drawn), metric.unit, **options)
    for part, value, interval in zip(parts, every.parts, every.intervals, strict=True):
        figures[f"{name} {part.name}"] = metric.figure(value, interval)
    return figures


def lacking(metric: str, parts: Sequence[Part], used: Sequence[Part]) -> list[str]:
    """Note on the parts of a benchmark that a weighted mean lacks; none if it has all.

    Args:
        metric: its name.
        parts: of the benchmark.
        used: those of them that have a figure.
    """
    absent = [part.name for part in parts if part not in used and part.weight is not None]
    if not absent:
        return []
    return [
        f"the weighted mean of {metric} lacks parts, whose weight the others bear: "
        + ", ".join(absent)
    ]
