"""PAV against a naive pool of violators, and Laplace's rule against its bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicenym.metrics import Calibration
from voicenym.metrics.pav import llr

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
