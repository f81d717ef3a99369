"""Means of ratings by system, with intervals by a mixed model or by bootstrap.

The bootstrap draws listeners and speakers: a rating's weight in a replicate is how often both were
drawn, multiplied. The mixed model has the systems as fixed effects and listeners and recordings as
crossed random effects (Baayen, Davidson and Bates, Journal of Memory and Language 59, 2008).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from voicenym.errors import DependencyError, VoicenymError
from voicenym.libraries import without_local_settings
from voicenym.listening.ratings import Rating, in_order
from voicenym.metrics.intervals.interval import percentiles
from voicenym.metrics.metric import Measured

BOOTSTRAP, MIXED = "bootstrap", "mixed"
FEWEST = 3
"""Listeners that a mixed model needs."""


@dataclass(frozen=True)
class SystemMean:
    """Mean rating of a system.

    Args:
        system: name.
        mean: with its interval.
        ratings, listeners: numbers.
        deviation: of single ratings; NaN of one.
    """

    system: str
    mean: Measured
    ratings: int
    listeners: int
    deviation: float


def means(
    ratings: Sequence[Rating],
    method: str = BOOTSTRAP,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> list[SystemMean]:
    """Means of the ratings of one question.

    Args:
        ratings: of one question.
        method: :data:`BOOTSTRAP` or :data:`MIXED`.
        level: of the intervals.
        replicates, seed: of the bootstrap.

    Raises:
        VoicenymError: too few listeners for a mixed model, or an unknown method.
        DependencyError: the mixed model's package is missing.
    """
    if method not in (BOOTSTRAP, MIXED):
        raise VoicenymError(f"no intervals by {method!r}; there are: {BOOTSTRAP}, {MIXED}")
    systems = in_order(one.system for one in ratings)
    fitted = _mixed(ratings, systems, level) if method == MIXED else {}
    found = []
    for system in systems:
        own = [one for one in ratings if one.system == system]
        scores = np.array([one.score for one in own])
        weights = np.array([one.weight for one in own])
        value = float((scores * weights).sum() / weights.sum())
        if method == MIXED:
            value, *limits = fitted[system]
        else:
            limits = list(_bootstrap(own, scores, weights, level, replicates, seed))
        low, high = (None if math.isnan(limit) else limit for limit in limits)
        spread = float(scores.std(ddof=1)) if len(scores) > 1 else math.nan
        people = len({one.listener for one in own})
        found.append(SystemMean(system, Measured(value, low, high), len(own), people, spread))
    return found


def _bootstrap(
    ratings: Sequence[Rating],
    scores: np.ndarray,
    weights: np.ndarray,
    level: float,
    replicates: int,
    seed: int,
) -> tuple[float, float]:
    """Interval over listeners and speakers; over either alone where there is one of the other."""
    listeners, who = np.unique([one.listener for one in ratings], return_inverse=True)
    names = [one.speaker or one.utterance for one in ratings]
    speakers, whose = np.unique(names, return_inverse=True)
    if len(listeners) < 2 and len(speakers) < 2:
        return math.nan, math.nan
    sums = np.zeros((2, len(listeners), len(speakers)))
    np.add.at(sums[0], (who, whose), scores * weights)
    np.add.at(sums[1], (who, whose), weights)
    rng = np.random.default_rng(seed)
    people, voices = (
        rng.multinomial(size, np.full(size, 1.0 / size), replicates).astype(np.float64)
        if size > 1
        else np.ones((replicates, 1))
        for size in (len(listeners), len(speakers))
    )
    above, below = (np.einsum("rl,ls,rs->r", people, part, voices, optimize=True) for part in sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        return percentiles(np.where(below > 0.0, above / below, math.nan), level)


def _mixed(
    ratings: Sequence[Rating], systems: Sequence[str], level: float
) -> dict[str, tuple[float, float, float]]:
    """Fixed effects and their limits by system."""
    listeners, who = np.unique([one.listener for one in ratings], return_inverse=True)
    if len(listeners) < FEWEST:
        raise VoicenymError(
            f"a mixed model needs {FEWEST} listeners, and {len(listeners)} answered; ask more, or "
            "take --intervals bootstrap"
        )
    _, what = np.unique([one.utterance for one in ratings], return_inverse=True)
    try:
        with without_local_settings("statsmodels.regression.mixed_linear_model"):
            from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec
    except ImportError as error:
        raise DependencyError("mixed models: pip install 'voicenym[listen]'") from error
    scores = np.array([one.score for one in ratings])
    design = np.array([[one.system == name for name in systems] for one in ratings], dtype=float)
    parts = {"listener": who, "utterance": what}
    used = {name: at for name, at in parts.items() if 1 < at.max() + 1 < len(scores)}
    specification: Any = VCSpec(
        list(used),
        [[[str(level) for level in range(at.max() + 1)]] for at in used.values()],
        [[np.eye(at.max() + 1)[at]] for at in used.values()],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a variance of zero is on the boundary, which is no fault
        model = MixedLM(scores, design, np.zeros(len(scores)), exog_vc=specification)
        fit = model.fit(reml=True, method=["lbfgs", "powell"])
    z = NormalDist().inv_cdf(0.5 + level / 2.0)
    half = z * np.sqrt(np.diag(np.asarray(fit.cov_params()))[: len(systems)])
    values = np.asarray(fit.fe_params)
    return {
        name: (float(v), float(v - h), float(v + h))
        for name, v, h in zip(systems, values, half, strict=True)
    }
