"""Normalised ranks and the Mann-Whitney test, against closed forms, scipy and a paper's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, rankdata

from voicenym.errors import ScoreError
from voicenym.metrics.listening_ranks import mann_whitney, normalised_ranks, p_of, ranks

SCORES = st.lists(st.integers(1, 10), min_size=2, max_size=40)


@given(SCORES)
def test_ranks_are_those_of_scipy(scores):
    assert ranks(scores) == pytest.approx(rankdata(scores))


@given(SCORES, SCORES)
def test_the_test_is_that_of_scipy(first, second):
    found = mann_whitney(first, second)
    if len({*first, *second}) == 1:
        assert found.p == 1.0
        return
    theirs = mannwhitneyu(first, second, alternative="two-sided", method="asymptotic")
    assert found.u == theirs.statistic
    assert found.p == pytest.approx(min(theirs.pvalue, 1.0))


def test_a_listener_who_uses_half_of_the_scale_has_the_ranks_of_one_who_uses_all():
    whole, half = [1, 4, 7, 10], [1, 2, 3, 4]
    found = normalised_ranks([*whole, *half], ["ann"] * 4 + ["bob"] * 4)
    assert found[:4].tolist() == found[4:].tolist() == [0.0, 0.25, 0.5, 0.75]


def test_u_of_both_samples_sums_to_the_number_of_pairs():
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 6, 30), rng.integers(1, 6, 20)
    assert mann_whitney(a, b).u + mann_whitney(b, a).u == 600


def test_a_printed_p_of_turner_et_al_is_one_sided():
    assert p_of(431770.0, 918, 945) / 2 == pytest.approx(0.432, abs=5e-4)


@pytest.mark.parametrize(("scores", "groups"), [([1.0], []), ([float("nan")], ["ann"])])
def test_answers_that_do_not_fit_are_refused(scores, groups):
    with pytest.raises(ScoreError):
        normalised_ranks(scores, groups)


def test_an_empty_sample_is_refused():
    with pytest.raises(ScoreError, match="both samples"):
        mann_whitney([], [1.0])
