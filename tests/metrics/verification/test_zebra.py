import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from voicenym.metrics import Speakers, ece_profile, zebra
from voicenym.metrics.trials.pav import llr
from voicenym.metrics.verification.zebra import gain, limits, tag

scores = st.lists(st.integers(-8, 8).map(float), min_size=1, max_size=25)
FEW = {"replicates": 3}
MOST = 1 / (2 * np.log(2))


def entropy(p):
    return -(p * np.log2(p) + (1 - p) * np.log2(1 - p))


def test_closed_form_is_the_integral_over_priors():
    """D_ECE by quadrature of h2(pi) - ECE(pi), for scores that overlap."""
    rng = np.random.default_rng(0)
    target, nontarget = rng.normal(1.2, 1, 40), rng.normal(0, 1, 60)
    t, n = llr(target, nontarget)

    def saved(p):
        odds = np.log(p / (1 - p))
        ece = p * np.logaddexp(0, -t - odds).mean() + (1 - p) * np.logaddexp(0, n + odds).mean()
        return entropy(p) - ece / np.log(2)

    expected, _ = quad(saved, 0, 1, limit=400)
    assert zebra(target, nontarget, **FEW).expected == pytest.approx(expected, abs=1e-7)


def test_gain_and_its_limits():
    assert gain(np.array([np.inf, 1e4, 0.0])).tolist() == [0.25, 0.25, 0.0]
    small = np.array([-1e-3, -1e-6, 1e-6, 1e-3])
    assert gain(small) == pytest.approx(small / 6 - small**2 / 24, rel=1e-7)
    across = gain(np.array([0.999e-3, 1.001e-3]))
    assert across[1] > across[0]
    assert across[1] == pytest.approx(across[0], rel=3e-3)
    assert gain(np.array([-2.0]))[0] < 0


def test_separated_and_useless_scores():
    apart = zebra(np.arange(10.0) + 99, np.arange(30.0), **FEW)
    assert apart.expected == pytest.approx(MOST)
    assert apart.worst_case == pytest.approx(np.log10(11 * 30 / 10))
    same = zebra(np.zeros(7), np.zeros(7), **FEW)
    assert (same.expected, same.worst_case, same.tag) == (0.0, 0.0, "0")
    assert zebra([0.0], [1.0], **FEW).expected == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(0.0, "0"), (1e-9, "0"), (0.3, "A"), (1.0, "A"), (1.1, "B"), (3.9, "C"), (4.5, "D"),
     (5.5, "E"), (6.0, "E"), (6.1, "F"), (np.inf, "F")],
)  # fmt: skip
def test_likelihood_ratios_have_the_tags_of_zebra(ratio, expected):
    assert tag(ratio) == expected


@given(scores, scores)
def test_bounds_and_monotone_maps(target, nontarget):
    t, n = np.array(target), np.array(nontarget)
    found = zebra(t, n, **FEW)
    assert -1e-12 <= found.expected <= MOST + 1e-12
    assert found.worst_case >= 0
    moved = zebra(t**3 + 2, n**3 + 2, **FEW)
    assert moved.expected == pytest.approx(found.expected)
    assert moved.worst_case == pytest.approx(found.worst_case)
    assert (found.targets, found.nontargets) == (len(t), len(n))


def test_profile_lies_under_the_entropy_and_meets_it_at_the_ends():
    rng = np.random.default_rng(0)
    profile = ece_profile(rng.normal(1, 1, 300), rng.normal(0, 1, 900))
    assert profile.log_odds[[0, 100, 200]] == pytest.approx([-10, 0, 10])
    assert (profile.ece <= profile.default + 1e-12).all()
    assert profile.default[100] == pytest.approx(1.0)
    assert profile.ece[100] < 0.95
    assert profile.ece[0] == pytest.approx(profile.default[0], abs=1e-3)


@pytest.mark.parametrize(
    "ratio", [-4.0, -0.5, -0.05, -2e-3, -5e-4, 5e-4, 2e-3, 0.05, 3.0, 40.0, 290.0]
)
def test_gain_of_one_target_is_its_integral_over_priors(ratio):
    """Z(L) / ln 2 = int pi [log2 (1 / pi) - log2 (1 + e^-L (1 - pi) / pi)] dpi."""

    def saved(p):
        return p * (-np.log(p) - np.logaddexp(0, -ratio + np.log1p(-p) - np.log(p)))

    expected, _ = quad(saved, 0, 1, epsabs=1e-13, limit=400)
    assert gain(np.array([ratio]))[0] == pytest.approx(expected, rel=1e-6, abs=1e-11)


@pytest.mark.parametrize("distance", [0.5, 1.5, 3.0])
def test_gaussian_scores_disclose_what_quadrature_says(distance):
    """LLRs of Gaussians are N(+-d^2/2, d^2); both classes gain the same by symmetry."""

    def gained(x):
        return norm.pdf(x, distance**2 / 2, distance) * gain(np.array([x]))[0]

    middle = distance**2 / 2
    expected, _ = quad(gained, middle - 9 * distance, middle + 9 * distance, limit=400)
    quantiles = norm.ppf((np.arange(20_000) + 0.5) / 20_000) * distance
    found = zebra(quantiles + middle, quantiles - middle, **FEW).expected
    assert found == pytest.approx(2 * expected / np.log(2), abs=2e-3)


@pytest.mark.parametrize(("targets", "nontargets"), [(100, 1000), (1000, 10), (7, 7)])
@pytest.mark.parametrize("above", [0.0, 1.0])
def test_useless_scores_have_the_worst_case_of_laplace(targets, nontargets, above):
    """Tied or reversed: nothing is disclosed, but unequal numbers of trials leave their trace."""
    found = zebra(np.zeros(targets), np.full(nontargets, above), **FEW)
    ratio = (targets + 1) * nontargets / ((nontargets + 1) * targets)
    assert 0.0 <= found.expected < 1e-12
    assert found.worst_case == pytest.approx(abs(np.log10(ratio)), abs=1e-12)
    assert found.tag == ("0" if targets == nontargets else "A")


def test_infinite_scores_are_as_good_as_far_ones():
    infinite = zebra([np.inf, 1.0], [-np.inf, 1.0], **FEW)
    far = zebra([9.0, 1.0], [-9.0, 1.0], **FEW)
    assert infinite == far
    assert infinite.expected == pytest.approx(MOST / 2)


def test_intervals_over_speakers_hold_the_values():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(15), 20)
    speakers = Speakers(np.stack([who, who], axis=1), np.stack([who, (who + 1) % 15], axis=1))
    target, nontarget = rng.normal(1.5, 1, who.size), rng.normal(0, 1, who.size)
    found = zebra(target, nontarget, speakers, replicates=100)
    assert found.expected_interval[0] < found.expected < found.expected_interval[1]
    assert found.worst_case_interval[0] <= found.worst_case <= found.worst_case_interval[1]
    assert found == zebra(target, nontarget, speakers, replicates=100)


def test_the_interval_of_the_worst_case_is_extended_to_the_figure():
    """46 of 48 targets above all others, two of one speaker below some: 2.52, and every replicate
    has a lower one, since it leaves some speakers' trials out."""
    people = np.repeat(np.arange(8), 6)
    others = [(who, tried) for who in range(8) for tried in people if who != tried]
    who = Speakers(np.stack([people, people], 1), np.array(others))
    target = np.append(np.full(46, 2.0), [0.5, 0.5])
    nontarget = np.where(np.arange(len(others)) % 40 == 0, 1.0, 0.0)
    found = zebra(target, nontarget, who, replicates=200)
    assert found.worst_case_interval[0] <= found.worst_case <= found.worst_case_interval[1]


def test_a_worst_case_that_does_not_vary_has_no_interval():
    people = np.arange(8)
    who = Speakers(np.stack([people, people], 1), np.stack([people, (people + 1) % 8], 1))
    found = zebra(np.zeros(8), np.zeros(8), who, replicates=20)
    assert found.worst_case == pytest.approx(0.0)
    assert not np.diff(found.worst_case_interval) <= 1e-9


def test_profile_of_scores_that_separate_and_that_say_nothing():
    apart = ece_profile([1.0, 2.0], [0.0, -1.0])
    assert apart.ece == pytest.approx(np.zeros(201), abs=1e-12)
    same = ece_profile(np.zeros(5), np.zeros(3))
    assert same.ece == pytest.approx(same.default)


def test_a_profile_has_limits_where_they_are_asked_for():
    rng = np.random.default_rng(0)
    t, n = rng.normal(1.5, 1, 200), rng.normal(0, 1, 900)
    assert ece_profile(t, n).low is None
    found = ece_profile(t, n, 21, replicates=100)
    assert (found.low <= found.ece + 1e-12).all()
    assert (found.ece <= found.high + 1e-12).all()
    assert found.high[10] - found.low[10] > 0.02
    np.testing.assert_array_equal(found.ece, ece_profile(t, n, 21).ece)


def test_a_worst_case_that_the_numbers_of_trials_limit_is_explained():
    rng = np.random.default_rng(0)
    target, nontarget = rng.normal(1, 1, 50), rng.normal(0, 1, 400)
    high = limits(np.append(target, [30.0, 31.0]), nontarget)
    assert len(high) == 1
    assert "2 target scores lie above all non-target scores" in high[0]
    worst = zebra(np.append(target, [30.0, 31.0]), nontarget, **FEW).worst_case
    assert f"worst case of {worst:.2f}" in high[0]
    assert f"at most {np.log10(53 * 400 / 52):.2f}" in high[0]
    apart = limits(target + 100.0, nontarget)
    assert len(apart) == 2
    assert zebra(target + 100.0, nontarget, **FEW).expected == pytest.approx(MOST)
    assert worst <= np.log10(53 * 400 / 52)
    assert limits([0.0, 1.0, 2.0, 2.0], [0.0, 0.0, 1.0, 2.0]) == (), "no end is of one class"
    assert limits([1.0], [1.0]) == ()
