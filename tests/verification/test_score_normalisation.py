"""Score normalisation against a plain loop, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.errors import VoicenymError
from voicenym.verification.score_normalisation import ASNorm, as_norm, normalised
from voicenym.verification.scoring import Cosine


def loop(scores, enrolment, trial, top):
    out = np.zeros_like(scores)
    for i in range(scores.shape[0]):
        for j in range(scores.shape[1]):
            e = sorted(enrolment[i])[::-1][:top]
            t = sorted(trial[j])[::-1][:top]
            by_e = (scores[i, j] - np.mean(e)) / np.sqrt(np.var(e) * len(e) / (len(e) - 1))
            by_t = (scores[i, j] - np.mean(t)) / np.sqrt(np.var(t) * len(t) / (len(t) - 1))
            out[i, j] = 0.5 * (by_e + by_t)
    return out


@pytest.mark.parametrize("top", [2, 7, 29, 30, 200])
def test_is_that_of_the_plain_loop(top):
    rng = np.random.default_rng(1)
    scores, e, t = (rng.normal(size=shape) for shape in ((4, 6), (4, 30), (6, 30)))
    np.testing.assert_allclose(as_norm(scores, e, t, top), loop(scores, e, t, top), atol=1e-12)


def test_with_ties_at_the_edge_of_the_top():
    scores, cohort = np.array([[1.0]]), np.array([[0.0, 1.0, 1.0, 1.0, 2.0]])
    found = as_norm(scores, cohort, cohort, 3)
    np.testing.assert_allclose(found, loop(scores, cohort, cohort, 3))


@pytest.mark.parametrize("top", [5, 30])
def test_each_side_knows_no_scale_or_shift_of_its_own(top):
    """Rows of scores and of their cohort, each row stretched and moved together."""
    rng = np.random.default_rng(2)
    scores, cohort = rng.normal(size=(4, 6)), rng.normal(size=(4, 30))
    gain, shift = rng.uniform(0.5, 3.0, (4, 1)), rng.normal(size=(4, 1))
    np.testing.assert_allclose(
        normalised(gain * scores + shift, gain * cohort + shift, top),
        normalised(scores, cohort, top),
        atol=1e-10,
    )


def test_the_whole_knows_no_scale_or_shift():
    rng = np.random.default_rng(3)
    parts = [rng.normal(size=shape) for shape in ((4, 6), (4, 30), (6, 30))]
    moved = [5.0 * part - 2.0 for part in parts]
    np.testing.assert_allclose(as_norm(*moved), as_norm(*parts), atol=1e-10)


def test_a_shift_of_models_and_of_trials_is_taken_out_by_their_side():
    """s = fair + a_i + b_j, and the cohort's scores carry the same: the bias of rows goes from
    the one half, that of columns from the other, so that half of each stays.
    """
    rng = np.random.default_rng(4)
    fair, e, t = (rng.normal(size=shape) for shape in ((4, 6), (4, 30), (6, 30)))
    e, t = (x / x.std(1, ddof=1, keepdims=True) for x in (e, t))
    a, b = rng.normal(size=(4, 1)), rng.normal(size=(6, 1))
    found = as_norm(fair + a + b.T, e + a, t + b)
    np.testing.assert_allclose(found, as_norm(fair, e, t) + 0.5 * (a + b.T), atol=1e-10)


def test_a_cohort_of_copies_stays_finite():
    ones = np.ones((2, 5))
    found = as_norm(np.array([[1.0, 2.0], [0.0, 1.0]]), ones, ones, floor=0.5)
    assert found.tolist() == [[0.0, 2.0], [-2.0, 0.0]]


def test_the_backend_scores_the_cohort_on_both_sides():
    rng = np.random.default_rng(5)
    models, trials, cohort = (
        [rng.normal(size=(3, 8))] * 2,
        rng.normal(size=(5, 8)),
        rng.normal(size=(20, 8)),
    )
    cosine = Cosine()
    e = cosine.score(models, cohort)
    t = cosine.score([x[None] for x in trials], cohort)  # the cosine is symmetric
    np.testing.assert_allclose(
        ASNorm(cosine, cohort, 10).score(models, trials),
        loop(cosine.score(models, trials), e, t, 10),
        atol=1e-10,
    )


@pytest.mark.parametrize(
    ("scores", "e", "t", "top"),
    [
        (np.zeros((2, 3)), np.zeros((3, 9)), np.zeros((3, 9)), 5),
        (np.zeros((2, 3)), np.zeros((2, 9)), np.zeros((2, 9)), 5),
        (np.zeros((2, 3)), np.zeros((2, 1)), np.zeros((3, 1)), 5),
        (np.zeros((2, 3)), np.zeros((2, 9)), np.zeros((3, 9)), 1),
    ],
)
def test_what_does_not_fit_is_refused(scores, e, t, top):
    with pytest.raises(VoicenymError):
        as_norm(scores, e, t, top)
