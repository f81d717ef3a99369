"""Shared sorts and replicates: 20 cases against a full bootstrap, replicate by replicate."""

import numpy as np
import pytest

from voicenym.metrics import (
    Speakers,
    cllr,
    det,
    eer,
    linkability,
    min_cllr,
    roc_band,
    rocch_eer,
    zebra,
)
from voicenym.metrics.intervals.interval import percentiles, resampled
from voicenym.metrics.trials import score_bins
from voicenym.metrics.trials.pav import joined_steps
from voicenym.metrics.trials.pav_batches import Blocks
from voicenym.metrics.trials.sorted_trials import SortedTrials
from voicenym.metrics.trials.trial_draws import TrialDraws
from voicenym.metrics.verification.cllr import _least_costs, cost
from voicenym.metrics.verification.eer import crossing, crossings
from voicenym.metrics.verification.low_false_matches import at_rates, true_match_rates
from voicenym.metrics.verification.zebra import _disclosures, _worst_cases, disclosure, worst_case

REPLICATES = 40
RATES = np.array([0.1, 0.01])
ORDERED = (eer, rocch_eer, min_cllr, zebra, true_match_rates)


def verification(seed, speakers, recordings, distance, own=0.5):
    """A model of each speaker against all recordings; speakers have offsets of their own."""
    rng = np.random.default_rng(seed)
    model, trial = np.arange(speakers), np.repeat(np.arange(speakers), recordings)
    same = model[:, None] == trial
    offset = rng.normal(0, own, speakers)
    scores = rng.normal(size=same.shape) + distance * same + offset[:, None] + offset[trial]
    pairs = np.stack(np.broadcast_arrays(model[:, None], trial), axis=-1)
    return scores[same], scores[~same], Speakers(pairs[same], pairs[~same])


def rounded(case, unit):
    target, nontarget, who = case
    return np.round(target / unit), np.round(nontarget / unit), who


def thinned(case, speaker, left):
    """One speaker has a few target trials only."""
    target, nontarget, who = case
    own = np.flatnonzero(who.target[:, 0] == speaker)
    keep = np.setdiff1d(np.arange(len(target)), own[left:])
    return target[keep], nontarget, Speakers(who.target[keep], who.nontarget)


def mapped(case, function):
    return function(case[0]), function(case[1]), case[2]


def endless(case):
    target, nontarget, who = case
    target, nontarget = target.copy(), nontarget.copy()
    target[::7], nontarget[::9] = np.inf, -np.inf
    return target, nontarget, who


CASES = {
    "overlapping": lambda: verification(0, 20, 6, 1.0),
    "chance": lambda: verification(1, 20, 6, 0.0),
    "clear": lambda: verification(2, 20, 6, 4.0),
    "separated": lambda: verification(3, 15, 6, 40.0),
    "reversed": lambda: verification(4, 20, 6, -1.5),
    "reversed and separated": lambda: verification(5, 12, 5, -40.0),
    "few trials": lambda: verification(6, 4, 2, 1.0),
    "two speakers": lambda: verification(7, 2, 5, 1.0),
    "one recording each": lambda: verification(8, 30, 1, 1.5),
    "ties": lambda: rounded(verification(9, 20, 6, 1.0), 0.5),
    "two values": lambda: rounded(verification(10, 20, 6, 1.5), 4.0),
    "all equal": lambda: mapped(verification(11, 10, 4, 1.0), np.zeros_like),
    "a speaker with one trial": lambda: thinned(verification(12, 12, 10, 1.0), 3, 1),
    "a speaker without target trials": lambda: thinned(verification(13, 12, 10, 1.0), 3, 0),
    "infinite": lambda: endless(verification(14, 15, 6, 1.0)),
    "heavy tails": lambda: mapped(verification(15, 20, 10, 1.0), np.sinh),
    "speakers differ much": lambda: verification(16, 25, 10, 2.0, own=3.0),
    "many trials": lambda: verification(17, 40, 70, 1.5),
    "many trials, nearly chance": lambda: verification(18, 30, 90, 0.3),
    "many trials, ties": lambda: rounded(verification(19, 40, 70, 1.0), 2e-4),
}


def full(case):
    """Each replicate by itself, all runs of trials being points of their own."""
    draws = resampled(*case, replicates=REPLICATES, seed=3, order_only=True)
    return np.array(
        [
            [
                crossing(draw)[0],
                crossing(joined_steps(draw)[0])[0],
                cost(*joined_steps(draw)),
                disclosure(draw),
                worst_case(draw),
                *at_rates(draw.target[None], draw.nontarget[None], RATES)[0],
            ]
            for draw in draws
        ]
    )


def batched(trials):
    found = trials.replicates(REPLICATES, 3)
    return np.column_stack(
        [
            found.each(crossings),
            found.of_blocks(Blocks.meeting),
            found.of_blocks(_least_costs),
            found.of_blocks(_disclosures),
            found.each(_worst_cases),
            found.each(lambda t, n: at_rates(t, n, RATES)),
        ]
    )


def bounds(trials):
    """Bounds of the errors of each replicate, ``[replicate, figure]``, as stated in score_bins."""
    begin, runs = score_bins.bins(trials.whole), trials.whole.runs()
    several = np.diff(np.searchsorted(runs, begin), append=len(runs)) > 1
    found = []
    for t, n in trials.replicates(REPLICATES, 3).weights():
        share = np.zeros(len(t))
        ratio = np.zeros(len(t))
        if several.any():
            for part in (t, n):
                share = np.maximum(share, (part / part.sum(1, keepdims=True))[:, several].max(1))
            for a, b in ((t, n), (t[:, ::-1], n[:, ::-1])):
                inside = several if a is t else several[::-1]
                extra = [np.log10(1 + x / (np.cumsum(x, 1) - x + 1)) for x in (a, b)]
                ratio = np.maximum(ratio, np.minimum(*extra)[:, inside].max(1))
        error = [share, share / 2, share, share / (2 * np.log(2)), ratio, share, share]
        found.append(np.stack(error, axis=1))
    return np.concatenate(found)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("exact", [score_bins.EXACT, 0], ids=["as it is", "always bins"])
def test_replicates_are_those_of_a_full_bootstrap(name, exact, monkeypatch):
    """Within the stated bound, replicate by replicate; exactly where each run is a bin."""
    monkeypatch.setattr(score_bins, "EXACT", exact)
    case = CASES[name]()
    trials = SortedTrials(*case)
    expected, found, bound = full(case), batched(trials), bounds(trials)
    assert (np.abs(found - expected) <= bound + 1e-9).all()
    signed = (found - expected)[:, 1:5] * [1, 1, -1, -1]
    assert (signed > -1e-9).all(), "bins never lower a cost or raise a disclosure"
    # in practice far nearer
    spread = np.nanstd(expected, axis=0) + 1e-9
    limits = np.array([percentiles(column) for column in found.T])
    others = np.array([percentiles(column) for column in expected.T])
    if len(trials.whole.runs()) > exact > 0:
        assert bound[:, 0].max() < 0.01
        assert np.abs(limits - others).max() < 1.1e-3
        assert (np.abs((found - expected).mean(0)) < 0.1 * spread).all()
    if len(trials.whole.runs()) <= exact:
        assert limits == pytest.approx(others, abs=1e-9)


def test_cases_of_both_kinds_are_among_them():
    runs = [len(SortedTrials(*case()).whole.runs()) for case in CASES.values()]
    assert len(runs) == 20
    assert sum(count > score_bins.EXACT for count in runs) >= 3


@pytest.mark.parametrize("distance", [0.5, 2.0])
def test_independent_trials_have_the_spread_of_a_bootstrap_by_trial(distance, monkeypatch):
    """Bins are drawn instead of trials: other numbers of the same distribution."""
    monkeypatch.setattr(score_bins, "EXACT", 100)
    target, nontarget, _ = verification(0, 20, 12, distance)
    draws = resampled(target, nontarget, replicates=400, seed=1, order_only=True)
    expected = np.array([(crossing(d)[0], cost(*joined_steps(d)), disclosure(d)) for d in draws])
    drawn = SortedTrials(target, nontarget).replicates(400, 2)
    found = np.column_stack(
        [drawn.each(crossings), drawn.of_blocks(_least_costs), drawn.of_blocks(_disclosures)]
    )
    spread = expected.std(0)
    assert (np.abs(found.mean(0) - expected.mean(0)) < 5 * spread * np.sqrt(2 / 400)).all()
    assert found.std(0) / spread == pytest.approx(np.ones(3), abs=0.2)


def test_linkability_and_cllr_are_those_of_a_full_bootstrap():
    target, nontarget, who = verification(0, 20, 6, 1.0)
    found = linkability(target, nontarget, who, replicates=REPLICATES, seed=3)
    middle = (found.edges[1:] + found.edges[:-1]) / 2
    local, costs = [], []
    for draw in resampled(target, nontarget, who, replicates=REPLICATES, seed=3):
        at = np.abs(draw.thresholds[:, None] - middle).argmin(1)
        t, n = (np.bincount(at, w, len(middle)) / w.sum() for w in (draw.target, draw.nontarget))
        local.append(np.maximum(0.0, 2.0 * t / np.maximum(t + n, 1e-12) - 1.0))
        costs.append(cost(draw, draw.thresholds))
    low, high = np.quantile(local, [0.025, 0.975], axis=0)
    assert found.low == pytest.approx(low, abs=1e-9)
    assert found.high == pytest.approx(high, abs=1e-9)
    plain = cllr(target, nontarget, who, replicates=REPLICATES, seed=3)
    assert plain.interval == pytest.approx(percentiles(costs), abs=1e-9)


def test_values_of_all_metrics_of_scores_need_one_sort(monkeypatch):
    """Sorted numbers are counted: each class once, and both runs once to merge them."""
    target, nontarget, who = verification(0, 20, 20, 1.0)
    sizes = []

    def counting(name):
        plain = getattr(np, name)

        def count(values, *args, **options):
            sizes.append(np.size(values))
            return plain(values, *args, **options)

        monkeypatch.setattr(np, name, count)

    for name in ("sort", "argsort", "unique", "lexsort"):
        counting(name)
    trials = SortedTrials(target, nontarget, who)
    for metric in (eer, min_cllr, zebra, linkability, rocch_eer, true_match_rates):
        metric(trials, interval=None)
    det(trials)
    assert sum(sizes) == 2 * (len(target) + len(nontarget))


def test_metrics_of_the_order_share_one_set_of_replicates(monkeypatch):
    trials = SortedTrials(*verification(0, 12, 6, 1.0))
    calls = []
    plain = TrialDraws.counted
    monkeypatch.setattr(TrialDraws, "counted", lambda *args: calls.append(args) or plain(*args))
    alone = [metric(*verification(0, 12, 6, 1.0), replicates=30) for metric in ORDERED]
    separate = len(calls)
    together = [metric(trials, replicates=30) for metric in ORDERED]
    roc_band(trials, replicates=30)
    assert together == alone
    assert separate == len(ORDERED)
    assert len(calls) == separate + 1


@pytest.mark.parametrize("metric", [eer, rocch_eer, cllr, min_cllr, zebra, linkability])
def test_without_intervals_values_are_the_same_and_nothing_is_drawn(metric, monkeypatch):
    case = verification(0, 12, 6, 1.0)
    expected = metric(*case, replicates=20)
    monkeypatch.setattr(TrialDraws, "__init__", None)
    found = metric(*case, interval=None)
    assert found.value == expected.value
    assert np.isnan(found.interval).all()
    assert np.isfinite(expected.interval).all()


def test_kept_weights_have_a_limit(monkeypatch):
    """Beyond it they are computed again, with the same result."""
    case = verification(0, 12, 6, 1.0)
    expected = [metric(*case, replicates=30) for metric in ORDERED]
    monkeypatch.setattr("voicenym.metrics.trials.sorted_trials.KEPT", 0)
    trials = SortedTrials(*case)
    assert [metric(trials, replicates=30) for metric in ORDERED] == expected
    assert trials.replicates(30)._weights == []


def test_sorted_trials_stand_in_place_of_scores_and_speakers():
    case = verification(0, 5, 3, 1.0)
    with pytest.raises(TypeError, match="have their"):
        eer(SortedTrials(*case), case[1])
    with pytest.raises(TypeError, match="missing"):
        eer(case[0])
