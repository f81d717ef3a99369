"""Limits of language scores: the share above, and the dependence on length."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.errors import CorpusError
from voicenym.training.content.language.language_limits import PREFIXES, limits


def test_the_limit_is_above_all_but_a_share_of_each_length():
    rng = np.random.default_rng(0)
    means = [
        {s: float(-3.0 + rng.standard_normal() / s**0.5) for s in PREFIXES} for _ in range(4000)
    ]
    limit, spread = limits(means, 0.01)
    for seconds in PREFIXES:
        above = np.mean([one[seconds] > limit + spread / seconds**0.5 for one in means])
        assert above <= 0.0101
    # the quantile of a Gaussian mean is -3 + 2.326 / sqrt(seconds)
    assert limit == pytest.approx(-3.0, abs=0.15)
    assert spread == pytest.approx(2.326, abs=0.3)
    with pytest.raises(CorpusError, match="fewer than 100 examples"):
        limits(means[:99], 0.01)
