import numpy as np
import pytest

from voicenym.metrics.trials import score_bins
from voicenym.metrics.trials.score_bins import COARSE, FINE, bins, grid
from voicenym.metrics.trials.scores import Sorted


def alternating(count, rate=10):
    """One target after ``rate`` non-targets, ``count`` times."""
    target = (np.arange(count * (rate + 1)) % (rate + 1) == rate).astype(float)
    return Sorted(np.arange(float(len(target))), target, 1.0 - target)


def test_few_runs_are_bins_of_their_own():
    scores = alternating(100)
    np.testing.assert_array_equal(bins(scores), scores.runs())


@pytest.mark.parametrize("count", [5_000, 100_000])
def test_bins_of_several_runs_have_small_shares(count):
    scores = alternating(count)
    begin, runs = bins(scores), scores.runs()
    assert set(begin) <= set(runs)
    several = np.diff(np.searchsorted(runs, begin), append=len(runs)) > 1
    assert several.any()
    for trials in (scores.target, scores.nontarget):
        inside = np.add.reduceat(trials, begin)
        below = np.cumsum(inside) - inside
        beyond = np.minimum(below, trials.sum() - below - inside)
        assert (inside[several] <= 1.01 * COARSE * trials.sum() + 1).all()
        assert (inside[several] <= 1.05 * FINE * beyond[several] + 1).all()


def test_the_number_of_bins_grows_with_the_logarithm_of_that_of_trials():
    few, many = (len(bins(alternating(count))) for count in (10_000, 160_000))
    assert score_bins.EXACT / 2 < few < many < 1.5 * few


@pytest.mark.parametrize("count", [1.0, 3.0, 50.0, 1e3, 1e6])
def test_the_grid_is_symmetric_and_rises(count):
    ranks = np.unique(np.linspace(0.0, count, 20_001).round())
    cells = grid(ranks)
    steps = np.diff(cells)
    assert (steps >= 0).all()
    assert cells[0] == 0
    ends = min(1.0 / FINE, count / 2)
    if count <= 20_000:
        first = ranks <= ends
        assert (np.diff(cells[first]) == 1).all(), "one trial a cell near the ends"
    assert cells[-1] == pytest.approx(2 * grid(np.array([0.0, count / 2, count]))[1], abs=1)
