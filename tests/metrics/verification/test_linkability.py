import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from voicenym.errors import ScoreError
from voicenym.metrics import Speakers, linkability
from voicenym.metrics.intervals.unbiased import unbiased
from voicenym.metrics.verification.linkability import limits

FEW = {"replicates": 3}


def test_separated_classes_are_linked_wholly():
    assert linkability(np.arange(50.0) + 100, np.arange(500.0) / 10, **FEW).value == 1.0


@pytest.mark.parametrize("distance", [0.0, 0.5, 1.0, 2.0, 4.0])
def test_the_bound_by_the_equal_error_rate_lies_below_the_figure_of_gaussians(distance):
    rng = np.random.default_rng(1)
    target, nontarget = rng.normal(distance, 1, 3000), rng.normal(0, 1, 9000)
    error = norm.cdf(-distance / 2)
    found = linkability(target, nontarget, **FEW)
    assert (1 - error) * (1 - 2 * error) <= found.value + 0.02
    assert limits(found, error) == ()


def test_what_bins_hide_is_in_the_interval():
    people = np.arange(8)
    who = Speakers(np.stack([people] * 2, 1), np.stack([people, (people + 1) % 8], 1))
    target = np.arange(10.0, 18.0)
    target[0] = 900.0
    found = linkability(target, np.arange(8.0), who, replicates=20)
    assert found.value < 0.5
    assert found.interval[1] == 1.0, "the scores separate all trials"


def test_outliers_that_leave_few_bins_to_the_others_are_named():
    """Separated scores, of which one is far away: its figure says 0, the order of the scores 1."""
    target, nontarget = np.arange(100.0) + 1000, np.append(np.arange(500.0), -1e9)
    found = linkability(target, nontarget, **FEW)
    assert found.value < 0.01
    (sentence,) = limits(found, 0.0)
    assert "10 bins of equal width do not resolve these scores, which have 1.00" in sentence


def test_identical_distributions_are_near_the_baseline_of_shuffled_labels():
    rng = np.random.default_rng(0)
    found = linkability(rng.normal(size=300), rng.normal(size=3000), **FEW)
    assert 0.0 < found.value < 0.12
    assert found.value == pytest.approx(found.baseline, abs=0.04)
    many = linkability(rng.normal(size=30_000), rng.normal(size=90_000), **FEW)
    assert many.value < 0.03


def test_a_known_ratio_in_each_half():
    """Targets 3 to 1 above the middle, others evenly: D = 2 * 1.5 / 2.5 - 1 = 0.2 there, else 0."""
    target = np.repeat([0.25, 0.75], [10, 30])
    nontarget = np.repeat([0.0, 0.25, 0.75, 1.0], 50)
    found = linkability(target, nontarget, **FEW)
    upper = found.edges[:-1] >= 0.5
    assert found.local @ found.target == pytest.approx(found.value)
    share_t, share_n = found.target[upper], found.nontarget[upper]
    expected = sum(
        t * max(0, 2 * t / (t + n) - 1) for t, n in zip(share_t, share_n, strict=True) if t
    )
    lower = sum(
        t * max(0, 2 * t / (t + n) - 1)
        for t, n in zip(found.target[~upper], found.nontarget[~upper], strict=True)
        if t
    )
    assert found.value == pytest.approx(expected + lower)


def test_two_bins_by_hand():
    # 15 targets give two bins; shares 1/3 and 2/3 against 1/2 and 1/2
    target = np.repeat([0.0, 1.0], [5, 10])
    nontarget = np.repeat([0.0, 1.0], [8, 8])
    found = linkability(target, nontarget, **FEW)
    assert len(found.local) == 2
    assert found.local == pytest.approx([0.0, 2 * (2 / 3) / (2 / 3 + 1 / 2) - 1])
    assert found.value == pytest.approx(2 / 3 * found.local[1])


def test_the_prior_odds_count():
    rng = np.random.default_rng(0)
    t, n = rng.normal(1, 1, 400), rng.normal(0, 1, 4000)
    assert linkability(t, n, omega=0.1, **FEW).value < linkability(t, n, **FEW).value


def test_local_linkability_has_a_band_over_speakers():
    """Bin by bin it holds the curve, and widens where speakers are few."""
    rng = np.random.default_rng(0)
    who = np.arange(30)
    trial = np.repeat(who, 8)
    same = who[:, None] == trial
    pairs = np.stack(np.broadcast_arrays(who[:, None], trial), axis=-1)
    scores = rng.standard_normal(same.shape) + 2.0 * same
    speakers = Speakers(pairs[same], pairs[~same])
    found = linkability(scores[same], scores[~same], speakers, replicates=200)
    assert found.low.shape == found.high.shape == found.local.shape
    assert (found.low <= found.high).all()
    assert (found.low <= found.local + 1e-12).mean() > 0.9
    assert (found.high >= found.local - 1e-12).mean() > 0.9
    assert ((found.low >= 0.0) & (found.high <= 1.0)).all()
    few = (pairs < 8).all(-1)
    part = Speakers(pairs[same & few], pairs[~same & few])
    fewer = linkability(scores[same & few], scores[~same & few], part, replicates=200)
    assert (fewer.high - fewer.low).mean() > (found.high - found.low).mean()


@pytest.mark.parametrize("targets", [1, 3, 9])
def test_few_targets_give_a_figure_and_not_zero(targets):
    found = linkability(np.full(targets, 5.0), np.zeros(100), **FEW)
    assert found.value == 1.0


def test_ties_and_infinities():
    assert linkability(np.zeros(20), np.zeros(30), **FEW).value == 0.0
    assert linkability([np.inf] * 20, [-np.inf] * 20, **FEW).value == 1.0


@pytest.mark.parametrize("targets", [300, 1000])
def test_identical_normals_have_the_figure_measured_before(targets):
    """definitions.md, A4: about 0.058 and not 0, which is what the baseline is there to say."""
    rng = np.random.default_rng(0)
    found = [
        linkability(rng.normal(size=targets), rng.normal(size=10 * targets), **FEW)
        for _ in range(20)
    ]
    value = np.mean([one.value for one in found])
    assert value == pytest.approx(0.058, abs=0.01)
    assert np.mean([one.baseline for one in found]) == pytest.approx(value, abs=0.01)


def test_scores_that_point_the_wrong_way_link_all_the_same():
    rng = np.random.default_rng(0)
    t, n = rng.normal(-3, 1, 400), rng.normal(0, 1, 4000)
    assert linkability(t, n, **FEW).value == pytest.approx(linkability(-t, -n, **FEW).value)
    assert linkability(t, n, **FEW).value > 0.8


def test_affine_maps_change_nothing():
    """Bins have equal widths, so that a monotone map that is not affine may change the figure."""
    rng = np.random.default_rng(0)
    t, n = rng.normal(1, 1, 300), rng.normal(0, 1, 900)
    assert linkability(4 * t + 8, 4 * n + 8, **FEW).value == pytest.approx(
        linkability(t, n, **FEW).value, abs=0.01
    )


def test_one_trial_of_each():
    assert linkability([1.0], [0.0], **FEW).value == 1.0
    assert linkability([0.0], [0.0], **FEW).value == 0.0


@pytest.mark.parametrize("score", [0.1, 1e17, -1e300])
def test_tied_scores_of_any_size_are_not_linked(score):
    assert linkability(np.full(40, score), np.full(30, score), **FEW).value == 0.0


def test_interval_over_speakers_holds_the_value():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(15), 20)
    speakers = Speakers(np.stack([who, who], axis=1), np.stack([who, (who + 1) % 15], axis=1))
    t, n = rng.normal(1.5, 1, who.size), rng.normal(0, 1, who.size)
    found = linkability(t, n, speakers, replicates=100)
    assert found.interval[0] <= found.value <= found.interval[1]


@pytest.mark.parametrize("omega", [0.0, -1.0, np.inf, np.nan])
def test_prior_odds_that_are_none(omega):
    with pytest.raises(ScoreError, match="omega"):
        linkability([1.0], [0.0], omega=omega, **FEW)


@pytest.mark.parametrize(("target", "nontarget"), [(1e308, -1e308), (5e-324, 0.0)])
def test_a_range_that_floats_cannot_divide_is_named(target, nontarget):
    with pytest.raises(ScoreError, match="rescale"):
        linkability([target] * 40, [nontarget] * 40, **FEW)


def test_baseline_is_the_mean_over_shuffled_labels():
    """Against labels shuffled one trial at a time, each time measured as a figure of its own."""
    rng = np.random.default_rng(0)
    t, n = rng.normal(1, 1, 200), rng.normal(0, 1, 600)
    pooled = np.concatenate([t, n])
    shuffled = []
    for _ in range(200):
        order = rng.permutation(pooled)
        shuffled.append(linkability(order[:200], order[200:], replicates=1, shuffles=1).value)
    found = linkability(t, n, shuffles=2000, **FEW).baseline
    deviation = np.std(shuffled) / np.sqrt(len(shuffled))
    assert found == pytest.approx(np.mean(shuffled), abs=4 * deviation)


def test_every_replicate_of_separated_classes_is_linked_wholly():
    found = linkability(np.arange(50.0) + 100, np.arange(50.0), **FEW)
    assert (found.corrected, found.interval[1]) == (1.0, 1.0)


@pytest.mark.parametrize("distance", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("omega", [1.0, 0.2])
def test_gaussians_have_the_figure_of_their_ratio(distance, omega):
    """LR = e^(d x - d^2 / 2), and D = 2 w LR / (1 + w LR) - 1 = tanh (ln (w LR) / 2)."""

    def linked(x):
        ratio = distance * x - distance**2 / 2 + np.log(omega)
        return norm.pdf(x, distance) * max(0.0, np.tanh(ratio / 2))

    zero = distance / 2 - np.log(omega) / distance
    expected, _ = quad(linked, zero, distance + 40, points=[max(zero, distance)])
    quantiles = norm.ppf((np.arange(100_000) + 0.5) / 100_000)
    found = linkability(quantiles + distance, quantiles, omega=omega, **FEW)
    assert found.value == pytest.approx(expected, abs=3e-3)


@pytest.mark.parametrize(("distance", "speakers"), [(0.0, 24), (0.2, 24), (1.0, 24), (0.4, 40)])
def test_intervals_hold_the_truth_where_percentiles_of_the_replicates_do_not(distance, speakers):
    """A model and six trials a speaker; the true D_sys of Gaussian scores is an integral."""
    truth = 0.0
    if distance:
        truth, _ = quad(
            lambda x: norm.pdf(x, distance) * np.tanh((distance * x - distance**2 / 2) / 2),
            distance / 2,
            distance + 40,
            points=[distance],
        )
    rng = np.random.default_rng(0)
    model, trial = np.arange(speakers), np.repeat(np.arange(speakers), 6)
    same = model[:, None] == trial
    pairs = np.stack(np.broadcast_arrays(model[:, None], trial), axis=-1)
    who = Speakers(pairs[same], pairs[~same])
    found = []
    for seed in range(40):
        scores = rng.standard_normal(same.shape) + distance * same
        found.append(
            linkability(scores[same], scores[~same], who, replicates=60, shuffles=1, seed=seed)
        )
    inside = np.mean([f.interval[0] <= truth <= f.interval[1] for f in found])
    assert inside >= 0.82, "nominally 0.95; simulated at length, 0.87 to 1.00"
    assert all(f.interval[0] <= f.value <= f.interval[1] for f in found)
    assert all(f.corrected <= f.value + 0.02 for f in found)
    raw = abs(np.mean([f.value for f in found]) - truth)
    left = abs(np.mean([f.corrected for f in found]) - truth)
    assert left < max(0.5 * raw, 0.012)


@pytest.mark.parametrize(("error", "speakers"), [(0.1, 10), (0.26, 24)])
def test_intervals_of_few_speakers_hold_what_their_wide_bins_hide(error, speakers):
    """60 targets have six bins, which show 0.71 of 0.75. With one set of bins and the spread of the
    replicates alone, 22 and 7 % of intervals lay below the truth."""
    distance = -2.0 * norm.ppf(error)
    truth, _ = quad(
        lambda x: norm.pdf(x, distance) * np.tanh((distance * x - distance**2 / 2) / 2),
        distance / 2,
        distance + 40,
        points=[distance],
    )
    rng = np.random.default_rng(0)
    model, trial = np.arange(speakers), np.repeat(np.arange(speakers), 6)
    same = model[:, None] == trial
    pairs = np.stack(np.broadcast_arrays(model[:, None], trial), axis=-1)
    who = Speakers(pairs[same], pairs[~same])
    found = []
    for seed in range(100):
        scores = rng.standard_normal(same.shape) + distance * same
        options = {"replicates": 100, "shuffles": 1, "seed": seed}
        found.append(linkability(scores[same], scores[~same], who, **options))
    assert np.mean([truth > f.interval[1] for f in found]) <= 0.04
    assert np.mean([f.interval[0] <= truth <= f.interval[1] for f in found]) >= 0.95
    assert all(f.interval[0] <= f.value <= f.interval[1] for f in found)


def test_nothing_linked_is_within_the_interval_though_the_figure_is_not_nothing():
    rng = np.random.default_rng(1)
    found = linkability(rng.normal(size=300), rng.normal(size=3000), replicates=100)
    assert found.value > 0.03
    assert found.interval[0] == 0.0
    assert found.corrected < 0.6 * found.value


def test_the_correction_by_hand():
    """One replicate of 0.5 for a figure of 0.4: sqrt(2 * 0.16 - 0.25); then three about 0.5."""
    corrected, interval = unbiased(0.4, np.array([0.5]))
    assert corrected == pytest.approx(np.sqrt(0.07))
    assert interval == pytest.approx((np.sqrt(0.07), 0.4))
    assert unbiased(0.1, np.array([0.5]))[0] == 0.0
    corrected, interval = unbiased(0.48, np.array([0.4, 0.5, 0.6]))
    excess = 0.5**2 - 0.48**2
    assert corrected == pytest.approx(np.sqrt(0.48**2 - excess))
    assert interval == pytest.approx((np.sqrt(0.38**2 - excess), np.sqrt(0.58**2 - excess)))
