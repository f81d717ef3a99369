"""Rates by the amount of speech: against normal deviates, by both averages."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy.stats import norm

from voicenym.corpus.recording import Recording
from voicenym.evaluation.measurements.speech_amount import (
    EMBEDDINGS,
    SCORES,
    TESTED,
    of_vectors,
    several_tested,
)
from voicenym.evaluation.trial_plans.trials import Trials, build
from voicenym.verification.scoring import COSINE

SPEAKERS = 24


@pytest.fixture(scope="module")
def trials():
    """Thirty recordings enrolled and thirty tested, on which scores are drawn."""
    speech = [
        Recording(f"s{s:02}-{u:02}", f"s{s:02}", Path("x"), "f")
        for s in range(SPEAKERS)
        for u in range(60)
    ]
    return build(speech, enrolment=30, trials=30)


def test_averages_of_independent_scores_have_the_rate_of_a_larger_distance(trials):
    """The mean of M scores has a deviation less by the root of M: an EER of Phi(-d sqrt(M) / 2)."""
    distance = 0.6
    noise = np.random.default_rng(0).standard_normal(trials.tested.shape)
    found = several_tested("a", "v", noise + distance * trials.target, trials, 20)
    assert [one.recordings for one in found] == [1, 3, 10, 30]
    assert {(one.average, one.speakers) for one in found} == {(TESTED, SPEAKERS)}
    for one in found:
        expected = norm.cdf(-distance * np.sqrt(one.recordings) / 2)
        deviation = np.sqrt(expected * (1 - expected) / (SPEAKERS * (30 // one.recordings)))
        assert abs(one.figures["EER"].value / 100 - expected) < 3 * deviation
    rank = [one.figures["rank-1"].value for one in found]
    assert rank == sorted(rank)
    assert rank[0] < 20 < 60 < rank[-1]


def test_enrolled_and_tested_by_both_averages(trials):
    rng = np.random.default_rng(1)
    own = {m.speaker: rng.standard_normal(16) for m in trials.models}
    rough = 4.0
    enrolment = [
        own[m.speaker] + rough * rng.standard_normal((len(m.recordings), 16)) for m in trials.models
    ]
    vectors = np.stack([own[r.speaker] + rough * rng.standard_normal(16)
                        for r in trials.recordings])  # fmt: skip
    found = of_vectors("a", "v", enrolment, vectors, COSINE, trials, 10)
    for average in (SCORES, EMBEDDINGS):
        rates = [one.figures["EER"].value for one in found if one.average == average]
        assert len(rates) == 4
        assert rates == sorted(rates, reverse=True)
        assert rates[0] > 35.0
        assert rates[-1] < rates[0] / 2
    one = [f.figures["EER"].value for f in found if f.recordings == 1]
    assert one[0] == pytest.approx(one[1]), "one recording has no average"
    assert {f.figures["rank-1"].unit for f in found} == {"%"}


def test_numbers_that_nobody_has_are_left_out(trials):
    columns = [i for i, r in enumerate(trials.recordings) if int(r.name[-2:]) % 15 == 0]
    few = Trials(trials.models, tuple(trials.recordings[i] for i in columns),
                 trials.tested[:, columns])  # fmt: skip
    scores = np.random.default_rng(0).standard_normal(few.tested.shape)
    assert {one.recordings for one in several_tested("a", "v", scores, few, 5)} <= {1, 3}
    assert several_tested("a", "v", scores[:, :2], Trials(few.models, few.recordings[:2],
                                                  few.tested[:, :2]), 5) == []  # fmt: skip
