"""PLDA on data of its own generative model, against brute-force densities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from voicenym.errors import VoicenymError
from voicenym.verification.plda import PLDA, TwoCovariance, diagonalising, ledoit_wolf


def covariance(rng: np.random.Generator, d: int) -> np.ndarray:
    root = rng.normal(size=(d, d))
    return root @ root.T / d + 0.3 * np.eye(d)


def draw(rng, within, between, speakers: int, most: int, mean=0.0):
    """Vectors and speakers, each with 2 to ``most`` vectors."""
    d = len(within)
    index = np.repeat(np.arange(speakers), rng.integers(2, most + 1, speakers))
    voices = rng.multivariate_normal(np.zeros(d), between, speakers)
    return mean + voices[index] + rng.multivariate_normal(np.zeros(d), within, len(index)), index


def log_joint(vectors: np.ndarray, model: TwoCovariance) -> float:
    """Log-density of vectors ``[n, d]`` of one speaker, as one long Gaussian vector."""
    n = len(vectors)
    whole = np.kron(np.eye(n), model.within) + np.kron(np.ones((n, n)), model.between)
    return multivariate_normal.logpdf(vectors.ravel(), np.tile(model.mean, n), whole)


def cllr(target: np.ndarray, nontarget: np.ndarray) -> float:
    """Bits; nats in."""
    cost = np.logaddexp(0.0, -target).mean() + np.logaddexp(0.0, nontarget).mean()
    return 0.5 * cost / np.log(2.0)


def min_cllr(target: np.ndarray, nontarget: np.ndarray) -> float:
    """Cllr of the best monotone calibration, by scipy's isotonic regression."""
    from scipy.optimize import isotonic_regression

    scores = np.concatenate([target, nontarget])
    labels = np.repeat([1.0, 0.0], [len(target), len(nontarget)])[np.argsort(scores)]
    share = isotonic_regression(labels).x
    with np.errstate(divide="ignore"):
        llr = np.log(share) - np.log1p(-share) - np.log(len(target) / len(nontarget))
    return cllr(llr[labels == 1], llr[labels == 0])


def test_recovers_its_own_covariances():
    rng = np.random.default_rng(1)
    within, between = covariance(rng, 4), 2.0 * covariance(rng, 4)
    x, speakers = draw(rng, within, between, 3000, 8, mean=np.arange(4.0))
    model = TwoCovariance.fit(x, speakers, iterations=60)
    np.testing.assert_allclose(model.mean, np.arange(4.0), atol=0.1)
    assert np.linalg.norm(model.within - within) < 0.03 * np.linalg.norm(within)
    assert np.linalg.norm(model.between - between) < 0.06 * np.linalg.norm(between)


def test_log_likelihood_is_that_of_the_data():
    rng = np.random.default_rng(2)
    x, speakers = draw(rng, covariance(rng, 3), covariance(rng, 3), 12, 5)
    model = TwoCovariance.fit(x, speakers, iterations=4)
    wanted = sum(log_joint(x[speakers == s], model) for s in range(12))
    assert model.log_likelihoods[-1] == pytest.approx(wanted, abs=1e-8)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(2, 30),
    st.floats(-2.0, 2.0),
)
def test_log_likelihood_never_decreases(seed, d, speakers, scale):
    rng = np.random.default_rng(seed)
    x, index = draw(rng, covariance(rng, d), covariance(rng, d), speakers, 4)
    track = np.array(TwoCovariance.fit(x * 10.0**scale, index).log_likelihoods)
    assert len(track) == 11
    assert (np.diff(track) >= -1e-9 * np.abs(track[1:])).all()


def test_one_iteration_is_that_of_the_formulas():
    rng = np.random.default_rng(3)
    x, speakers = draw(rng, covariance(rng, 3), covariance(rng, 3), 9, 5)
    classes = [x[speakers == s] for s in range(9)]
    mean = np.mean([c.mean(0) for c in classes], axis=0)
    within, between = np.eye(3), np.eye(3)
    for _ in range(2):
        new_between, new_within = np.zeros((3, 3)), np.zeros((3, 3))
        for c in classes:
            n, m = len(c), c.mean(0) - mean
            v = np.linalg.inv(np.linalg.inv(between) + n * np.linalg.inv(within))
            w = n * v @ np.linalg.inv(within) @ m
            new_between += (v + np.outer(w, w)) / len(classes)
            rest = c - c.mean(0)
            new_within += (rest.T @ rest + n * (v + np.outer(m - w, m - w))) / len(x)
        within, between = new_within, new_between
    model = TwoCovariance.fit(x, speakers, iterations=2)
    np.testing.assert_allclose(model.within, within, atol=1e-10)
    np.testing.assert_allclose(model.between, between, atol=1e-10)


def test_llr_is_that_of_gaussian_densities_for_any_number_of_vectors():
    rng = np.random.default_rng(4)
    model = TwoCovariance(rng.normal(size=3), covariance(rng, 3), covariance(rng, 3))
    plda = PLDA(np.zeros(3), np.eye(3), model, normalise=False)
    models = [2.0 * rng.normal(size=(n, 3)) for n in (1, 2, 7)]
    trials = 2.0 * rng.normal(size=(5, 3))
    found = plda.score(models, trials)
    for i, enrolled in enumerate(models):
        for j, trial in enumerate(trials):
            wanted = log_joint(np.vstack([enrolled, trial]), model)
            wanted -= log_joint(enrolled, model) + log_joint(trial[None], model)
            assert found[i, j] == pytest.approx(wanted, abs=1e-9)


def test_llr_of_a_singular_between_covariance():
    rng = np.random.default_rng(5)
    direction = rng.normal(size=(3, 1))
    model = TwoCovariance(np.zeros(3), covariance(rng, 3), direction @ direction.T)
    plda = PLDA(np.zeros(3), np.eye(3), model, normalise=False)
    a, b = rng.normal(size=(2, 3)), rng.normal(size=(1, 3))
    wanted = log_joint(np.vstack([a, b]), model) - log_joint(a, model) - log_joint(b, model)
    assert plda.score([a], b)[0, 0] == pytest.approx(wanted, abs=1e-9)


def test_llr_knows_no_linear_map():
    rng = np.random.default_rng(6)
    change, shift = rng.normal(size=(4, 4)) + np.eye(4), rng.normal(size=4)
    model = TwoCovariance(rng.normal(size=4), covariance(rng, 4), covariance(rng, 4))
    other = TwoCovariance(
        change @ model.mean + shift,
        change @ model.within @ change.T,
        change @ model.between @ change.T,
    )
    models, trials, count = rng.normal(size=(3, 4)), rng.normal(size=(5, 4)), np.array([1, 2, 9])
    np.testing.assert_allclose(
        other.llr(models @ change.T + shift, count, trials @ change.T + shift),
        model.llr(models, count, trials),
        atol=1e-8,
    )


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("lda", [None, 3])
def test_training_knows_no_linear_map(normalise, lda):
    rng = np.random.default_rng(7)
    x, speakers = draw(rng, covariance(rng, 5), covariance(rng, 5), 40, 6)
    change, shift = rng.normal(size=(5, 5)) + np.eye(5), rng.normal(size=5)
    y = x @ change.T + shift
    options = {"lda": lda, "normalise": normalise, "shrinkage": 0.0}
    here = PLDA.train(x, speakers, **options).score([x[:3], x[3:4]], x[5:11])
    there = PLDA.train(y, speakers, **options).score([y[:3], y[3:4]], y[5:11])
    np.testing.assert_allclose(there, here, atol=1e-7)


@pytest.mark.parametrize("enrolled", [1, 4])
def test_llr_is_calibrated_on_data_of_the_model(enrolled):
    rng = np.random.default_rng(8)
    within, between = covariance(rng, 6), 0.7 * covariance(rng, 6)
    x, speakers = draw(rng, within, between, 2000, 6)
    plda = PLDA.train(x, speakers, normalise=False, iterations=30)
    voices = rng.multivariate_normal(np.zeros(6), between, 400)
    rest = rng.multivariate_normal(np.zeros(6), within, (400, enrolled + 1))
    y = voices[:, None] + rest
    scores = plda.score(list(y[:, :enrolled]), y[:, enrolled])
    same = np.eye(400, dtype=bool)
    actual = cllr(scores[same], scores[~same])
    assert 0.1 < actual < 0.9
    assert actual - min_cllr(scores[same], scores[~same]) < 0.03


def test_length_normalisation_is_that_of_the_formula():
    rng = np.random.default_rng(9)
    x, speakers = draw(rng, covariance(rng, 4), covariance(rng, 4), 60, 6)
    plda = PLDA.train(x, speakers, lda=3)
    basis, psi = plda.model.diagonal
    enrolled, trial = x[:3], x[3]

    def prepared(vector, n):
        v = plda.projection @ (vector - plda.centre)
        v = v * np.sqrt(3.0 / (v @ v))
        u = basis @ (v - plda.model.mean)
        return u * np.sqrt(3.0 / (u**2 / (psi + 1.0 / n)).sum())

    u, t = prepared(enrolled.mean(0), 3), prepared(trial, 1)
    near = multivariate_normal.logpdf(
        t, 3 * psi / (3 * psi + 1) * u, np.diag(1 + psi / (3 * psi + 1))
    )
    far = multivariate_normal.logpdf(t, np.zeros(3), np.diag(1 + psi))
    assert plda.score([enrolled], trial[None])[0, 0] == pytest.approx(near - far, abs=1e-9)


def test_length_normalisation_forgets_loudness_of_a_vector():
    """A heavy-tailed scale on each vector hurts the bare model, and not the normalised one."""
    rng = np.random.default_rng(10)
    index = np.repeat(np.arange(300), 6)
    x = rng.normal(size=(300, 8))[index] + rng.normal(size=(1800, 8))
    x *= np.exp(rng.normal(size=(1800, 1)))
    same = np.eye(100, dtype=bool)

    def error(normalise):
        plda = PLDA.train(x[600:], index[600:], normalise=normalise)
        tried = x[:600].reshape(100, 6, 8)
        scores = plda.score(list(tried[:, :1]), tried[:, 5])
        return (scores[same] < np.median(scores[~same])).mean()

    assert error(True) < error(False)


def test_more_dimensions_than_speakers():
    rng = np.random.default_rng(11)
    index = np.repeat(np.arange(20), 4)
    voices = np.zeros((26, 100))
    voices[:, :10] = 3.0 * rng.normal(size=(26, 10))
    x = voices[index] + rng.normal(size=(80, 100))
    plda = PLDA.train(x, index)
    assert plda.projection.shape == (19, 100)
    fresh = np.repeat(np.arange(20, 26), 5)
    y = voices[fresh] + rng.normal(size=(30, 100))
    tried = y.reshape(6, 5, 100)
    scores = plda.score(list(tried[:, :4]), tried[:, 4])
    assert np.isfinite(scores).all()
    assert (scores.argmax(0) == np.arange(6)).mean() >= 0.8


def test_two_speakers_suffice_and_a_singular_covariance_is_named():
    rng = np.random.default_rng(12)
    x, index = rng.normal(size=(4, 6)), np.array([0, 0, 1, 1])
    assert np.isfinite(PLDA.train(x, index).score([x[:2]], x[2:])).all()
    with pytest.raises(VoicenymError, match="inverted"):
        PLDA.train(x, index, shrinkage=0.0)
    with pytest.raises(VoicenymError, match="allow 1 to 1"):
        PLDA.train(x, index, lda=2)


def test_the_basis_whitens_within_and_diagonalises_between():
    rng = np.random.default_rng(13)
    within, between = covariance(rng, 5), covariance(rng, 5)
    basis, psi = diagonalising(within, between)
    np.testing.assert_allclose(basis @ within @ basis.T, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(basis @ between @ basis.T, np.diag(psi), atol=1e-10)
    assert (np.diff(psi) <= 0).all()


def test_shrinkage_is_none_with_much_data_and_whole_without_structure():
    rng = np.random.default_rng(14)
    x = rng.normal(size=(50_000, 5)) * [1.0, 2.0, 3.0, 4.0, 5.0]
    assert ledoit_wolf(x) < 0.001
    assert ledoit_wolf(rng.normal(size=(50, 40))) > 0.8
    # the plain double loop
    y = x[:30]
    s = y.T @ y / 30
    error = sum(np.sum((np.outer(v, v) - s) ** 2) for v in y) / 30**2
    apart = np.sum((s - np.trace(s) / 5 * np.eye(5)) ** 2)
    assert ledoit_wolf(y) == pytest.approx(error / apart)


@pytest.mark.parametrize("change", [0.05, 1.0])
def test_copies_of_a_recording_do_not_count_as_recordings_of_a_speaker(change):
    """Two recordings a speaker in four copies each: W is that of recordings, whatever the keys do.

    Of all copies, the scatter within a speaker is (r - 1) / r of a recording's variance, over
    (K r - 1) / (K r) degrees of freedom: 4/7 of it for r = 2 and K = 4, where copies are equal.
    """
    rng = np.random.default_rng(0)
    people, known, copies, size = 300, 2, 4, 6
    speaker = 1.5 * rng.normal(size=(people, 1, 1, size))
    take = rng.normal(size=(people, known, 1, size))
    x = speaker + take + change * rng.normal(size=(people, known, copies, size))
    who = np.repeat(np.arange(people), known * copies)
    names = np.tile(np.repeat(["a", "b"], copies), people)

    def within(**options):
        plda = PLDA.train(x.reshape(-1, size), who, normalise=False, **options)
        back = np.linalg.inv(plda.projection)
        return float(np.trace(back @ plda.model.within @ back.T)) / size

    truth = 1.0 + change**2
    assert within(recordings=names) == pytest.approx(truth, rel=0.08)
    expected = 4.0 / 7.0 + change**2
    assert within() == pytest.approx(expected, rel=0.08)


def test_the_same_without_copies_and_where_there_is_nothing_else():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(20), 4)
    x = rng.normal(size=(20, 3))[who] + rng.normal(size=(80, 3))
    plain = PLDA.train(x, who, normalise=False)
    alone = PLDA.train(x, who, normalise=False, recordings=[str(n) for n in range(80)])
    one = PLDA.train(x, who, normalise=False, recordings=["a"] * 80)
    np.testing.assert_allclose(alone.model.within, plain.model.within)
    np.testing.assert_allclose(one.model.within, plain.model.within)
