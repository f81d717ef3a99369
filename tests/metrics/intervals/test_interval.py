"""Bootstrap over speakers: coverage, and larger width than a bootstrap over trials."""

import tracemalloc
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicenym.errors import ScoreError
from voicenym.metrics import (
    SortedTrials,
    Speakers,
    bootstrap,
    cllr,
    ece_profile,
    eer,
    eer_difference,
    linkability,
    min_cllr,
    rocch_eer,
    zebra,
)
from voicenym.metrics.intervals.interval import (
    bengio_mariethoz,
    percentiles,
    resampled,
)
from voicenym.metrics.intervals.unbiased import unbiased, unbiased_loss
from voicenym.metrics.trials.pav import joined_steps, spread
from voicenym.metrics.trials.scores import Sorted
from voicenym.metrics.verification.cllr import _least_costs, cost
from voicenym.metrics.verification.eer import crossing
from voicenym.metrics.verification.zebra import gain


def population(rng, speakers=20, trials=8):
    """Scores in which every speaker has an offset of its own, so that its trials hang together."""
    offset = rng.normal(0, 0.8, speakers)
    model, trial = np.divmod(np.arange(speakers * speakers * trials), speakers * trials)
    trial //= trials
    score = rng.normal(0, 1, len(model)) + 1.2 * (offset[model] + offset[trial])
    same = model == trial
    score = score + 2.0 * same
    pairs = np.stack([model, trial], axis=1)
    return score[same], score[~same], Speakers(pairs[same], pairs[~same])


def test_speakers_that_recur_widen_the_interval():
    target, nontarget, speakers = population(np.random.default_rng(0))
    by_speaker = eer(target, nontarget, speakers, replicates=300)
    low, high = bootstrap(lambda s: crossing(s)[0], target, nontarget, replicates=300)
    assert by_speaker.method == "bootstrap over speakers"
    assert by_speaker.interval[0] <= by_speaker.value <= by_speaker.interval[1]
    assert by_speaker.interval[1] - by_speaker.interval[0] > 1.3 * (high - low)


def test_intervals_cover_the_true_rate_as_often_as_they_say():
    rng = np.random.default_rng(1)
    target, nontarget, _ = population(rng, speakers=300, trials=2)
    truth = eer(target, nontarget).value
    inside = 0
    for _ in range(60):
        t, n, speakers = population(rng)
        low, high = eer(t, n, speakers, replicates=120).interval
        inside += low <= truth <= high
    assert inside >= 50, "nominally 57 of 60"


@pytest.mark.parametrize("figure", [cllr, min_cllr, zebra, linkability])
def test_fewer_than_five_speakers_have_no_interval_that_looks_certain(figure):
    """A bootstrap of two speakers has one draw with trials of both kinds, and so no width."""
    for speakers, known in ((2, False), (4, False), (5, True)):
        found = figure(*population(np.random.default_rng(0), speakers), replicates=200)
        assert np.isfinite(found.value)
        assert np.isfinite(found.interval).all() == known
        if known:
            assert found.interval[0] < found.interval[1]
    t, n, who = population(np.random.default_rng(0), 2)
    low, high = eer(t, n, who, replicates=200).interval
    assert high - low > 0.3, "a share of trials has Wilson's"


@pytest.mark.parametrize(("speakers", "known"), [(2, False), (4, False), (6, True)])
def test_differences_of_few_speakers_are_not_tested(speakers, known):
    """The draws of two speakers are all alike, so that any difference would look certain."""
    target, nontarget, who = population(np.random.default_rng(0), speakers)
    found = eer_difference((target, nontarget, who), (target - 3.0, nontarget, who), replicates=200)
    assert found.value > 0.0
    assert np.isfinite([*found.interval, found.p]).all() == known


def test_a_replicate_weighs_trials_by_how_often_their_speakers_were_drawn():
    target, nontarget = np.array([3.0, 4.0]), np.array([1.0, 2.0])
    speakers = Speakers(np.array([[0, 0], [1, 1]]), np.array([[0, 1], [1, 0]]))
    seen = set()
    for draw in resampled(target, nontarget, speakers, replicates=50):
        seen.add((tuple(draw.target), tuple(draw.nontarget)))
    # both once, or (without non-target trials, hence drawn again) one of them twice
    assert seen == {((0.0, 0.0, 1.0, 1.0), (1.0, 1.0, 0.0, 0.0))}


def test_weights_of_one_give_the_scores_themselves():
    scores = Sorted.of([2.0, 1.0, 2.0], [1.0, 0.0])
    assert scores.thresholds.tolist() == [0.0, 1.0, 2.0]
    assert scores.target.tolist() == [0.0, 1.0, 2.0]
    assert scores.nontarget.tolist() == [1.0, 1.0, 0.0]
    miss, alarm = scores.rates()
    assert miss == pytest.approx([0, 0, 1 / 3, 1])
    assert alarm == pytest.approx([1, 0.5, 0, 0])


def test_the_same_seed_draws_the_same_interval():
    target, nontarget, speakers = population(np.random.default_rng(3))
    first, again = (eer(target, nontarget, speakers, replicates=40, seed=5) for _ in range(2))
    assert first == again
    assert first.interval != eer(target, nontarget, speakers, replicates=40, seed=6).interval


def test_bengio_and_mariethoz_by_hand():
    assert bengio_mariethoz(0.5, 0.5, 25, 25, 2.0) == pytest.approx(2 * np.sqrt(0.005))
    assert bengio_mariethoz(0.0, 0.0, 10, 10, 1.96) == 0.0


def test_percentiles_stand_infinities_and_nothing():
    assert percentiles([1.0, np.inf, np.nan, 2.0], 0.5) == (1.0, np.inf)
    assert np.isnan(percentiles([np.nan])).all()


def test_speakers_of_another_shape_are_refused():
    with pytest.raises(ScoreError, match=r"\[trial, 2\]"):
        Speakers(np.zeros(3, int), np.zeros((3, 2), int))


trials = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=25)


@settings(deadline=None)  # the first example imports scipy
@given(trials, trials)
def test_runs_of_one_class_may_be_one_point(target, nontarget):
    """For what depends on the order alone: EER, hull and PAV, replicate by replicate."""
    statistics = (
        lambda s: crossing(s)[0],
        lambda s: crossing(joined_steps(s)[0])[0],
        lambda s: cost(s, spread(s)),
    )
    for statistic in statistics:
        both = [
            [statistic(s) for s in resampled(target, nontarget, replicates=5, order_only=joined)]
            for joined in (False, True)
        ]
        assert both[1] == pytest.approx(both[0], abs=1e-12)


def test_runs_end_where_the_other_class_begins_and_at_ties():
    scores = Sorted.of([3.0, 4.0, 6.0, 7.0], [0.0, 1.0, 2.0, 5.0, 6.0, 7.0])
    assert scores.thresholds[scores.runs()].tolist() == [0.0, 3.0, 5.0, 6.0, 7.0]


def test_a_replicate_is_the_same_as_trials_that_are_repeated():
    """Weights by hand: a trial as often as its speakers were drawn."""
    target, nontarget, speakers = population(np.random.default_rng(4), speakers=6, trials=2)
    rng = np.random.default_rng(7)
    for draw in resampled(target, nontarget, speakers, replicates=5, seed=7):
        times = np.bincount(rng.integers(0, 6, 6), minlength=6)
        one, other = speakers.nontarget.T
        repeated = Sorted.of(
            np.repeat(target, times[speakers.target[:, 0]]),
            np.repeat(nontarget, times[one] * times[other]),
        )
        assert crossing(draw)[0] == pytest.approx(crossing(repeated)[0], abs=1e-12)


def test_a_generator_is_as_good_as_a_seed_and_is_advanced():
    target, nontarget, speakers = population(np.random.default_rng(3), speakers=8)
    rng = np.random.default_rng(5)
    first, again = (eer(target, nontarget, speakers, replicates=20, seed=rng) for _ in range(2))
    assert first == eer(target, nontarget, speakers, replicates=20, seed=5)
    assert first.interval != again.interval


def test_replicates_are_not_kept():
    """All of them at once would be gigabytes where there are many trials."""
    target, nontarget, speakers = population(np.random.default_rng(0), trials=50)

    def peak(replicates):
        tracemalloc.start()
        bootstrap(lambda s: crossing(s)[0], target, nontarget, speakers, replicates=replicates)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(40) < 1.2 * peak(4)


def test_speakers_that_do_not_fit_the_trials_are_refused():
    pairs = np.zeros((2, 2), int)
    with pytest.raises(ScoreError, match="do not fit 3 target"):
        eer([1.0, 2.0, 3.0], [0.0, 1.0], Speakers(pairs, pairs))


def known_truth(distance):
    """min C_llr, D_ECE, ROCCH-EER and ECE at even odds of endless Gaussian scores."""
    x = np.linspace(-9.0, 9.0 + distance, 20_001)
    ratio = distance * x - distance**2 / 2
    target, nontarget = (np.exp(-((x - mean) ** 2) / 2) for mean in (distance, 0.0))
    target, nontarget = target / target.sum(), nontarget / nontarget.sum()
    losses = target @ np.logaddexp(0, -ratio) + nontarget @ np.logaddexp(0, ratio)
    cost = losses / (2 * np.log(2))
    disclosed = (target @ gain(ratio) + nontarget @ gain(-ratio)) / np.log(2)
    return np.array([cost, disclosed, NormalDist().cdf(-distance / 2), cost])


@pytest.mark.parametrize("distance", [0.0, 0.5, 2.0])
def test_intervals_after_pav_hold_the_truth_and_the_value(distance):
    """Percentiles of replicates, which have the noise twice, never hold it at a distance of 0."""
    truth = known_truth(distance)
    speakers, runs = 12, 16
    who = np.repeat(np.arange(speakers), 5)
    model, trial = np.meshgrid(np.arange(speakers), who, indexing="ij")
    other = model != trial
    pairs = Speakers(np.stack([who, who], 1), np.stack([model[other], trial[other]], 1))
    held, percentile = np.zeros((2, 4))
    for run in range(runs):
        rng = np.random.default_rng(run)
        scores = rng.normal(distance, 1.0, who.size), rng.normal(0.0, 1.0, other.sum())
        trials = SortedTrials(*scores, pairs)
        figures = [one(trials, replicates=100) for one in (min_cllr, zebra, rocch_eer)]
        profile = ece_profile(trials, points=3, replicates=100)
        values = np.array([*(one.value for one in figures), profile.ece[1]])
        limits = [*(one.interval for one in figures), (profile.low[1], profile.high[1])]
        low, high = np.array(limits).T
        assert (low <= values).all()
        assert (values <= high).all()
        held += (low <= truth + 1e-9) & (truth - 1e-9 <= high)
        drawn = trials.replicates(100).of_blocks(_least_costs)
        percentile[0] += percentiles(drawn)[1] >= truth[0]
    assert (held >= 0.75 * runs).all()
    if not distance:
        assert percentile[0] == 0


def test_a_loss_has_the_corrected_interval_of_what_is_left_of_the_most():
    draws = np.array([0.3, 0.35, 0.42])
    low, high = unbiased_loss(0.4, draws, 0.5)
    assert low == pytest.approx(0.5 - unbiased(0.1, 0.5 - draws, most=0.5)[1][1])
    assert high == 0.5
    draws = np.array([0.01, 0.02, 0.06])
    low, high = unbiased_loss(0.04, draws, 0.5)
    assert low < 0.04
    assert high == pytest.approx(0.06 * (4 / 3) ** 2 + 2 * 0.01), "in proportion, and two biases"
    assert unbiased_loss(0.0, np.zeros(5), 0.5) == (0.0, 0.0)
    assert unbiased_loss(0.5, np.full(5, 0.5), 0.5) == (0.5, 0.5)


def test_a_corrected_interval_ends_at_the_most_and_holds_the_value():
    _, (low, high) = unbiased(0.69, np.linspace(0.5, 0.72, 50), most=0.7213)
    assert low <= 0.69 < high <= 0.7213
    assert unbiased(0.7213 + 1e-12, np.full(9, 0.7213), most=0.7213)[1][1] == 0.7213 + 1e-12
