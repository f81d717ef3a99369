import sys
import tracemalloc

import numpy as np
import pytest

from voicenym.errors import ScoreError
from voicenym.metrics import Speakers, eer, miss_match_rate
from voicenym.metrics.intervals.interval import resampled
from voicenym.metrics.trials.speaker_pairs import SpeakerPairs, numbered
from voicenym.metrics.trials.trial_draws import TrialDraws


def pairs_of(rng, speakers, trials):
    return np.stack([rng.integers(0, speakers, trials) for _ in range(2)], axis=1)


def test_weights_are_the_products_of_both_speakers_draws():
    """By hand, trial by trial, from the times that speakers are drawn."""
    rng = np.random.default_rng(0)
    target, nontarget = pairs_of(rng, 6, 30), pairs_of(rng, 6, 50)
    at_t, at_n = rng.integers(0, 4, 30), rng.integers(0, 5, 50)
    draws = TrialDraws(30, 50, Speakers(target, nontarget), 7, seed=1)
    found = [np.concatenate(part) for part in zip(*draws.counted(at_t, at_n, (4, 5)), strict=True)]
    for row, times in enumerate(draws.times):
        for pairs, at, weights in ((target, at_t, found[0]), (nontarget, at_n, found[1])):
            one, other = times[pairs].T
            each = np.where(pairs[:, 0] == pairs[:, 1], one, one * other)
            np.testing.assert_array_equal(
                weights[row], np.bincount(at, each, minlength=weights.shape[1])
            )


def test_speakers_are_drawn_as_one_replicate_after_another_draws_them():
    who = Speakers(np.repeat(np.arange(5), 2).reshape(5, 2), np.array([[0, 1], [2, 3], [4, 0]]))
    draws = TrialDraws(5, 3, who, 200, seed=4)
    rng = np.random.default_rng(4)
    expected = []
    while len(expected) < 200:
        times = np.bincount(rng.integers(0, 5, 5), minlength=5)
        if times.any() and any(times[a] * times[b] for a, b in who.nontarget):
            expected.append(times)
    np.testing.assert_array_equal(draws.times, expected)


def test_without_scipy_weights_are_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    who = Speakers(pairs_of(rng, 9, 40), pairs_of(rng, 9, 300))
    target, nontarget = rng.normal(1, 1, 40), rng.normal(0, 1, 300)
    expected = eer(target, nontarget, who, replicates=50)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    assert eer(target, nontarget, who, replicates=50) == expected


def test_memory_follows_the_trials_and_not_all_pairs_of_speakers():
    rng = np.random.default_rng(0)
    speakers = 20_000  # all pairs would be 3.2 GB
    who = Speakers(
        np.repeat(rng.integers(0, speakers, 2_000)[:, None], 2, 1),
        pairs_of(rng, speakers, 20_000),
    )
    target, nontarget = rng.normal(1, 1, 2_000), rng.normal(0, 1, 20_000)
    for run in (
        lambda: eer(target, nontarget, who, replicates=3),
        lambda: next(resampled(target, nontarget, who, replicates=1)),
        lambda: miss_match_rate(target, 0.5, speakers=who.target, replicates=3),
    ):
        tracemalloc.start()
        run()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 60e6


def test_many_speakers_are_weighed_as_few_are(monkeypatch):
    """:func:`resampled` with and without its table of pairs of speakers."""
    rng = np.random.default_rng(0)
    who = Speakers(pairs_of(rng, 30, 40), pairs_of(rng, 30, 60))
    scores = rng.normal(1, 1, 40), rng.normal(0, 1, 60)

    def weights():
        draws = resampled(*scores, who, replicates=5)
        return [(draw.target.copy(), draw.nontarget.copy()) for draw in draws]

    expected = weights()
    monkeypatch.setattr("voicenym.metrics.intervals.interval.PAIRS", 0)
    np.testing.assert_equal(weights(), expected)


def test_means_of_independent_trials_spread_as_those_of_drawn_trials():
    rng = np.random.default_rng(0)
    target, nontarget = rng.exponential(size=6_000), rng.exponential(size=9_000) ** 3
    found = TrialDraws(6_000, 9_000, None, 2_000, seed=1).means(target, nontarget)
    for values, means in zip((target, nontarget), found, strict=True):
        error = values.std() / np.sqrt(values.size)
        assert means.mean() == pytest.approx(values.mean(), abs=5 * error / np.sqrt(2_000))
        assert means.std() == pytest.approx(error, rel=0.1)


@pytest.mark.parametrize("speakers", [None, 8])
def test_an_infinite_figure_counts_where_it_is_drawn(speakers):
    target, nontarget = np.append(np.ones(7), np.inf), np.ones(8)
    who = None
    if speakers:
        own = np.repeat(np.arange(8)[:, None], 2, axis=1)
        who = Speakers(own, np.roll(own, 1, axis=0) * [0, 1] + own * [1, 0])
    first, second = TrialDraws(8, 8, who, 2_000).means(target, nontarget)
    assert second == pytest.approx(np.ones(2_000))
    assert np.isinf(first).mean() == pytest.approx(1 - (7 / 8) ** 8, abs=0.05)


def test_pairs_of_speakers_have_no_order_and_speakers_may_be_any_numbers():
    pairs = SpeakerPairs(
        Speakers(np.array([[-5, -5]]), np.array([[-5, 10**9], [10**9, -5]])), (1, 2)
    )
    assert pairs.names.tolist() == [-5, 10**9]
    assert pairs.of[1].tolist() == [0, 0]


def test_numbers_are_those_of_unique():
    rng = np.random.default_rng(0)
    for low, high, count in ((0, 50, 100), (-9, 9, 100), (0, 1 << 40, 9)):
        values = rng.integers(low, high, count)
        for ours, theirs in zip(
            numbered(values), np.unique(values, return_inverse=True), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)


def test_speakers_that_do_not_fit_are_refused():
    with pytest.raises(ScoreError, match="do not fit 3 target"):
        TrialDraws(3, 1, Speakers(np.zeros((2, 2), int), np.zeros((1, 2), int)), 5)
