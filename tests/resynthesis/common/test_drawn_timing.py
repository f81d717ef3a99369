"""Drawn timing: predicted durations, drawn rates and pauses, and time that runs forward."""

import itertools

import numpy as np
import pytest
import torch

from voicenym.dsp.phrases import Phrases
from voicenym.resynthesis.common.drawn_timing import (
    EDGES,
    KINDS,
    LONG,
    DrawnTiming,
    timing_knots,
)
from voicenym.resynthesis.common.phrase_tempo import EACH, OWN

FRAME = 0.04
SPANS = np.array([[0.5, 2.5], [2.9, 4.1], [5.3, 6.0], [10.0, 12.0]])
PHRASES = Phrases(SPANS, 12.3)


def ratios(seconds, seed=0, spread=0.5):
    rng = np.random.default_rng(seed)
    return np.exp(rng.uniform(-spread, spread, round(seconds / FRAME)))


def durations(knots):
    """Seconds of phrases, and of pauses, in the output."""
    output, source = knots
    edges = np.interp(SPANS, source, output)
    pauses = np.append(edges[:, 0], output[-1]) - np.insert(edges[:, 1], 0, 0.0)
    return np.diff(edges)[:, 0], pauses


@pytest.mark.parametrize("seed", range(10))
def test_time_runs_forward_and_pauses_are_of_their_kind(seed):
    knots = timing_knots(seed, PHRASES, ratios(12.3, seed), FRAME)
    assert all(np.all(np.diff(one) > 0.0) for one in knots)
    assert [one[0] for one in knots] == [0.0, 0.0]
    assert knots[1][-1] == 12.3
    phrases, pauses = durations(knots)
    (_, *short), (_, *middle) = KINDS
    ((_, *edge),) = EDGES
    for found, (least, most) in zip(pauses, (edge, short, middle), strict=False):
        assert least <= found <= most
    assert abs(np.log(pauses[3] / 4.0)) <= LONG
    assert edge[0] <= pauses[4] <= edge[1]
    assert np.all(phrases > 0.0)


def test_the_duration_of_phrases_is_the_predicted_one_whoever_spoke():
    """A speaker who takes twice as long for the same sounds gives the same output."""
    fast = ratios(12.3)
    slow = 0.5 * np.repeat(fast, 2)
    at_half = Phrases(2.0 * SPANS, 24.6)
    for seed in range(5):
        first, _ = durations(timing_knots(seed, PHRASES, fast, FRAME))
        output, source = timing_knots(seed, at_half, slow, FRAME)
        second = np.diff(np.interp(2.0 * SPANS, source, output))[:, 0]
        assert second == pytest.approx(first)


def test_stored_keys_keep_their_timing():
    """Times of an output that stored keys have: others would be a new revision."""
    output, source = timing_knots(7, PHRASES, ratios(12.3), FRAME)
    places = [0.5, 1.5, 2.5, 2.9, 4.1, 5.3, 6.0, 10.0, 12.0, 12.3]
    known = [
        *(0.412066, 1.62098, 2.774007, 2.975323, 4.630559),
        *(5.632235, 6.416207, 11.196664, 13.462529, 13.752909),
    ]
    np.testing.assert_allclose(np.interp(places, source, output), known, atol=1e-5)


def test_rates_of_pseudonym_and_phrase_have_their_deviations():
    flat = np.ones(round(12.3 / FRAME))
    logs = np.array(
        [
            np.log(durations(timing_knots(seed, PHRASES, flat, FRAME))[0] / np.diff(SPANS)[:, 0])
            for seed in range(400)
        ]
    )
    assert np.abs(logs).max() <= OWN + EACH + 1e-9
    assert logs[:, 0].std() == pytest.approx(((OWN**2 + EACH**2) / 3.0) ** 0.5, rel=0.1)
    assert np.cov(logs[:, 0], logs[:, 1])[0, 1] == pytest.approx(OWN**2 / 3.0, rel=0.2)


def test_frames_of_windows_join_and_come_from_their_own_time():
    timing = DrawnTiming(3, PHRASES, ratios(12.3), FRAME)
    ends = [0.0, 2.0, 2.6, 7.0, 12.3]
    counts = [timing.frames(end, 0.01) for end in ends]
    assert counts[0] == 0
    assert counts == sorted(counts)
    times = timing.source_times((torch.arange(counts[-1]) + 0.5) * 0.01)[0]
    assert bool((times.diff() > 0.0).all())
    for number, (begin, end) in enumerate(itertools.pairwise(ends)):
        own = times[counts[number] : counts[number + 1]]
        assert begin - 1e-6 <= float(own.min())
        assert float(own.max()) <= end + 1e-6


def test_a_recording_without_phrases_stays():
    timing = DrawnTiming(3, Phrases(np.zeros((0, 2)), 4.0), np.ones(100), FRAME)
    seconds = torch.linspace(0.0, 4.0, 50, dtype=torch.float64)
    torch.testing.assert_close(timing.source_times(seconds)[0], seconds)
    assert timing.frames(4.0, 0.01) == 400


def test_a_phrase_may_end_after_the_last_frame_of_content():
    phrases = Phrases(np.array([[0.2, 1.0]]), 1.0)
    output, source = timing_knots(1, phrases, np.ones(24), FRAME)
    assert source[-1] == 1.0
    assert np.all(np.diff(output) >= 0.0)
