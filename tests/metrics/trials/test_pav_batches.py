import numpy as np
import pytest

from voicenym.metrics.trials.pav import joined_steps
from voicenym.metrics.trials.pav_batches import blocks
from voicenym.metrics.trials.scores import Sorted
from voicenym.metrics.verification.eer import crossing


@pytest.mark.parametrize("laplace", [False, True])
@pytest.mark.parametrize("most", [1, 2, 40])
def test_rows_have_the_blocks_that_each_has_by_itself(laplace, most):
    rng = np.random.default_rng(most)
    target, nontarget = rng.integers(0, most + 1, (2, 200, 30)).astype(float)
    target[:50, 10:], nontarget[:50, :20] = 0.0, 0.0  # separated, the wrong way round
    target[50:100, :20], nontarget[50:100, 10:] = 0.0, 0.0
    target[:, 12], nontarget[:, 5] = np.maximum(target[:, 12], 1), np.maximum(nontarget[:, 5], 1)
    found = blocks(target, nontarget, laplace)
    bounds = [*found.first, len(found.llr)]
    for row, (t, n) in enumerate(zip(target, nontarget, strict=True)):
        own = slice(bounds[row], bounds[row + 1])
        steps, llr = joined_steps(Sorted(np.arange(30.0), t, n), laplace)
        assert found.llr[own] == pytest.approx(llr, abs=1e-9)
        if not laplace:
            assert found.target[own] == pytest.approx(steps.target)
            assert found.nontarget[own] == pytest.approx(steps.nontarget)


def test_meetings_are_the_rates_of_the_hulls():
    rng = np.random.default_rng(0)
    target, nontarget = rng.integers(0, 4, (2, 100, 25)).astype(float)
    target[:, 3], nontarget[:, 9] = 1.0, 1.0
    expected = [
        crossing(joined_steps(Sorted(np.arange(25.0), t, n))[0])[0]
        for t, n in zip(target, nontarget, strict=True)
    ]
    assert blocks(target, nontarget).meeting() == pytest.approx(expected)
