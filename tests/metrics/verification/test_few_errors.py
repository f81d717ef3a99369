"""Intervals of figures of information where hardly a trial is an error."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("scipy")

from voicenym.metrics import SortedTrials, Speakers, cllr, ece_profile, linkability, min_cllr, zebra
from voicenym.metrics.verification.few_errors import error_limit


def separated(people, errors=0):
    """Scores of all pairs of speakers; so many targets lie below all others."""
    pairs = np.array([(i, j) for i in range(people) for j in range(people)]).repeat(3, axis=0)
    same = pairs[:, 0] == pairs[:, 1]
    target, nontarget = 2.0 + np.arange(same.sum()), np.linspace(0.0, 1.0, (~same).sum())
    target[:errors] = -1.0
    return SortedTrials(target, nontarget, Speakers(pairs[same], pairs[~same]))


def entropy(p):
    return -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def test_separated_scores_of_few_speakers_are_not_certain():
    """The intervals were 0 to 0, 0.72 to 0.72 and 1 to 1, whether of 8 speakers or of 800."""
    trials = separated(20)
    most = error_limit(trials)
    assert most == pytest.approx(0.1611, abs=1e-4), "Wilson's limit of 0 of 20"
    assert min_cllr(trials, replicates=20).interval == (0.0, pytest.approx(entropy(most)))
    disclosed = zebra(trials, replicates=20).interval
    assert 0.2 < disclosed[0] < disclosed[1] == pytest.approx(0.7213, abs=1e-4)
    linked = linkability(trials, replicates=20).interval
    assert linked[0] == pytest.approx((1 - most) * (1 - 2 * most))
    profile = ece_profile(trials, points=3, replicates=20)
    assert profile.ece[1] == 0.0
    assert profile.high[1] == pytest.approx(entropy(most))


def test_limits_narrow_with_the_number_of_speakers():
    few, many = (min_cllr(separated(n), replicates=20).interval[1] for n in (8, 60))
    assert 0.0 < many < few


def test_figures_with_errors_of_more_than_one_speaker_keep_their_interval():
    assert error_limit(separated(20, errors=1)) is not None
    assert error_limit(separated(20, errors=30)) is None


def test_disclosure_of_a_decision_is_that_of_its_scores():
    """D_ECE of a decision is computed in closed form; here, of as many trials as it takes."""
    from voicenym.metrics.verification.zebra import _decided

    scores = [1.0] * 9 + [0.0], [0.0] * 9 + [1.0]
    assert zebra(*scores, interval=None).value == pytest.approx(_decided(0.1))


def test_ratios_of_certainty_have_no_upper_limit():
    certain = cllr([math.inf] * 6, [-math.inf] * 6, replicates=20)
    assert (certain.value, certain.interval) == (0.0, (0.0, math.inf))
