"""Diversity of a set of pseudo-voices: distribution of similarities, entropy of a mixture.

Turner, Lovisotto, Martinovic, "Generating identities with mixture models for speaker
anonymization", Computer Speech & Language 72 (2022): equations 1 and 2 and appendix A, with its
misprints corrected after Kolchinsky and Tracey, "Estimating mixture entropy with pairwise
distances", Entropy 19 (2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.interval_options import normal_quantile
from voicenym.metrics.intervals.interval import FEW_PEOPLE, Interval
from voicenym.metrics.metric import Display, Metric
from voicenym.metrics.metric_inputs import VoiceVectors
from voicenym.metrics.trials.scores import Array


@dataclass(frozen=True)
class Distance:
    """Kolmogorov-Smirnov distance of two sets of voices.

    Args:
        value: 0 (voices of both sets differ among each other alike) to 1.
        interval: of the difference at ``similarity``, over voices; None with fewer than five voices
            in a set. Where it lies was chosen for the largest difference, so that sets of one kind
            are never at 0: compare with two halves of the original voices.
        similarity: cosine at which the two distributions differ most.
    """

    value: float
    interval: Interval | None
    similarity: float
    unit: str = "share"


@dataclass(frozen=True)
class Entropy:
    """Differential entropy of a Gaussian mixture.

    Args:
        value: by Monte Carlo; exact for a single component.
        interval: of the sampling.
        lower, upper: bounds without sampling.
    """

    value: float
    interval: Interval
    lower: float
    upper: float
    unit: str = "nat"


def cross_similarity_distance(
    original: npt.ArrayLike, pseudo: npt.ArrayLike, *, level: float = 0.95
) -> Distance:
    """D_KS = sup |F - O| of the cosines between the voices of each set (equation 1).

    Each unordered pair counts once and no voice is compared with itself. Pairs share voices, so
    the interval is that of a U-statistic: the variance is of each voice's share of pairs below the
    similarity, four times, over the number of voices (Hoeffding 1948). Three voices have three
    pairs, too few to estimate a variance from: below five voices there is no interval.

    Args:
        original, pseudo: vectors ``[voice, dimension]``; the sets need not be of one size.
        level: of the interval.

    Raises:
        ScoreError: fewer than two voices, a vector of zeros, or NaN (the message names it).

    Example:
        >>> similar, different = [[1.0, 0.0], [1.0, 0.1]], [[1.0, 0.0], [0.0, 1.0]]
        >>> cross_similarity_distance(similar, different).value
        1.0
    """
    first, second = (
        _cosines(vectors, name) for vectors, name in ((original, "original"), (pseudo, "pseudo"))
    )
    o, f = (np.sort(m[np.triu_indices(len(m), 1)]) for m in (first, second))
    values = np.concatenate([o, f])
    difference = (
        np.searchsorted(f, values, side="right") / f.size
        - np.searchsorted(o, values, side="right") / o.size
    )
    place = int(np.abs(difference).argmax())
    value, where = abs(float(difference[place])), float(values[place])
    interval = None
    if min(len(first), len(second)) >= FEW_PEOPLE:
        half = normal_quantile(level) * math.sqrt(
            _variance(first, where) + _variance(second, where)
        )
        interval = (max(0.0, value - half), min(1.0, value + half))
    return Distance(value, interval, where)


def _cosines(vectors: npt.ArrayLike, name: str) -> Array:
    x = np.asarray(vectors, dtype=np.float64)
    if x.ndim != 2 or len(x) < 2:
        raise ScoreError(f"{name} voices: two vectors [voice, dimension] at least, not {x.shape}")
    length = np.linalg.norm(x, axis=1)
    bad = np.flatnonzero(~(np.isfinite(length) & (length > 0.0)))
    if bad.size:
        raise ScoreError(f"{name} voice {bad[0]} has no direction: its length is {length[bad[0]]}")
    x = x / length[:, None]
    cosines: Array = x @ x.T
    return cosines


def _variance(cosines: Array, where: float) -> float:
    """Variance of the share of pairs at or below a similarity."""
    count = len(cosines)
    below = cosines <= where
    np.fill_diagonal(below, False)
    return 4.0 * float(np.var(below.sum(1) / (count - 1), ddof=1)) / count


def mixture_entropy(
    weights: npt.ArrayLike,
    means: npt.ArrayLike,
    covariances: npt.ArrayLike,
    *,
    samples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Entropy:
    """Differential entropy of a Gaussian mixture, in nats.

    Equation 2 with its sign and its (2 pi)^d: -mean ln sum_k pi_k N(x_i; mu_k, Sigma_k), over
    samples of the mixture. Bounds: H(X|C) - sum_i pi_i ln sum_j pi_j exp(-D(p_i || p_j)), with the
    Chernoff distance at alpha 1/2 (that of Bhattacharyya) below and with Kullback and Leibler's
    divergence above.

    Args:
        weights: ``[component]``; scaled to sum to 1.
        means: ``[component, dimension]``.
        covariances: ``[component, dimension, dimension]``, or ``[component, dimension]`` where
            they are diagonal.
        samples: of the mixture; the paper takes 2,000.
        level: of the interval.
        seed: of the samples.

    Raises:
        ScoreError: shapes that do not fit, a negative weight, a covariance that is none.

    Example:
        >>> one = mixture_entropy([1.0], [[0.0]], [[1.0]])
        >>> round(one.value, 4), round(one.lower, 4), round(one.upper, 4)
        (1.4189, 1.4189, 1.4189)
    """
    pi, mu, sigma = (np.asarray(v, dtype=np.float64) for v in (weights, means, covariances))
    diagonal = sigma.ndim == 2
    if (
        mu.ndim != 2
        or pi.shape != mu.shape[:1]
        or sigma.shape != mu.shape + mu.shape[1:] * (not diagonal)
    ):
        raise ScoreError(
            f"weights {pi.shape}, means {mu.shape} and covariances {sigma.shape} do not fit: "
            "[component], [component, dimension], [component, dimension (, dimension)]"
        )
    if not (pi >= 0.0).all() or not 0.0 < pi.sum() < math.inf:
        raise ScoreError("weights of components are not negative and not all zero")
    if not (np.isfinite(mu).all() and np.isfinite(sigma).all()):
        raise ScoreError("means or covariances hold NaN or infinity")
    pi, mu, sigma = pi[pi > 0.0] / pi.sum(), mu[pi > 0.0], sigma[pi > 0.0]
    if samples < 2:
        raise ScoreError(f"an interval needs two samples at least, not {samples}")
    root, whitener, logdet = _diagonal_roots(sigma) if diagonal else _roots(sigma)
    components, dimension = mu.shape
    within = 0.5 * (float(pi @ logdet) + dimension * (math.log(2.0 * math.pi) + 1.0))
    if components == 1:
        return Entropy(within, (within, within), within, within)
    if diagonal:
        chernoff, divergence = _diagonal_distances(mu, sigma, logdet)
    else:
        chernoff, divergence = _distances(mu, sigma, whitener, logdet)
    lower, upper = (
        within - float(pi @ _log_sum(np.log(pi) - distance)) for distance in (chernoff, divergence)
    )
    rng = np.random.default_rng(seed)
    which = rng.choice(components, samples, p=pi)
    noise = rng.standard_normal((samples, dimension))
    drawn = np.empty((samples, dimension))
    for k in range(components):
        mine = which == k
        drawn[mine] = mu[k] + (noise[mine] * root[k] if diagonal else noise[mine] @ root[k].T)
    log_density = np.empty((samples, components))
    for k in range(components):
        away = drawn - mu[k]
        white = away * whitener[k] if diagonal else away @ whitener[k].T
        log_density[:, k] = -0.5 * ((white**2).sum(1) + logdet[k])
    surprise = 0.5 * dimension * math.log(2.0 * math.pi) - _log_sum(log_density + np.log(pi))
    value = float(surprise.mean())
    half = normal_quantile(level) * float(surprise.std(ddof=1))
    half /= math.sqrt(samples)
    return Entropy(value, (value - half, value + half), lower, upper)


def _log_sum(x: Array) -> Array:
    """Logarithm of the sum of exponentials, along the last axis."""
    top = x.max(-1, keepdims=True)
    summed: Array = np.log(np.exp(x - top).sum(-1)) + top[..., 0]
    return summed


def _diagonal_roots(variance: Array) -> tuple[Array, Array, Array]:
    if not (variance > 0.0).all():
        raise ScoreError("a variance is not positive; drop dimensions that do not vary")
    root = np.sqrt(variance)
    return root, 1.0 / root, np.log(variance).sum(1)


def _roots(covariance: Array) -> tuple[Array, Array, Array]:
    """Lower triangles L with L L' = covariance, their inverses, and log determinants."""
    try:
        root = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise ScoreError(
            "a covariance is not positive definite; drop dimensions that do not vary"
        ) from error
    inverse: Array = np.asarray(np.linalg.inv(root), dtype=np.float64)
    return root, inverse, _logdet(root)


def _logdet(root: Array) -> Array:
    logdet: Array = 2.0 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(1)
    return logdet


def _diagonal_distances(mu: Array, variance: Array, logdet: Array) -> tuple[Array, Array]:
    """Chernoff distance at 1/2 and KL divergence ``[i, j]`` of components i and j."""
    squared = (mu[:, None] - mu) ** 2
    middle = 0.5 * (variance[:, None] + variance)
    chernoff = 0.125 * (squared / middle).sum(2) + 0.5 * (
        np.log(middle).sum(2) - 0.5 * (logdet[:, None] + logdet)
    )
    divergence = 0.5 * (
        logdet - logdet[:, None] + ((squared + variance[:, None]) / variance - 1.0).sum(2)
    )
    return chernoff, divergence


def _distances(mu: Array, covariance: Array, whitener: Array, logdet: Array) -> tuple[Array, Array]:
    count, dimension = mu.shape
    inverse = whitener.transpose(0, 2, 1) @ whitener
    chernoff, divergence = np.zeros((2, count, count))
    for i in range(count):
        away = (whitener @ (mu[i] - mu)[..., None])[..., 0]
        trace = (inverse * covariance[i]).sum((1, 2))  # both are symmetric
        divergence[i] = 0.5 * (logdet - logdet[i] + (away**2).sum(1) + trace - dimension)
        later = slice(i + 1, None)  # the other distance is symmetric
        away = mu[i] - mu[later]
        middle = 0.5 * (covariance[i] + covariance[later])
        pulled = np.linalg.solve(middle, away[..., None])[..., 0]
        chernoff[i, later] = 0.125 * (away * pulled).sum(1) + 0.5 * (
            _logdet(np.asarray(np.linalg.cholesky(middle))) - 0.5 * (logdet[i] + logdet[later])
        )
    return chernoff + chernoff.T, divergence


def _distance(voices: VoiceVectors) -> Distance | None:
    """D_KS of the speakers' mean vectors; None for a single speaker."""
    return cross_similarity_distance(*voices.voices()) if len(set(voices.speakers)) > 1 else None


DISTANCE = Metric(
    name="D_KS",
    unit="share",
    better="lower",
    chance=None,
    interval="variance of a U-statistic over voices; none of fewer than five",
    definition="Largest gap between the distributions of how similar the voices of different "
    "speakers are, before and after, 0 (as diverse as before) to 1 (Turner et al. 2022)",
    data=VoiceVectors,
    measure=_distance,
    display=Display(table="diversity", heading="D_KS, 0 to 1", card=True),
)
