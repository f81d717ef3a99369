"""PAV against a naive pool of violators, and Laplace's rule against its bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicenym.errors import ScoreError
from voicenym.metrics import Calibration
from voicenym.metrics.trials.pav import llr

scores = st.lists(st.integers(-8, 8).map(float), min_size=1, max_size=25)


def naive(target, nontarget):
    """Blocks of [targets, non-targets] over the different scores, pooled while they fall."""
    values = sorted({*target, *nontarget})
    blocks = [[[v], target.count(v), nontarget.count(v)] for v in values]
    i = 0
    while i + 1 < len(blocks):
        left, right = blocks[i], blocks[i + 1]
        if left[1] * (right[1] + right[2]) >= right[1] * (left[1] + left[2]):
            blocks[i : i + 2] = [[left[0] + right[0], left[1] + right[1], left[2] + right[2]]]
            i = max(i - 1, 0)
        else:
            i += 1
    found = {}
    for members, t, n in blocks:
        with np.errstate(divide="ignore"):
            ratio = np.log(t) - np.log(n) - np.log(len(target) / len(nontarget))
        found.update(dict.fromkeys(members, ratio))
    return found


@given(scores, scores)
def test_equals_the_naive_algorithm(target, nontarget):
    expected = naive(target, nontarget)
    t, n = llr(target, nontarget)
    assert t == pytest.approx([expected[s] for s in target])
    assert n == pytest.approx([expected[s] for s in nontarget])


@given(scores, scores)
def test_calibrates_its_own_scores_and_rises(target, nontarget):
    calibration = Calibration.fit(target, nontarget, laplace=True)
    t, n = llr(target, nontarget, laplace=True)
    assert calibration(target) == pytest.approx(t)
    assert calibration(nontarget) == pytest.approx(n)
    assert (np.diff(calibration(np.linspace(-20, 20, 99))) >= 0).all()
    assert np.isfinite(calibration.llr).all()


@pytest.mark.parametrize(("targets", "nontargets"), [(10, 20), (5, 500), (40, 3)])
def test_laplace_bounds_of_separated_classes(targets, nontargets):
    """What can be seen at most depends on the numbers of trials."""
    t, n = llr(np.arange(targets) + 1000.0, np.arange(nontargets), laplace=True)
    top = np.log((targets + 1) * nontargets / targets)
    bottom = -np.log((nontargets + 1) * targets / nontargets)
    assert t == pytest.approx(np.full(targets, top))
    assert n == pytest.approx(np.full(nontargets, bottom))


def test_ties_are_one_point():
    t, n = llr([1.0, 1.0], [1.0, 1.0, 1.0])
    assert t == pytest.approx([0.0, 0.0])
    assert n == pytest.approx([0.0, 0.0, 0.0])


def test_without_laplace_the_highest_score_is_infinite():
    t, n = llr([1.0, 3.0], [0.0, 2.0])
    assert t[1] == np.inf
    assert n[0] == -np.inf
    assert t[0] == n[1] == 0.0


def test_infinite_scores_are_the_ends():
    t, n = llr([np.inf, 1.0], [-np.inf, 1.0])
    assert (t[0], n[0]) == (np.inf, -np.inf)


@given(scores, scores)
def test_laplace_equals_the_naive_algorithm_with_four_more_trials(target, nontarget):
    """One target, one non-target below all and above all, in the violating order; then dropped."""
    dummies_t, dummies_n = [-101.0, 100.0], [-100.0, 101.0]
    expected = naive(target + dummies_t, nontarget + dummies_n)
    # the naive one subtracts the odds of all trials, the rule those of the real ones
    odds = np.log((len(target) + 2) / (len(nontarget) + 2)) - np.log(len(target) / len(nontarget))
    t, n = llr(target, nontarget, laplace=True)
    assert t == pytest.approx([expected[s] + odds for s in target])
    assert n == pytest.approx([expected[s] + odds for s in nontarget])


@pytest.mark.parametrize(("targets", "nontargets"), [(1, 1), (3, 3), (100, 1000), (7, 2)])
@pytest.mark.parametrize("order", ["tied", "reversed"])
def test_laplace_of_a_single_block(targets, nontargets, order):
    """Odds (Nt + 1) / (Nn + 1): not zero evidence where the classes differ in size.

    Not (Nt + 2) / (Nn + 2): of the pairs, which are even, the one below violates the order only
    where the block's share of targets is at most a half, the one above only where it is at least
    a half. Both join where Nt = Nn, and then either formula says 1.
    """
    above = 0.0 if order == "tied" else 1.0
    t, n = llr(np.zeros(targets), np.full(nontargets, above), laplace=True)
    expected = np.log((targets + 1) / (nontargets + 1)) - np.log(targets / nontargets)
    assert t == pytest.approx(np.full(targets, expected))
    assert n == pytest.approx(np.full(nontargets, expected))
    plain, _ = llr(np.zeros(targets), np.full(nontargets, above))
    assert plain == pytest.approx(np.zeros(targets), abs=1e-12)


def test_laplace_leaves_the_inner_blocks():
    target, nontarget = [0.0, 1.0, 1.0, 2.0, 2.0, 2.0], [0.0, 0.0, 0.0, 1.0, 1.0, 2.0]
    plain, _ = llr(target, nontarget)
    smooth, _ = llr(target, nontarget, laplace=True)
    assert plain == pytest.approx(np.log([1 / 3, 1, 1, 3, 3, 3]))
    assert smooth == pytest.approx(np.log([2 / 4, 1, 1, 4 / 2, 4 / 2, 4 / 2]))
    # 3 to 1 is already above the even pair at the bottom: it stays, and 9 to 1 at the top moves
    many, _ = llr(np.repeat([0.0, 1.0], [3, 9]), [0.0, 1.0], laplace=True)
    assert many[[0, -1]] == pytest.approx(np.log([3 / 6, 10 / 2 / 6]))


@given(scores, scores)
def test_monotone_maps_change_nothing(target, nontarget):
    for laplace in (False, True):
        plain = llr(target, nontarget, laplace)
        moved = llr(np.array(target) ** 3 + 2, np.array(nontarget) ** 3 + 2, laplace)
        for before, after in zip(plain, moved, strict=True):
            assert np.array_equal(before, after)


def test_new_scores_take_the_step_they_are_on():
    calibration = Calibration.fit([1.0, 2.0], [0.0, 1.0])
    found = calibration([-9.0, 0.0, 0.5, 1.0, 1.5, 9.0, np.inf])
    assert found == pytest.approx([-np.inf, -np.inf, -np.inf, 0, 0, np.inf, np.inf])


def test_a_new_score_that_is_no_number_is_not_the_highest():
    with pytest.raises(ScoreError, match="1 of 2 scores are NaN"):
        Calibration.fit([1.0, 2.0], [0.0, 1.0])([np.nan, 0.0])
