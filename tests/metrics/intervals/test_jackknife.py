import numpy as np
import pytest

from voicenym.metrics.intervals.jackknife import MOST_GROUPS, groups, limits
from voicenym.metrics.metric_inputs import VoiceVectors
from voicenym.metrics.voices.voice_distinctiveness import (
    AA_OWN,
    DEIDENTIFICATION,
    GAIN,
    gain_of,
    gain_of_voice_distinctiveness,
)


def voices(seed=0, speakers=12, recordings=4, kept=0.5):
    """Vectors of speakers whose voices are moved and brought together."""
    rng = np.random.default_rng(seed)
    means = rng.standard_normal((speakers, 8))
    moved = kept * means + (1 - kept**2) ** 0.5 * rng.standard_normal((speakers, 8))
    who = np.repeat(np.arange(speakers), recordings)
    pair = (means[who], 0.6 * moved[who])
    original, published = (v + rng.standard_normal((len(who), 8)) for v in pair)
    unit = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in (original, published)]
    return VoiceVectors(*unit, who.astype(str), replicates=200)


@pytest.mark.parametrize("count", [1, 5, MOST_GROUPS, 3 * MOST_GROUPS + 7])
def test_each_speaker_is_left_out_once(count):
    names = np.array([f"s{i % count}" for i in range(3 * count)])
    found = groups(names)
    assert len(found) == min(count, MOST_GROUPS)
    assert sorted(np.concatenate(found).tolist()) == sorted({*names.tolist()})


def test_the_interval_of_a_mean_is_students():
    """The jackknife of a mean has its standard error, s / sqrt(n), exactly."""
    values = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.0])
    others = [np.delete(values, i).mean() for i in range(6)]
    low, high = limits(float(values.mean()), others, 6)
    half = 2.570582 * values.std(ddof=1) / 6**0.5
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), rel=1e-6)


def test_there_is_no_interval_of_few_speakers_or_of_figures_without_a_value():
    for arguments in ((1.0, [1.0] * 4, 4), (np.inf, [1.0] * 6, 6), (1.0, [1.0, np.nan] * 3, 6)):
        assert np.isnan(limits(*arguments)).all()
    few = voices(speakers=4)
    for metric in (GAIN, DEIDENTIFICATION, AA_OWN):
        assert metric(few).low is None


def test_intervals_know_that_the_calibration_varies():
    """A bootstrap over matrices whose calibration is kept is half as wide as samples spread."""
    samples = [voices(seed) for seed in range(16)]
    spread = np.std([gain_of(sample) for sample in samples])
    widths, kept = [], []
    for sample in samples:
        found = GAIN(sample)
        assert found.low < found.value < found.high
        widths.append((found.high - found.low) / 2 / 2.2)
        matrices = sample.similarity("oo"), sample.similarity("aa")
        low, high = gain_of_voice_distinctiveness(*matrices, replicates=200).interval
        kept.append((high - low) / 2 / 2.2)
    assert np.mean(kept) < 0.75 * spread < 0.75 * 1.3 * np.mean(widths)


def test_limits_are_figures_that_there_can_be():
    for seed in range(4):
        found = DEIDENTIFICATION(voices(seed, speakers=6, kept=0.0))
        assert found.high is None or found.high <= 1.0
        own = AA_OWN(voices(seed, speakers=6))
        assert 0.0 <= own.low <= own.value <= own.high <= 1.0
