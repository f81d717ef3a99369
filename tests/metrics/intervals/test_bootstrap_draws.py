"""Joint bootstrap: figures of drawn speakers against those of the same trials."""

import math

import numpy as np
import pytest

from voicenym.errors import ScoreError
from voicenym.metrics import Speakers, eer, gain_of_voice_distinctiveness, ratio_of_sums
from voicenym.metrics.intervals.bootstrap_draws import replicate, share
from voicenym.metrics.verification.eer import equal_error
from voicenym.metrics.voice_similarity.similarity import Similarity
from voicenym.metrics.voices.voice_distinctiveness import distinctiveness


def trials(seed=0, speakers=10, distance=1.5, ties=False):
    rng = np.random.default_rng(seed)
    model, trial = np.arange(speakers), np.repeat(np.arange(speakers), 3)
    same = model[:, None] == trial
    pairs = np.stack(np.broadcast_arrays(model[:, None], trial), axis=-1)
    scores = rng.standard_normal(same.shape) + distance * same
    scores = np.round(scores) if ties else scores
    return scores[same], scores[~same], Speakers(pairs[same], pairs[~same])


@pytest.mark.parametrize("ties", [False, True])
def test_of_everybody_once_it_is_the_rate_and_of_others_that_of_their_trials(ties):
    t, n, who = trials(ties=ties)
    found = equal_error(t, n, who)
    assert found.value == eer(t, n).value
    assert found.again(np.ones(10)) == pytest.approx(found.value, abs=1e-12)
    times = np.array([2.0, 0, 1, 3, 0, 1, 1, 1, 0, 1])
    # the same, with every trial written down as often as it counts
    weigh = [times[pairs[:, 0]] * times[pairs[:, 1]] for pairs in (who.target, who.nontarget)]
    weigh[0] = times[who.target[:, 0]]
    again = [np.repeat(s, w.astype(int)) for s, w in zip((t, n), weigh, strict=True)]
    assert found.again(times) == pytest.approx(eer(*again).value, abs=1e-12)
    assert math.isnan(found.again(np.eye(10)[0] * 10)), "nobody else is left"


def test_a_share_is_that_of_the_drawn():
    found = share([1, 2, 3, 0], [4, 4, 8, 2], list("abba"))
    assert found.value == 6 / 18
    assert found.again(np.array([0.0, 2.0])) == 5 / 12
    assert math.isnan(found.again(np.zeros(2)))
    for bad in (([1, 2], [1], "ab"), ([math.nan], [1], "a"), ([1], [0], "a")):
        with pytest.raises(ScoreError):
            share(*bad)


def test_distinctiveness_is_g_vd_with_a_speakers_row_and_column_as_often_as_drawn():
    rng = np.random.default_rng(0)
    oo, aa = (Similarity(rng.uniform(size=(4, 4)), tuple("abcd")) for _ in range(2))
    found = distinctiveness(oo, aa)
    assert found.value == gain_of_voice_distinctiveness(oo, aa, replicates=2).value
    some = np.ix_([0, 2], [0, 2])
    fewer = [Similarity(m.matrix[some], ("a", "c")) for m in (oo, aa)]
    assert found.again(np.array([1.0, 0, 1, 0])) == pytest.approx(distinctiveness(*fewer).value)
    with pytest.raises(ScoreError, match="not of the same speakers"):
        distinctiveness(oo, Similarity(aa.matrix, tuple("abce")))


def test_what_shares_speakers_is_drawn_once_for_all():
    """Of twice the same figure every draw is the same; of other people it is not."""
    one = share(np.arange(12), np.ones(12), list("abcdefabcdef"))
    other = share(np.arange(12), np.ones(12), list("uvwxyzuvwxyz"))
    draws = replicate([one, one, other], 50, 0)
    np.testing.assert_array_equal(draws[0], draws[1])
    assert abs(np.corrcoef(draws[0], draws[2])[0, 1]) < 0.5
    np.testing.assert_array_equal(draws, replicate([one, one, other], 50, 0))


def test_intervals_are_those_of_a_figure_by_itself():
    values = np.random.default_rng(0).exponential(size=60)
    who = [f"s{i % 20}" for i in range(60)]
    draws = replicate([share(values, np.ones(60), who)], 2000, 1)[0]
    alone = ratio_of_sums(values, np.ones(60), who, replicates=2000)
    assert np.quantile(draws, [0.025, 0.975]) == pytest.approx(alone, rel=0.05)
