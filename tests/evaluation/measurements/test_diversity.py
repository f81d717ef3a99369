"""Effective number of voices, for mixtures with known numbers."""

from pathlib import Path

import numpy as np
import pytest

from voicenym.corpus.recording import Recording
from voicenym.evaluation.measurements import distinctiveness
from voicenym.evaluation.measurements.diversity import EFFECTIVE_VOICES, FIGURES, Axes, measure
from voicenym.evaluation.trial_plans.trials import build
from voicenym.metrics.metric_inputs import VoiceVectors

PEOPLE, EACH, DIMENSION = 40, 6, 64
WHO = np.repeat([f"s{i:02}" for i in range(PEOPLE)], EACH)


def vectors(apart, seed=0, noise=1.0, voices=PEOPLE):
    """Voices so many deviations of a recording apart; some people may share one."""
    rng = np.random.default_rng(seed)
    own = rng.standard_normal((voices, DIMENSION))[np.arange(PEOPLE) % voices]
    return apart * own.repeat(EACH, 0) + noise * rng.standard_normal((len(WHO), DIMENSION))


@pytest.fixture(scope="module")
def axes():
    return Axes.of(vectors(2.0, seed=9), WHO)


def test_one_voice_counts_as_one_and_distant_voices_as_many(axes):
    one, all_apart = measure(vectors(0.0), WHO, axes), measure(vectors(5.0), WHO, axes)
    assert one["effective voices"].value == pytest.approx(1.0, abs=0.3)
    assert all_apart["effective voices"].value == pytest.approx(PEOPLE, rel=0.05)
    few = measure(vectors(5.0, voices=4), WHO, axes)
    assert 4.0 < few["effective voices"].value < 8.0


def test_bounds_hold_the_entropy_and_louder_noise_is_no_diversity(axes):
    found = measure(vectors(1.0), WHO, axes)
    assert set(found) == set(FIGURES)
    entropy, low, high, voices = (found[name] for name in FIGURES)
    assert low.value - 0.2 < entropy.value < high.value + 0.2
    assert entropy.low < entropy.value < entropy.high
    assert 1.0 < voices.low <= voices.value <= voices.high < PEOPLE
    # twice the scale: log 2 more for each dimension, and as many voices
    twice = measure(2.0 * vectors(1.0), WHO, Axes(2.0 * axes.centre, axes.basis))
    kept = axes.basis.shape[1]
    assert twice["entropy"].value - entropy.value == pytest.approx(kept * np.log(2.0))
    assert twice["effective voices"].value == pytest.approx(voices.value)
    noisy = measure(vectors(1.0, noise=3.0), WHO, axes)
    assert noisy["entropy"].value > entropy.value
    assert noisy["effective voices"].value < voices.value


def test_recordings_that_are_all_the_same_have_no_figure(axes):
    """Whose differences are rounding alone."""
    same = vectors(2.0, noise=0.0) + 1e-14 * vectors(1.0)
    assert measure(same, WHO, axes) == {}
    assert measure(np.ones_like(same), WHO, axes) == {}


def test_few_recordings_have_few_dimensions_or_none():
    assert Axes.of(vectors(1.0)[:12], WHO[:12]).basis.shape == (DIMENSION, 1)
    assert Axes.of(vectors(1.0)[:EACH], WHO[:EACH]) is None
    assert Axes.of(vectors(1.0)[::EACH], WHO[::EACH]) is None


def test_trials_before_and_after_share_their_axes():
    trials = build(
        [Recording(f"s{s}-{u}", f"s{s}", Path("x")) for s in range(12) for u in range(14)]
    )
    rng = np.random.default_rng(0)
    people = {m.speaker: rng.standard_normal(24) for m in trials.models}
    original = np.stack([people[r.speaker] for r in trials.recordings])
    original += 0.2 * rng.standard_normal(original.shape)
    alike = original.mean(0) + 0.2 * rng.standard_normal(original.shape)
    before, after = (
        EFFECTIVE_VOICES(distinctiveness.vectors(original, x, trials)).value
        for x in (original, alike)
    )
    assert after < 0.3 * before
    found = distinctiveness.of_originals(original, trials, 20)
    assert set(found) == {*FIGURES, "cluster ARI"}, (
        "other metrics of vectors compare with originals"
    )
    assert found["effective voices"].value == before
    none = VoiceVectors(original[:0], original[:0], np.array([]))
    assert EFFECTIVE_VOICES(none) is None
