"""Timing of speech: measures with known values, and speakers who differ only in timing."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.metrics import eer
from voicenym.verification.measure_comparison import MeasureComparison
from voicenym.verification.speech_timing import CLASSES, NAMES, VOWELS, measure

NUMBER = {name: place for place, name in enumerate(NAMES)}
CONSONANTS = sorted(set().union(*CLASSES.values()) - VOWELS)


def named(timed):
    return dict(zip(NAMES, measure([timed])[0], strict=True))


def test_rates_and_pauses_are_those_of_the_phones():
    messages = [("SIL", 25), ("M", 10), ("AA", 10), ("SIL", 40), *[("T", 5), ("IY", 15)] * 3]
    row = named([*messages, ("SIL", 5)])
    assert np.exp(row["log seconds before speech"]) == pytest.approx(0.25 + 0.05)
    assert np.exp(row["log seconds after speech"]) == pytest.approx(0.05 + 0.05)
    assert row["pauses a second"] == pytest.approx(1 / 1.2)
    assert row["share of pauses"] == pytest.approx(0.4 / 1.2)
    assert np.exp(row["mean log duration of pauses"]) == pytest.approx(0.4)
    assert row["mean position of pauses, 0 to 1"] == pytest.approx(40 / 120)
    assert np.exp(row["log phones before the first pause"]) == pytest.approx(3)
    assert np.exp(row["log phones a second, pauses included"]) == pytest.approx(8 / 1.2)
    assert np.exp(row["log phones a second, without pauses"]) == pytest.approx(8 / 0.8)
    assert row["%V"] == pytest.approx(0.55 / 0.8)


def test_a_closure_is_no_pause():
    row = named([*[("M", 8), ("AA", 12)] * 3, ("SIL", 6), *[("T", 8), ("IY", 12)] * 3])
    assert row["pauses a second"] == 0.0
    assert np.isnan(row["mean log duration of pauses"])


def test_rhythm_of_alternating_vowels():
    messages = [("T", 8), ("IY", 10), ("T", 8), ("AA", 20)] * 4
    row = named(messages)
    assert row["nPVI of vowels"] == pytest.approx(100 * 10 / 15)
    assert row["VarcoC"] == pytest.approx(0.0)
    assert row["VarcoV"] == pytest.approx(1 / 3)
    assert np.exp(row["log delta V"]) == pytest.approx(0.05 + 0.005)
    assert np.exp(row["mean log duration of stops"]) == pytest.approx(0.08)
    assert np.isnan(row["mean log duration of nasals"])


def test_few_phones_are_not_measured():
    assert np.isnan(measure([[("SIL", 90)], [], [("AA", 9)] * 5])).all()


def test_every_phone_is_of_one_class():
    members = [name for phones in CLASSES.values() for name in phones]
    assert len(members) == len(set(members)) == 39
    assert set(members) > VOWELS


def speech(speaker: int, take: int, own: float) -> list[tuple[str, int]]:
    """Random phones; ``own`` scales how far the durations depend on the speaker."""
    habit = own * np.random.default_rng(speaker).normal(size=4)
    rng = np.random.default_rng((7, speaker, take))
    messages = [("SIL", int(rng.integers(10, 40)))]
    for place in range(30):
        vocalic = bool(place % 2)
        name = str(rng.choice(sorted(VOWELS) if vocalic else CONSONANTS))
        usual = np.log(8.0) + 0.25 * habit[0] + 0.25 * habit[1] * vocalic
        messages.append((name, max(3, round(np.exp(usual + 0.3 * rng.normal())))))
        if rng.random() < 0.06 * np.exp(habit[2]):
            messages.append(("SIL", round(25 * np.exp(0.5 * habit[3] + 0.3 * rng.normal()))))
    return [*messages, ("SIL", int(rng.integers(10, 40)))]


def errors(own: float):
    people = [(s, t) for s in range(80) for t in range(6)]
    numbers = measure([speech(s, t, own) for s, t in people])
    trained = MeasureComparison.train(numbers[240:], [str(s) for s, _ in people[240:]])
    test = numbers[:240].reshape(40, 6, -1)
    scores = trained.score(list(test[:, :4]), test[:, 4:].reshape(80, -1))
    target = np.repeat(np.eye(40, dtype=bool), 2, axis=1)
    return 100.0 * eer(scores[target], scores[~target]).value


def test_finds_people_by_their_timing_and_nobody_where_timing_is_everybodys():
    assert errors(1.0) < 20.0
    assert 41.0 < errors(0.0) < 59.0  # 80 targets: 50 +- 1.6 standard errors
