"""First among N people: against integrals of Gaussian scores, and counts of few."""

import itertools
import math

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from voicenym.errors import ScoreError
from voicenym.metrics import Speakers, crowd, eer
from voicenym.metrics.crowd import FIRST_AMONG, REPORTED, chances, first_among
from voicenym.metrics.intervals.binomial import clopper_pearson, wilson
from voicenym.metrics.metric_inputs import TrialScores

FIELD = 20_020
"""Size of the crowd of the published example: an EER of 33.5 % and 15.4 % found first."""


def truth(distance, people):
    """E[Phi(s)^(N - 1)] for target scores N(distance, 1) and others N(0, 1)."""
    return quad(
        lambda s: norm.pdf(s - distance) * math.exp((people - 1) * norm.logcdf(s)),
        -10.0, 20.0 + distance, limit=500, points=[0.0, 2.0, 4.0, distance],
    )[0]  # fmt: skip


@pytest.fixture(scope="module")
def gaussian():
    rng = np.random.default_rng(0)
    return rng.normal(2.5, 1.0, 6000), rng.normal(0.0, 1.0, 20_000)


def test_gaussian_scores_give_the_integral_within_the_data_and_beyond(gaussian):
    found = first_among(*gaussian, people=(2, 10, 1000, 10_000, 200_000), replicates=60)
    for place, people in enumerate(found.people):
        expected = pytest.approx(truth(2.5, people), abs=0.025 if people <= 1000 else 0.06)
        assert found.found[place] == expected, people
        assert found.low[place] <= truth(2.5, people) <= found.high[place], people
    assert found.extrapolated.tolist() == [False] * 4 + [True]
    # 20,000 scores do not exclude that nobody is found among 200,000
    assert found.low[4] < 1e-6 < 0.01 < found.low[3]


def test_an_eer_of_a_third_is_compatible_with_one_in_six_found_first_among_thousands():
    share, far = 0.154, 8.0

    def error(threshold, near):
        return share * norm.cdf(threshold - far) + (1 - share) * norm.cdf(threshold - near)

    def gap(near):
        threshold = brentq(lambda t: error(t, near) - norm.sf(t), -5.0, 5.0)
        return norm.sf(threshold) - 0.335

    near = brentq(gap, -1.0, 2.0)
    expected = share * truth(far, FIELD) + (1 - share) * truth(near, FIELD)
    assert expected == pytest.approx(0.154, abs=0.005)
    rng = np.random.default_rng(1)
    people = np.repeat(np.arange(400), 10)
    target = rng.normal(np.where(people < share * 400, far, near), 1.0)
    nontarget = rng.normal(0.0, 1.0, 30_000)
    pairs = rng.integers(0, 400, (30_000, 2))
    pairs[:, 1] += pairs[:, 0] == pairs[:, 1]
    who = Speakers(np.stack([people, people], 1), pairs)
    assert eer(target, nontarget).value == pytest.approx(0.335, abs=0.01)
    found = first_among(target, nontarget, who, people=(FIELD,), replicates=40)
    assert found.found[0] == pytest.approx(expected, abs=0.01)
    assert found.low[0] < expected < found.high[0]
    assert found.each[:61, 0].min() > 0.9, "these speakers are found nearly always"
    assert found.each[70:, 0].max() < 0.2, "the others hardly ever"


def powers(target, nontarget, people):
    """E[F^(N - 1)] with random ties, by plain counts at each target score."""
    found = []
    for s in target:
        below, upto = np.mean(nontarget < s), np.mean(nontarget <= s)
        if upto > below:
            found.append((upto**people - below**people) / (people * (upto - below)))
        else:
            found.append(below ** (people - 1))
    return np.mean(found)


@pytest.mark.parametrize("place", [4.0, 5.0, 6.0])
def test_a_crowd_within_the_data_has_no_fitted_tail(place):
    """A lump of high scores, as of pairs of like voices, which no Pareto tail describes."""
    rng = np.random.default_rng(0)
    lump = np.concatenate([rng.normal(0.0, 1.0, 4900), rng.normal(5.0, 0.1, 100)]).round(2)
    target = rng.normal(place, 0.1, 60).round(2)
    people = (1000, 6000, 10, 5001)
    found = first_among(target, lump, people=people, replicates=50)
    assert found.extrapolated.tolist() == [False, True, False, False]
    for size, value, low, high in zip(people, found.found, found.low, found.high, strict=True):
        assert low <= value <= high
        if size <= 5001:
            assert value == pytest.approx(powers(target, lump, size), abs=1e-12)
    if place == 6.0:
        assert found.found[0] == 1.0, "all targets are above all others"
    if place == 4.0:
        assert found.high[0] < 0.1, "98 others of 1,000 score higher"


def test_replicates_within_the_data_are_counted_too(monkeypatch):
    """Two speakers; a replicate has one of them twice or both once."""
    rng = np.random.default_rng(2)
    target = np.concatenate([rng.normal(3.0, 1.0, 20), rng.normal(2.0, 1.0, 20)])
    who = np.repeat([0, 1], 20)
    nontarget = rng.normal(0.0, 1.0, 800)
    pairs = np.stack([np.repeat([0, 1], 400)] * 2, axis=1)
    speakers = Speakers(np.stack([who, who], axis=1), pairs)
    monkeypatch.setattr(crowd, "unanimous", lambda value, limits, *_, **__: limits)
    found = first_among(target, nontarget, speakers, people=(100,), level=1.0, replicates=40)
    drawn = [powers(target[who == one], nontarget[pairs[:, 0] == one], 100) for one in (0, 1)]
    assert found.high[0] == pytest.approx(max(drawn))
    assert found.low[0] == pytest.approx(min(*drawn, 2.0 * found.found[0] - max(drawn)))
    monkeypatch.undo()
    found = first_among(target, nontarget, speakers, people=(100,), replicates=40)
    low, high = wilson(2.0 * found.found[0].round(9), 2, 0.95)
    assert found.low[0] <= low < high <= found.high[0], "two speakers are few"


def test_all_found_among_nearly_as_many_as_the_data_is_not_sure():
    who = np.repeat(np.arange(10), 5)
    pairs = np.stack([np.arange(900) % 10, (np.arange(900) + 1) % 10], axis=1)
    speakers = Speakers(np.stack([who, who], axis=1), pairs)
    others = np.random.default_rng(0).normal(size=900)
    found = first_among(np.full(50, 9.0), others, speakers, people=(2, 901), replicates=20)
    assert found.found.tolist() == [1.0, 1.0]
    assert found.low[0] == pytest.approx(wilson(10, 10, 0.95)[0])
    # the exact limit of no higher score among 900
    assert found.low[1] == pytest.approx((1.0 - clopper_pearson(0, 900)[1]) ** 900)
    none = first_among(np.full(50, -9.0), others, speakers, people=(10,), replicates=20)
    assert (none.low[0], none.high[0]) == pytest.approx(wilson(0, 10, 0.95))


def test_few_scores_are_counted_and_equals_are_drawn_by_lot():
    target, nontarget = [0.0, 2.0, 2.0, 5.0], [1.0, 2.0, 2.0, 3.0]
    found = first_among(target, nontarget, people=(2, 3), replicates=2)
    for place, others in enumerate((1, 2)):
        chances_of = []
        for s in target:
            draws = list(itertools.product(nontarget, repeat=others))
            wins = [0.0 if max(d) > s else 1.0 / (1 + d.count(s)) for d in draws]
            chances_of.append(np.mean(wins))
        assert found.found[place] == pytest.approx(np.mean(chances_of))
    equal = first_among(np.zeros(5), np.zeros(50), people=(2, 1000), replicates=2)
    assert equal.found == pytest.approx([0.5, 0.001])


def test_beyond_few_scores_the_interval_says_that_nearly_nothing_is_known():
    rng = np.random.default_rng(0)
    found = first_among(rng.normal(4, 1, 50), rng.normal(0, 1, 60), people=(50, 100_000))
    assert found.extrapolated.tolist() == [False, True]
    assert found.low[1] < 0.01 < 0.8 < found.high[1]


def test_refusals_and_a_metric_that_leaves_out_infinite_scores():
    with pytest.raises(ScoreError, match="infinite"):
        first_among([np.inf], [0.0])
    with pytest.raises(ScoreError, match="two people"):
        first_among([1.0], [0.0], people=(1,))
    who = Speakers(np.array([[0, 0]]), np.array([[0, 1]]))
    assert FIRST_AMONG(TrialScores(np.array([np.inf]), np.zeros(1), who)) is None
    assert FIRST_AMONG.chance == pytest.approx(100 / REPORTED)


def test_a_ratio_as_large_as_the_crowd_finds_every_second_time():
    assert chances(math.log(999.0), 1000) == pytest.approx(2.0)
    assert chances(0.0, 1000) == pytest.approx(1000.0)
    assert chances(math.log(9.0), 82, recordings=2) == pytest.approx(2.0)
    assert chances(math.log(0.5), 1000) > 1000.0, "evidence against the speaker"
    assert chances(5000.0, 10, recordings=3) == pytest.approx(1.0)


def test_the_upper_limit_holds_the_share_of_scores_that_say_nothing():
    """The truth is 1 / N. Few recordings come first, and hardly a replicate held one of them."""
    rng = np.random.default_rng(0)
    pairs = np.array([(i, j) for i in range(20) for j in range(20)]).repeat(5, axis=0)
    same = pairs[:, 0] == pairs[:, 1]
    speakers = Speakers(pairs[same], pairs[~same])
    for _ in range(10):
        scores = rng.normal(size=len(pairs))
        found = first_among(scores[same], scores[~same], speakers, people=(1000,), replicates=50)
        assert found.low[0] <= 0.001 <= found.high[0]
