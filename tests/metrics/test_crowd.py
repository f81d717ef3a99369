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
from voicenym.metrics import Speakers, eer
from voicenym.metrics.crowd import FIRST_AMONG, REPORTED, chances, first_among
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
