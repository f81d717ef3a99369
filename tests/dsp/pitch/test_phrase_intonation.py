"""Coarse intonation of phrases: known contours, and what their patterns add."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.dsp.phrases import Phrases
from voicenym.dsp.pitch.phrase_intonation import (
    FALL,
    PEAK,
    RISE,
    Intonation,
    intonation_offsets,
    phrase_intonation,
)


def contour(ending, peak, rate=100.0, level=120.0):
    """F0 of a phrase of 2 s with a peak in a third and a movement over its last half second."""
    seconds = np.arange(round(2.0 * rate)) / rate
    height = 0.35 * np.exp(-(((seconds - (peak + 0.5) * 2.0 / 3.0) / 0.15) ** 2))
    if peak == 2:  # before the ending
        height = 0.35 * np.exp(-(((seconds - 1.42) / 0.06) ** 2))
    moved = ending * 0.3 * np.clip((seconds - 1.5) / 0.5, 0.0, 1.0)
    return level * np.exp(height + moved)


@pytest.mark.parametrize("rate", [50.0, 100.0, 200.0])
@pytest.mark.parametrize("ending", [-1, 0, 1])
def test_endings_rise_fall_or_stay(ending, rate):
    level = contour(ending, 0, rate)
    found = phrase_intonation(level, Phrases(np.array([[0.0, 2.0]]), 2.0), rate)
    assert found.endings.tolist() == [ending]


@pytest.mark.parametrize("peak", [0, 1])
def test_the_peak_is_in_its_third(peak):
    found = phrase_intonation(contour(0, peak), Phrases(np.array([[0.0, 2.0]]), 2.0))
    assert found.peaks.tolist() == [peak]


def test_the_register_does_not_matter_and_tracker_errors_do_not_count():
    phrases = Phrases(np.array([[0.0, 2.0]]), 2.0)
    for level in (80.0, 240.0):
        f0 = contour(1, 1, level=level)
        f0[[160, 181]] *= 0.5
        f0[::7] = 0.0
        found = phrase_intonation(f0, phrases)
        assert (found.endings.tolist(), found.peaks.tolist()) == ([1], [1])


def test_short_and_unvoiced_phrases_have_no_pattern():
    spans = np.array([[0.0, 0.5], [0.7, 2.7]])
    f0 = np.zeros(300)
    assert phrase_intonation(f0, Phrases(spans, 3.0)).endings.tolist() == [0, 0]
    f0[10:18] = np.linspace(100.0, 200.0, 8)
    found = phrase_intonation(f0, Phrases(spans, 3.0))
    assert found.endings.tolist() == [0, 0]
    assert found.peaks.tolist() == [-1, -1]
    assert not len(phrase_intonation(f0, Phrases(np.zeros((0, 2)), 3.0)).peaks)


def test_offsets_move_the_ending_and_raise_the_third_alone():
    phrases = Phrases(np.array([[1.0, 2.5], [3.0, 4.5]]), 5.0)
    patterns = Intonation(np.array([1, -1], np.int8), np.array([0, -1], np.int8))
    seconds = np.arange(500) / 100.0
    found = intonation_offsets(patterns, phrases, seconds)
    assert found[250] == pytest.approx(RISE, abs=0.05)
    assert found[450] == pytest.approx(FALL, abs=0.05)
    assert found[125] == pytest.approx(PEAK, abs=0.05)
    outside = (seconds < 1.0) | ((seconds > 1.51) & (seconds < 2.0)) | (seconds > 4.51)
    assert not found[outside].any()
    assert np.array_equal(found, intonation_offsets(patterns, phrases, seconds))
