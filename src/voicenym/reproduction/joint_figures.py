"""Figures whose speakers are drawn together: means over verifiers, and differences of systems.

Systems are tried on the same speakers, and verifiers hear the same trials. A bootstrap that draws
the speakers once for all of them gives means intervals, and decides differences that the intervals
of single figures, which overlap, leave open (:mod:`voicenym.metrics.intervals.bootstrap_draws`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from voicenym.evaluation.measurements.protection import split
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.metrics.intervals.binomial import of_share, unanimous
from voicenym.metrics.intervals.bootstrap_draws import Drawn, replicate, share
from voicenym.metrics.intervals.interval import Interval, enough, percentiles
from voicenym.metrics.verification.cllr import least_cost
from voicenym.metrics.verification.eer import WORTH, eer, equal_error
from voicenym.reproduction.bench import Measurement
from voicenym.reproduction.outcome import Figure, absent

UNPROTECTED = "unprotected"
Reduce = Callable[..., np.ndarray]
"""``numpy.mean`` or ``numpy.min``, over the first axis."""


def attack(
    found: Measurement, metric: str, attacker: str, verifier: str, sex: str = ""
) -> Drawn | None:
    """EER or MMR, a share, or min C_llr of an attacker's scores; None if it did not run.

    MMR is the share of trials of one speaker below the verifier's threshold of equal errors on
    original speech (Deng et al. 2023 leave the threshold open).

    Args:
        found: of a system.
        metric: ``EER``, ``MMR`` or ``min C_llr``.
        attacker, verifier: names.
        sex: of the tested speakers; empty for all.
    """
    evidence = found.evidence
    scores = evidence.scores[found.name].get(f"{attacker}, {verifier}")
    if scores is None:
        return None
    target, nontarget, speakers = split(scores, _of_sex(evidence.trials, sex))
    if not target.size or not nontarget.size:
        return None
    if metric == "EER":
        return equal_error(target, nontarget, speakers)
    if metric == "min C_llr":
        return least_cost(target, nontarget, speakers)
    if metric != "MMR":
        raise ValueError(f"EER, MMR or min C_llr, not {metric}")
    clean = evidence.scores["original"][f"{UNPROTECTED}, {verifier}"]
    threshold = eer(*split(clean, evidence.trials)[:2], interval=None).threshold
    return share(target < threshold, np.ones(target.size), speakers.target[:, 0])


def _of_sex(trials: Trials, sex: str) -> Trials:
    """Trials whose tested recording is of a speaker of the sex."""
    if not sex:
        return trials
    own = np.array([recording.sex == sex for recording in trials.recordings])
    return Trials(trials.models, trials.recordings, trials.tested & own)


def original(found: Measurement, verifier: str) -> Drawn | None:
    """EER of original speech."""
    evidence = found.evidence
    scores = evidence.scores["original"].get(f"{UNPROTECTED}, {verifier}")
    return None if scores is None else equal_error(*split(scores, evidence.trials))


def words(found: Measurement, system: str = "") -> Drawn | None:
    """Word error rate, a share, of the system or of ``original`` speech; None without words."""
    tally = found.evidence.words.get(system or found.name)
    return None if tally is None else share(tally.above, tally.below, tally.speakers)


def combined(parts: Sequence[Drawn], reduce: Reduce = np.mean) -> Drawn:
    """Mean, or another reduction, of figures of the same speakers.

    Example:
        >>> one, two = share([1.0], [1.0], ["ann"]), share([0.0], [1.0], ["ann"])
        >>> combined([one, two]).value, combined([one, two], np.min).value
        (0.5, 0.0)
    """
    names = np.unique(np.concatenate([part.speakers for part in parts]))
    at = [np.searchsorted(names, part.speakers) for part in parts]

    def every(times: np.ndarray) -> np.ndarray:
        each = [part.all(times[:, who]) for part, who in zip(parts, at, strict=True)]
        return reduce(np.stack(each), axis=0)

    value = float(reduce(np.array([part.value for part in parts]), axis=0))
    trials = min(part.trials for part in parts)
    return Drawn(value, names, lambda times: float(every(times[None])[0]), every, trials)


def percent(drawn: Drawn | None, replicates: int, reason: str = "did not run") -> Figure:
    """A share as a figure in percent, with its interval over speakers.

    Of errors of trials it is that of the equal error rate (:func:`.of_share`): where errors are
    few, the draws alone would be too narrow, and have no width without errors.
    """
    if drawn is None:
        return absent(reason)
    draws, people = replicate([drawn], replicates, 0)[0], len(drawn.speakers)
    if drawn.trials:
        limits = of_share(drawn.value, draws, people, drawn.trials, worth=WORTH)
    else:
        limits = enough(people, percentiles(draws, 0.95))
    return _figure(drawn.value, limits, 100.0)


def percent_of_trials(drawn: Drawn | None, replicates: int) -> Figure:
    """:func:`percent` of a share of trials, with Wilson's interval where all speakers agree."""
    if drawn is None:
        return absent("did not run")
    interval = percentiles(replicate([drawn], replicates, 0)[0], 0.95)
    low, high = unanimous(drawn.value, interval, len(drawn.speakers))
    return Figure(100.0 * drawn.value, 100.0 * low, 100.0 * high)


def difference(first: Drawn | None, second: Drawn | None, replicates: int) -> Figure:
    """The first share minus the second one in points, with the interval over common speakers.

    Where all speakers agree in one of them, that one has no width in a bootstrap; then the
    intervals of both are added as squares, as of independent shares (Newcombe, "Interval estimation
    for the difference between independent proportions", 1998, method 10).
    """
    if first is None or second is None:
        return absent("one of the two was not measured")
    value = 100.0 * (first.value - second.value)
    if {first.value, second.value} & {0.0, 1.0}:
        a, b = (percent_of_trials(drawn, replicates) for drawn in (first, second))
        return Figure(value, value - _distance(a.low, a, b.high, b),
                      value + _distance(a.high, a, b.low, b))  # fmt: skip
    return contrast(first, second, replicates, 100.0)


def contrast(first: Drawn, second: Drawn, replicates: int, scale: float = 1.0) -> Figure:
    """The first figure minus the second one, times a scale, with the interval over speakers.

    Speakers whom both have are drawn once for both.
    """
    draws = replicate([first, second], replicates, 0)
    limits = percentiles(draws[0] - draws[1], 0.95)
    people = min(len(first.speakers), len(second.speakers))
    return _figure(first.value - second.value, enough(people, limits), scale)


def _figure(value: float, limits: Interval, scale: float) -> Figure:
    """A figure times a scale; limits that are NaN are none."""
    if math.isnan(limits[0]):
        return Figure(scale * value)
    return Figure(scale * value, scale * limits[0], scale * limits[1])


def _distance(limit: float | None, a: Figure, other: float | None, b: Figure) -> float:
    """Root of the squared distances of a limit of each figure from its value."""
    parts = [(end or 0.0) - (one.value or 0.0) for end, one in ((limit, a), (other, b))]
    return math.hypot(*parts)
