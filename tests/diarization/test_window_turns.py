"""Turns from posteriors of windows by construction."""

import numpy as np
import pytest

from voicenym.diarization.recording_analysis import Analysis
from voicenym.diarization.window_turns import turns_of
from voicenym.diarization.window_vectors import HOP, windows_of


def analysis(overlap):
    """Two voices of 4 s each, whose vectors are opposite, in one region."""
    windows = windows_of(np.array([[0.0, 8.0]]))
    first = windows.mean(1) < 4.0
    vectors = np.where(first[:, None], [[1.0, 0.0]], [[0.0, 1.0]])
    posteriors = np.where(first[:, None], [[0.0, 1.0]], [[1.0, 0.0]])
    crowd = np.zeros(400, np.float32)
    crowd[180:200] = overlap
    found = Analysis(8.0, np.ones(250), np.array([[0.0, 8.0]]), windows, vectors, crowd)
    return found, posteriors


def test_borders_lie_between_windows_and_speakers_are_counted_by_time():
    found = turns_of(*analysis(0.0))
    assert found.speakers == ("speaker-1", "speaker-2")
    one, two = found.turns
    assert (one.start, two.end) == (0.0, 8.0)
    assert one.end == two.start == pytest.approx(4.0, abs=HOP)
    assert min(one.confidence, two.confidence) > 0.9


def test_an_overlap_is_a_turn_of_both():
    found = turns_of(*analysis(0.99))
    both = [s for s in found.stretches() if len(s.speakers) == 2]
    assert sum(s.end - s.start for s in both) == pytest.approx(0.4, abs=0.02)
    assert both[0].start == pytest.approx(3.6, abs=0.02)
    assert turns_of(*analysis(0.99), overlaps=False) == turns_of(*analysis(0.0))
