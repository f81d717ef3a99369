import math

import numpy as np
import pytest

from voicenym.errors import ScoreError
from voicenym.metrics.voices.voice_diversity import cross_similarity_distance, mixture_entropy

RNG = np.random.default_rng(0)


def closed_form(covariance):
    dimension = len(covariance)
    return 0.5 * (np.linalg.slogdet(covariance)[1] + dimension * math.log(2 * math.pi * math.e))


def random_covariance(dimension, rng):
    a = rng.standard_normal((dimension, dimension))
    return a @ a.T / dimension + 0.2 * np.eye(dimension)


def test_distance_of_cosines_is_scipys_statistic_over_unordered_pairs():
    stats = pytest.importorskip("scipy.stats")
    original, pseudo = RNG.standard_normal((40, 8)), 0.7 + RNG.standard_normal((30, 8))

    def pairs(x):
        return [
            x[i] @ x[j] / np.linalg.norm(x[i]) / np.linalg.norm(x[j])
            for i in range(len(x))
            for j in range(i)
        ]

    found = cross_similarity_distance(original, pseudo)
    expected = stats.ks_2samp(pairs(original), pairs(pseudo))
    assert found.value == pytest.approx(expected.statistic)
    assert found.similarity == pytest.approx(expected.statistic_location)
    assert found.interval[0] < found.value < found.interval[1]


def test_the_same_voices_are_at_no_distance_and_length_does_not_matter():
    voices = RNG.standard_normal((20, 5))
    assert cross_similarity_distance(voices, voices).value == 0.0
    shuffled = RNG.permutation(voices)
    assert cross_similarity_distance(voices, shuffled).value == pytest.approx(0.0, abs=0.01)
    other = RNG.standard_normal((20, 5)) + 1
    assert cross_similarity_distance(voices, other) == cross_similarity_distance(voices, 4 * other)


def test_averaged_voices_are_too_alike():
    """What the paper found in pools whose voices are means of many others."""
    people = RNG.standard_normal((120, 16)) + 0.3
    averaged = np.stack([people[RNG.choice(120, 40)].mean(0) for _ in range(60)])
    assert cross_similarity_distance(people[:60], averaged).value > 0.95


def test_interval_is_as_wide_as_the_figure_varies():
    def draw(seed):
        rng = np.random.default_rng(seed)
        return rng.standard_normal((60, 8)), 0.6 + rng.standard_normal((60, 8))

    found = [cross_similarity_distance(*draw(seed)) for seed in range(100)]
    spread = np.std([f.value for f in found])
    half = np.mean([f.interval[1] - f.interval[0] for f in found]) / 2
    assert half == pytest.approx(1.96 * spread, rel=0.4)


def test_voices_without_direction_are_named():
    with pytest.raises(ScoreError, match="pseudo voice 1 has no direction"):
        cross_similarity_distance(np.eye(3), [[1, 0, 0], [0, 0, 0]])
    with pytest.raises(ScoreError, match="original voice 0"):
        cross_similarity_distance([[np.nan, 0], [1, 0]], np.eye(2))
    with pytest.raises(ScoreError, match="two vectors"):
        cross_similarity_distance(np.eye(3)[:1], np.eye(3))


@pytest.mark.parametrize(("original", "pseudo"), [(2, 2), (3, 3), (4, 40), (40, 4)])
def test_fewer_than_five_voices_have_no_interval(original, pseudo):
    """Three voices have three pairs; their variance is no estimate."""
    voices = RNG.standard_normal((44, 8))
    assert cross_similarity_distance(voices[:original], voices[-pseudo:]).interval is None
    assert cross_similarity_distance(voices[:5], voices[-5:]).interval is not None


@pytest.mark.parametrize("dimension", [1, 3, 20])
def test_one_gaussian_is_exact(dimension):
    covariance = random_covariance(dimension, RNG)
    found = mixture_entropy([1], RNG.standard_normal((1, dimension)), covariance[None])
    for value in (found.value, found.lower, found.upper, *found.interval):
        assert value == pytest.approx(closed_form(covariance))


def test_equal_components_are_one_gaussian():
    """The sampled value, which a single component does not need, must agree as well."""
    covariance = random_covariance(4, RNG)
    found = mixture_entropy([1, 2, 3], np.zeros((3, 4)), np.stack([covariance] * 3), samples=20_000)
    expected = closed_form(covariance)
    assert found.lower == pytest.approx(expected)
    assert found.upper == pytest.approx(expected)
    assert found.interval[0] < expected < found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.05


def test_distant_components_add_the_entropy_of_the_choice():
    weights = np.array([0.2, 0.3, 0.5])
    means = 1000.0 * np.arange(3)[:, None] * np.ones(2)
    found = mixture_entropy(weights, means, np.ones((3, 2)), samples=20_000)
    expected = closed_form(np.eye(2)) - float(weights @ np.log(weights))
    assert found.lower == pytest.approx(expected)
    assert found.upper == pytest.approx(expected)
    assert found.value == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_the_value_between_them(seed):
    rng = np.random.default_rng(seed)
    components, dimension = 4, 3
    means = 1.5 * rng.standard_normal((components, dimension))
    covariances = np.stack([random_covariance(dimension, rng) for _ in range(components)])
    found = mixture_entropy(rng.dirichlet(np.ones(components)), means, covariances, samples=20_000)
    assert found.lower < found.value < found.upper


def test_bounds_are_the_formulas_term_by_term():
    """Definition A10, with the appendix's misprints corrected, one pair at a time."""
    rng = np.random.default_rng(5)
    pi, mu = rng.dirichlet(np.ones(4)), rng.standard_normal((4, 3))
    sigma = np.stack([random_covariance(3, rng) for _ in range(4)])

    def logdet(m):
        return np.linalg.slogdet(m)[1]

    def chernoff(i, j):
        away, middle = mu[i] - mu[j], 0.5 * (sigma[i] + sigma[j])
        squared = away @ np.linalg.inv(middle) @ away
        return squared / 8 + 0.5 * (logdet(middle) - 0.5 * (logdet(sigma[i]) + logdet(sigma[j])))

    def divergence(i, j):
        away, inverse = mu[i] - mu[j], np.linalg.inv(sigma[j])
        squared = away @ inverse @ away + np.trace(inverse @ sigma[i]) - 3
        return 0.5 * (logdet(sigma[j]) - logdet(sigma[i]) + squared)

    within = sum(p * closed_form(covariance) for p, covariance in zip(pi, sigma, strict=True))
    found = mixture_entropy(pi, mu, sigma)
    for bound, distance in ((found.lower, chernoff), (found.upper, divergence)):
        apart = [sum(pi[j] * math.exp(-distance(i, j)) for j in range(4)) for i in range(4)]
        assert bound == pytest.approx(within - pi @ np.log(apart))


def test_entropy_of_one_dimension_by_quadrature():
    weights, means, variances = np.array([0.4, 0.6]), np.array([-1.0, 1.5]), np.array([0.5, 2.0])
    x = np.linspace(-30, 30, 200_001)[:, None]
    density = (
        weights * np.exp(-((x - means) ** 2) / (2 * variances)) / np.sqrt(2 * np.pi * variances)
    ).sum(1)
    known = -np.sum(density * np.log(np.maximum(density, 1e-300))) * (x[1, 0] - x[0, 0])
    found = mixture_entropy(weights, means[:, None], variances[:, None], samples=100_000)
    assert found.interval[0] < known < found.interval[1]
    assert found.lower < known < found.upper


def test_diagonal_and_full_covariances_agree():
    variances = RNG.uniform(0.5, 2, (3, 4))
    means = RNG.standard_normal((3, 4))
    short = mixture_entropy([1, 1, 2], means, variances)
    full = mixture_entropy([1, 1, 2], means, np.stack([np.diag(v) for v in variances]))
    assert (short.value, short.lower, short.upper) == pytest.approx(
        (full.value, full.lower, full.upper)
    )


def test_high_dimensions_do_not_underflow():
    found = mixture_entropy(np.ones(3), 50 * RNG.standard_normal((3, 200)), np.full((3, 200), 1e-4))
    assert np.isfinite([found.value, found.lower, found.upper]).all()


def test_what_is_no_mixture_is_refused():
    with pytest.raises(ScoreError, match="do not fit"):
        mixture_entropy([1, 1], np.zeros((2, 3)), np.ones((2, 4)))
    with pytest.raises(ScoreError, match="not negative"):
        mixture_entropy([1, -1], np.zeros((2, 3)), np.ones((2, 3)))
    with pytest.raises(ScoreError, match="positive definite"):
        mixture_entropy([1, 1], np.zeros((2, 2)), np.ones((2, 2, 2)))
    with pytest.raises(ScoreError, match="not positive"):
        mixture_entropy([1, 1], np.zeros((2, 2)), np.zeros((2, 2)))
