"""Rank-1 among candidates, the worst speaker, and exact intervals of few trials."""

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy.stats import binom

from voicenym.errors import ScoreError
from voicenym.metrics.identification import FOUND_FOR_SURE, RANK_ONE, WORST_SPEAKER, firsts
from voicenym.metrics.intervals.binomial import (
    clopper_pearson,
    of_largest,
    of_share,
    unanimous,
    wilson,
)
from voicenym.metrics.intervals.interval import percentiles
from voicenym.metrics.metric_inputs import IdentificationScores


def search(shares, each=6, others=7):
    """Speakers who are found in a given number of their recordings."""
    speakers = np.repeat(np.arange(len(shares)), each)
    candidates = np.arange(len(shares) + others)
    scores = np.zeros((len(candidates), len(speakers)))
    hit = np.concatenate([np.arange(each) < count for count in shares])
    scores[speakers, np.arange(len(speakers))] = np.where(hit, 1.0, -1.0)
    return IdentificationScores(
        scores, np.ones(scores.shape, dtype=bool), candidates, speakers, replicates=200
    )


def test_shares_of_first_places():
    data = search([6, 6, 3, 0])
    found = data.once(firsts)
    assert found.hits.tolist() == [6, 6, 3, 0]
    assert RANK_ONE(data).value == pytest.approx(100 * 15 / 24)
    assert RANK_ONE(data).low < 100 * 15 / 24 < RANK_ONE(data).high
    assert WORST_SPEAKER(data).value == 100.0
    assert FOUND_FOR_SURE(data).value == pytest.approx(50.0)
    low, high = clopper_pearson(2, 4)
    assert (FOUND_FOR_SURE(data).low, FOUND_FOR_SURE(data).high) == pytest.approx(
        (100 * low, 100 * high)
    )


@pytest.mark.parametrize("hits", [0, 6])
def test_all_or_none_found_have_the_interval_of_as_few_trials_as_speakers(hits):
    found = RANK_ONE(search([hits] * 12))
    low, high = wilson(12 * hits // 6, 12, 0.95)
    assert (found.value, found.low, found.high) == (100 * hits / 6, 100 * low, 100 * high)
    assert RANK_ONE(search([hits])).low is None, "one speaker has no interval"


def test_equal_scores_share_the_first_place_and_untested_pairs_do_not_count():
    scores = np.array([[1.0, 0.0], [1.0, 5.0], [1.0, 9.0]])
    tested = np.array([[True, True], [True, True], [True, False]])
    data = IdentificationScores(scores, tested, np.arange(3), np.array([0, 1]))
    assert data.once(firsts).share.tolist() == [pytest.approx(1 / 3), 1.0]
    alone = IdentificationScores(scores, np.eye(3, 2, dtype=bool), np.arange(3), np.array([0, 1]))
    assert RANK_ONE(alone) is None
    assert WORST_SPEAKER(alone) is None
    assert FOUND_FOR_SURE(data) is None, "one recording each proves nothing"


def test_of_equal_scores_people_count_and_not_how_often_they_are_enrolled():
    scores = np.array([[1.0, 0.0], [1.0, 5.0], [1.0, 5.0], [0.0, 5.0]])
    tested = np.ones(scores.shape, dtype=bool)
    data = IdentificationScores(scores, tested, np.array([4, 7, 7, 4]), np.array([4, 4]))
    assert data.once(firsts).share.tolist() == [0.5, 0.5]
    alone = IdentificationScores(scores[:3], tested[:3], np.array([4, 7, 7]), np.array([7, 7]))
    assert alone.once(firsts).share.tolist() == [0.5, 1.0]


def test_few_people_who_are_not_found_may_be_more():
    """Of 20 speakers with six recordings each, one recording is not found."""
    found = RANK_ONE(search([5] + [6] * 19))
    low, _ = wilson(119, 120, 0.95)
    assert found.value == pytest.approx(100 * 119 / 120)
    assert found.low <= 100 * low + 1e-9
    assert found.high == 100.0


def test_shares_of_few_errors_hold_the_truth():
    """Of 40 speakers with five recordings, who have 2 % of errors on average, some have more."""
    rng, true, missed = np.random.default_rng(0), 0.02, np.zeros(2)
    for _ in range(300):
        own = rng.beta(0.5, 0.5 / true - 0.5, 40)
        shares = rng.binomial(5, own) / 5
        value = float(shares.mean())
        draws = shares[rng.integers(0, 40, (200, 40))].mean(1)
        both = unanimous(value, percentiles(draws), 40), of_share(value, draws, 40, 200)
        missed += [not low <= true <= high for low, high in both]
    assert missed[0] > 0.05 * 300
    assert missed[1] < 0.03 * 300


def test_shares_of_many_errors_have_the_percentiles():
    draws = np.linspace(0.1, 0.3, 50)
    assert of_share(0.2, draws, 20, 100) == percentiles(draws)
    assert of_share(0.2, [*draws, np.nan], 20, 100) == percentiles(draws)
    assert of_share(0.0, np.zeros(9), 20, 100) == (0.0, wilson(0, 20, 0.95)[1])
    assert np.isnan(of_share(0.2, [np.nan], 20, 100)).all()


@pytest.mark.parametrize(("hits", "trials"), [(0, 6), (1, 6), (3, 6), (6, 6), (17, 40)])
def test_exact_limits_are_where_a_tail_of_the_binomial_has_half_of_the_error(hits, trials):
    low, high = (float(limit) for limit in clopper_pearson(hits, trials))
    if hits:
        assert binom.sf(hits - 1, trials, low) == pytest.approx(0.025)
    else:
        assert low == 0.0
    if hits < trials:
        assert binom.cdf(hits, trials, high) == pytest.approx(0.025)
    else:
        assert high == 1.0
    with pytest.raises(ScoreError, match="no share"):
        clopper_pearson(trials + 1, trials)


def test_the_interval_of_the_worst_of_many_holds_the_truth_where_a_plain_one_does_not():
    """100 speakers, all with a true share of 40 %: the worst has 83 to 100 % of six by chance."""
    rng = np.random.default_rng(0)
    plain = honest = 0
    for _ in range(200):
        hits = rng.binomial(6, 0.4, 100)
        low, _ = clopper_pearson(hits.max(), 6)
        plain += low > 0.4
        lower, upper = of_largest(hits, np.full(100, 6))
        honest += not lower <= 0.4 <= upper
    assert plain > 50
    assert honest <= 10
    with pytest.raises(ScoreError, match="no groups"):
        of_largest([], [])


def test_scores_that_are_no_numbers_find_nobody():
    """No other score exceeds NaN, so that everybody would be found."""
    scores, who = np.random.default_rng(0).normal(size=(3, 6)), np.arange(6) % 3
    tested = np.ones((3, 6), bool)
    plain = firsts(IdentificationScores(scores, tested, np.arange(3), who))
    scores[who[4], 4] = np.nan
    with pytest.raises(ScoreError, match="candidate 1 and recording 4 is NaN"):
        firsts(IdentificationScores(scores, tested, np.arange(3), who))
    tested[:, 4] = False  # is not tried
    left = firsts(IdentificationScores(scores, tested, np.arange(3), who))
    assert np.array_equal(left.share, np.delete(plain.share, 4))


@pytest.mark.parametrize("candidates", [0, 2])
def test_tables_fit_candidates_and_recordings(candidates):
    with pytest.raises(ScoreError, match=f"do not fit {candidates} candidates"):
        firsts(
            IdentificationScores(
                np.zeros((3, 6)), np.ones((3, 6), bool), np.arange(candidates), np.arange(6)
            )
        )
