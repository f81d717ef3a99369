"""Miss-match and wrong-match rate: errors of a verifier at a fixed threshold.

Deng et al., "V-Cloak", USENIX Security 2023, section 5.1. The paper does not name its threshold;
its WMR is the same for all systems, as it is at the threshold of equal errors on original speech.
That is :attr:`voicenym.metrics.EER.threshold`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.intervals.binomial import of_share, wilson
from voicenym.metrics.intervals.interval import Interval
from voicenym.metrics.metric import BOOTSTRAP_OF_SHARE, Display, Metric
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.metrics.trials.scores import Array, Scores, check
from voicenym.metrics.trials.speaker_pairs import drawn_times, numbered, steps


@dataclass(frozen=True)
class Rate:
    """A share of trials.

    Args:
        value: 0 to 1.
        interval: lower and upper limit.
        method: how the interval was made.
    """

    value: float
    interval: Interval
    unit: str = "share"
    method: str = "Wilson, independent trials"


def miss_match_rate(
    target: Scores,
    threshold: float,
    level: float = 0.95,
    *,
    speakers: npt.ArrayLike | None = None,
    replicates: int = 1000,
    seed: int = 0,
) -> Rate:
    """MMR: share of target trials below the verifier's threshold.

    Args:
        target: scores of anonymized speech against its own speaker.
        threshold: fixed on original speech, such as that of :func:`voicenym.metrics.eer`.
        level: of the interval.
        speakers: of each trial, or of its two sides ``[trial, 2]``: the interval is then a
            bootstrap over speakers (:func:`.of_share`, with the smaller side's number of speakers);
            without, it is Wilson's for independent trials, which is too narrow where speakers
            recur.
        replicates, seed: of the bootstrap.

    Raises:
        ScoreError: no scores, NaN, another number of speakers, or a threshold that is no number.

    Example:
        >>> miss_match_rate([0.1, 0.9, 0.2, 0.3], 0.25).value
        0.5
    """
    _check_threshold(threshold)
    scores, _ = check(target, [0.0])
    return _share(scores < threshold, speakers, level, replicates, seed)


def wrong_match_rate(
    nontarget: Scores,
    threshold: float,
    level: float = 0.95,
    *,
    speakers: npt.ArrayLike | None = None,
    replicates: int = 1000,
    seed: int = 0,
) -> Rate:
    """WMR: share of non-target trials at or above the threshold.

    Args:
        nontarget: scores of anonymized speech against other speakers.
        threshold, level, speakers, replicates, seed: as for :func:`miss_match_rate`.

    Raises:
        ScoreError: as of :func:`miss_match_rate`.

    Example:
        >>> wrong_match_rate([0.1, 0.9, 0.2, 0.3], 0.25).value
        0.5
    """
    _check_threshold(threshold)
    _, scores = check([0.0], nontarget)
    return _share(scores >= threshold, speakers, level, replicates, seed)


def _check_threshold(threshold: float) -> None:
    """Refuses a threshold that no score is above or below, such as one that was not found."""
    if not isinstance(threshold, Real) or math.isnan(threshold):
        raise ScoreError(f"a threshold is one number, not {threshold!r}")


def _share(
    hits: np.ndarray, speakers: npt.ArrayLike | None, level: float, replicates: int, seed: int
) -> Rate:
    value = float(hits.mean())
    if speakers is None:
        return Rate(value, wilson(int(hits.sum()), hits.size, level))
    people = np.asarray(speakers)
    if len(people) != hits.size or people.shape[1:] not in ((), (2,)):
        raise ScoreError(f"speakers {people.shape} do not fit {hits.size} trials")
    names, index = numbered(people.ravel())
    index = index.reshape(people.shape)
    drawn = _drawn(hits, index, len(names), replicates, seed)
    fewest = min(len(numbered(side)[0]) for side in index.reshape(hits.size, -1).T)
    interval = of_share(value, drawn, fewest, hits.size, level)
    return Rate(value, interval, method="bootstrap over speakers")


def _drawn(hits: np.ndarray, index: np.ndarray, size: int, replicates: int, seed: int) -> Array:
    """Shares among drawn speakers; a trial is weighted by the product of both speakers' counts.

    Trials of the same speakers are counted first, so that a draw does not depend on their number.
    """
    first, second = (index, index) if index.ndim == 1 else index.T
    pair, which = numbered(first * size + second)
    trials: Array = np.bincount(which).astype(np.float64)
    matched: Array = np.bincount(which, hits.astype(np.float64)).astype(np.float64)
    a, b = pair // size, pair % size
    rng = np.random.default_rng(seed)
    shares = np.full(replicates, math.nan)
    same = a == b
    for rows in steps(replicates, 8 * max(size, len(pair))):  # so few that they stay in the cache
        times = drawn_times(rows.stop - rows.start, size, rng)
        by_speaker = np.ascontiguousarray(times.T, dtype=np.float64)
        weight, others = by_speaker.take(a, axis=0), by_speaker.take(b, axis=0)
        others[same] = 1.0
        weight *= others
        totals = trials @ weight
        np.divide(matched @ weight, totals, out=shares[rows], where=totals > 0)
    return shares


def _missed(scores: TrialScores) -> Rate | None:
    if scores.threshold is None:
        return None
    speakers = scores.speakers.target
    return miss_match_rate(scores.target, scores.threshold, speakers=speakers, **scores.bootstrap)


def _wrong(scores: TrialScores) -> Rate | None:
    if scores.threshold is None:
        return None
    speakers = scores.speakers.nontarget
    return wrong_match_rate(
        scores.nontarget, scores.threshold, speakers=speakers, **scores.bootstrap
    )


MISS_MATCH_RATE = Metric(
    name="MMR",
    unit="%",
    better="higher",
    chance=None,
    interval=BOOTSTRAP_OF_SHARE,
    definition="Miss-match rate: share of trials of one speaker that are refused at the threshold "
    "of equal errors on original speech, where the scores have the scale of originals "
    "(Deng et al. 2023)",
    data=TrialScores,
    measure=_missed,
    display=Display(table="attackers"),
    scale=100.0,
)
WRONG_MATCH_RATE = Metric(
    name="WMR",
    unit="%",
    better="neither",
    chance=None,
    interval=BOOTSTRAP_OF_SHARE,
    definition="Wrong-match rate: share of trials of two speakers that are accepted at the same "
    "threshold (Deng et al. 2023)",
    data=TrialScores,
    measure=_wrong,
    display=Display(table="attackers"),
    scale=100.0,
)
