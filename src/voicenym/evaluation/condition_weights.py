"""Means over the data sets and sexes of a benchmark, of what is not scored trial by trial.

G_VD, rho_F0 and word error rates, with the weights that the VoicePrivacy Challenges give them; the
mean of equal error rates is made where these are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from voicenym.evaluation.distinctiveness import matrix
from voicenym.evaluation.results import Measured
from voicenym.evaluation.trials import Part, Trials
from voicenym.evaluation.utility import RETRAINED, Tally
from voicenym.metrics import weighted_gain, weighted_ratio
from voicenym.metrics.weighted import WeightedMean
from voicenym.verification.scoring import unit

WEIGHTED = "weighted"
"""Mark of a mean over parts, before the metric's name."""
PERCENT = ("WER", f"WER {RETRAINED}")
"""Metrics that are shown in percent, and averaged over data sets alone."""


def utility(
    tallies: Mapping[str, Tally], trials: Trials, **options: Any
) -> tuple[dict[str, Measured], list[str]]:
    """Means of rho_F0 over data sets and sexes, and of word error rates over data sets.

    Args:
        tallies: by metric.
        trials: whose parts count; without parts there is no mean.
        options: of the bootstrap.

    Returns:
        Figures by metric, such as ``weighted WER`` and ``WER VCTK``, and what is to be noted.
    """
    figures: dict[str, Measured] = {}
    notes = []
    for metric, tally in tallies.items():
        parts = trials.spoken if metric in PERCENT else trials.parts
        names = np.array(tally.names, dtype=object)
        found, used = [], []
        for part in parts:
            mine = np.isin(names, list(_names(trials, part)))
            if tally.below[mine].sum() > 0:
                speakers = np.array(tally.speakers)[mine].tolist()
                found.append((tally.above[mine], tally.below[mine], speakers))
                used.append(part)
        if used:
            scale, unit_ = (100.0, "%") if metric in PERCENT else (1.0, "")
            mean = weighted_ratio(found, [p.weight for p in used], unit=unit_, **options)
            figures.update(_figures(metric, mean, used, scale))
            notes += _lacking(metric, parts, used)
    return figures, notes


def distinctiveness(
    original: np.ndarray, published: np.ndarray, trials: Trials, **options: Any
) -> tuple[dict[str, Measured], list[str]]:
    """The mean of G_VD in dB over data sets and sexes, each with matrices of its own.

    Args:
        original, published: vectors ``[trial, dimension]`` before and after.
        trials: whose parts count; without parts there is no mean.
        options: of the bootstrap.

    Returns:
        ``weighted G_VD`` and that of each part, and what is to be noted.
    """
    speakers = np.array([recording.speaker for recording in trials.recordings])
    o, a = unit(original), unit(published)
    found, used = [], []
    for part in trials.parts:
        mine = part.tested.any(0)
        pair = tuple(matrix(v[mine], v[mine], speakers[mine]) for v in (o, a))
        if all(np.isfinite(similarity.dominance) for similarity in pair):
            found.append((pair[0], pair[1]))
            used.append(part)
    if not used:
        return {}, []
    mean = weighted_gain(found, [part.weight for part in used], **options)
    return _figures("G_VD", mean, used, 1.0), _lacking("G_VD", trials.parts, used)


def _names(trials: Trials, part: Part) -> set[str]:
    """Recordings that are tried in a part."""
    return {trials.recordings[i].name for i in np.flatnonzero(part.tested.any(0))}


def _figures(
    metric: str, mean: WeightedMean, parts: Sequence[Part], scale: float
) -> dict[str, Measured]:
    names = [f"{WEIGHTED} {metric}", *(f"{metric} {part.name}" for part in parts)]
    values, intervals = (mean.value, *mean.parts), (mean.interval, *mean.intervals)
    figures = {}
    for name, value, (low, high) in zip(names, values, intervals, strict=True):
        known = not (np.isnan(low) or np.isnan(high))
        figures[name] = Measured(
            scale * value,
            scale * low if known else None,
            scale * high if known else None,
            mean.unit,
        )
    return figures


def _lacking(metric: str, parts: Sequence[Part], used: Sequence[Part]) -> list[str]:
    absent = [part.name for part in parts if part not in used]
    if not absent:
        return []
    return [
        f"the weighted mean of {metric} lacks parts, whose weight the others bear: "
        + ", ".join(absent)
    ]
