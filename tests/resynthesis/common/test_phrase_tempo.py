"""Tempo of phrases: beginnings stay, pauses take up the difference, and time runs forward."""

import numpy as np
import pytest

from voicenym.dsp.phrases import Phrases
from voicenym.resynthesis.common.phrase_tempo import (
    EACH,
    FARTHEST,
    LONGER,
    OWN,
    SHORTER,
    between_knots,
    tempo_knots,
)


def some_phrases(seed, count=12, least=0.25):
    rng = np.random.default_rng(seed)
    edges = np.cumsum(rng.uniform(least, 2.0, 2 * count + 1))
    return Phrases(edges[:-1].reshape(count, 2), float(edges[-1]))


@pytest.mark.parametrize("seed", range(20))
def test_phrases_begin_where_they_did_and_time_runs_forward(seed):
    phrases = some_phrases(seed)
    output, source = tempo_knots(phrases, seed)
    assert np.all(np.diff(output) > 0.0)
    assert np.all(np.diff(source) > 0.0)
    assert output[1::2][:-1] == pytest.approx(phrases.spans[:, 0])
    assert (output[0], output[-1]) == (source[0], source[-1]) == (0.0, phrases.seconds)
    pauses = np.append(phrases.spans[1:, 0], phrases.seconds) - phrases.spans[:, 1]
    moved = output[2::2][: len(pauses)] - phrases.spans[:, 1]
    assert np.abs(moved).max() <= FARTHEST
    assert np.all(moved <= SHORTER * pauses + 1e-9)
    assert np.all(moved >= -LONGER * pauses - 1e-9)


def test_with_room_the_rate_of_a_pseudonym_does_not_depend_on_the_speaker():
    """Ratios of durations: the same for all speakers under one seed, spread over seeds."""
    slow = Phrases(np.array([[1.0, 3.0], [6.0, 8.0]]), 11.0)
    fast = Phrases(np.array([[1.0, 2.2], [6.0, 7.2]]), 11.0)

    def logs(phrases, seed):
        output, _ = tempo_knots(phrases, seed)
        return np.log((output[2::2][:2] - output[1::2][:2]) / np.diff(phrases.spans)[:, 0])

    ratios = np.array([[logs(phrases, seed) for phrases in (slow, fast)] for seed in range(400)])
    assert ratios[:, 0] == pytest.approx(ratios[:, 1])
    assert np.abs(ratios).max() <= OWN + EACH
    # uniform: variances OWN^2 / 3 and EACH^2 / 3; two phrases share the first
    assert ratios[:, 0, 0].std() == pytest.approx(((OWN**2 + EACH**2) / 3.0) ** 0.5, rel=0.1)
    shared = np.cov(ratios[:, 0, 0], ratios[:, 0, 1])[0, 1]
    assert shared == pytest.approx(OWN**2 / 3.0, rel=0.2)


def test_no_pause_leaves_no_room_to_slow_down():
    tight = Phrases(np.array([[0.0, 2.0]]), 2.0)
    for seed in range(10):
        output, source = tempo_knots(tight, seed)
        assert output == pytest.approx(source)


def test_times_between_knots_and_beyond_the_ends():
    knots = tempo_knots(some_phrases(3), 5)
    seconds = np.linspace(-1.0, knots[0][-1] + 1.0, 5001)
    found = between_knots(knots, seconds)
    assert np.all(np.diff(found) >= 0.0)
    outside = (seconds < 0.0) | (seconds > knots[0][-1])
    assert found[outside] == pytest.approx(seconds[outside])
    assert between_knots(knots, knots[0][1:-1]) == pytest.approx(knots[1][1:-1])


def test_a_recording_without_phrases_keeps_its_time():
    silent = Phrases(np.zeros((0, 2)), 3.0)
    seconds = np.linspace(0.0, 3.0, 31)
    assert between_knots(tempo_knots(silent, 1), seconds) == pytest.approx(seconds)
    empty = Phrases(np.zeros((0, 2)), 0.0)
    assert between_knots(tempo_knots(empty, 1), np.zeros(0)).shape == (0,)
