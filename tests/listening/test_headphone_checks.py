"""Headphone checks: what both ears get, and what loudspeakers make of it."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.listening.design.headphone_checks import (
    ANTIPHASE,
    CENTRE,
    HUGGINS,
    INTERVAL,
    PAUSE,
    RATE,
    trial,
)


def parts(sound):
    """The three sounds of a trial, without their fades."""
    step = round((INTERVAL + PAUSE) * RATE)
    return [sound[:, i * step : i * step + round(INTERVAL * RATE)] for i in range(3)]


def band(sound, low, high):
    spectrum = np.abs(np.fft.rfft(sound)) ** 2
    frequency = np.fft.rfftfreq(len(sound), 1 / RATE)
    return spectrum[(frequency > low) & (frequency < high)].mean()


@pytest.mark.parametrize("seed", range(4))
def test_huggins_pitch_is_in_the_difference_of_the_ears_alone(seed):
    sound, answer = trial(HUGGINS, np.random.default_rng(seed))
    for number, part in enumerate(parts(sound), 1):
        left, right = part
        for ear in part:  # one ear alone hears noise without a peak
            assert 0.7 < band(ear, 0.94 * CENTRE, 1.06 * CENTRE) / band(ear, 300, 1200) < 1.4
        difference = band(left - right, 0.97 * CENTRE, 1.03 * CENTRE)
        noise = band(left, 0.97 * CENTRE, 1.03 * CENTRE)
        assert (difference > noise) == (number == answer)
        assert band(left - right, 2000, 5000) < 1e-3 * band(left, 2000, 5000)


@pytest.mark.parametrize("seed", range(4))
def test_loudspeakers_mislead_who_looks_for_the_softest_tone(seed):
    sound, answer = trial(ANTIPHASE, np.random.default_rng(seed))
    ears = [part[0].std() for part in parts(sound)]
    room = [part.sum(0).std() for part in parts(sound)]
    assert np.argmin(ears) + 1 == answer
    assert np.argmin(room) + 1 != answer


def test_answers_are_drawn_evenly():
    answers = [trial(ANTIPHASE, np.random.default_rng(i))[1] for i in range(60)]
    assert set(answers) == {1, 2, 3}
    assert max(np.bincount(answers)) < 32
