"""Numbers of listeners: the closed form against simulated studies."""

from __future__ import annotations

import pytest

from voicenym.errors import VoicenymError
from voicenym.listening.design.power import (
    listeners_for_share,
    listeners_needed,
    simulated_power,
)


@pytest.mark.parametrize(
    ("difference", "ratings", "power"), [(0.5, 4, 0.8), (0.3, 6, 0.9), (1.0, 1, 0.8)]
)
def test_the_closed_form_is_that_of_simulated_studies(difference, ratings, power):
    needed = listeners_needed(difference, ratings, power=power)
    found = simulated_power(needed, difference, ratings, studies=8000)
    fewer = simulated_power(needed - 2, difference, ratings, studies=8000)
    assert power - 0.02 < found < power + 0.04
    assert fewer < power + 0.005


def test_without_a_difference_five_percent_are_found():
    assert simulated_power(12, 1e-9, 4, studies=8000) == pytest.approx(0.05, abs=0.01)


def test_more_comparisons_need_more_listeners():
    assert listeners_needed(0.5, 4, comparisons=6) > listeners_needed(0.5, 4)
    assert listeners_needed(0.25, 4) > 3 * listeners_needed(0.5, 4)


def test_shares_against_chance_are_found_as_often_as_said():
    from scipy.stats import binom

    trials = 5
    needed = listeners_for_share(0.4, 0.2, trials)
    n = needed * trials
    limit = next(k for k in range(n) if binom.sf(k - 1, n, 0.2) < 0.025)
    assert binom.sf(limit - 1, n, 0.4) > 0.75


def test_what_makes_no_sense_is_refused():
    for bad in ((0.0, 4), (-1.0, 4), (0.5, 0)):
        with pytest.raises(VoicenymError):
            listeners_needed(*bad)
    with pytest.raises(VoicenymError, match="chance"):
        listeners_for_share(0.5, 0.5, 3)
    for options in ({"level": 5}, {"level": 0.0}, {"power": 1.0}, {"comparisons": 0}):
        with pytest.raises(VoicenymError, match="probabilities between 0 and 1"):
            listeners_needed(0.5, 4, **options)
    for listeners, studies in ((0, 9), (1, 9), (5, 0)):
        with pytest.raises(VoicenymError, match="two listeners at least"):
            simulated_power(listeners, 0.5, 4, studies=studies)
