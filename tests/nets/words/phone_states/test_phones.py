"""Phones as states of frames, and back."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.nets.words.phone_states.phones import SILENCE, Phone, States

STATES = States(("AA", "B", "T"))


def test_states_are_numbered_by_phone():
    assert [STATES.first(name) for name in STATES.phones] == [1, 3, 5]
    assert len(STATES) == 7
    with pytest.raises(KeyError):
        STATES.first(SILENCE)
    for wrong in ((), ("B", "B"), ("B", SILENCE)):
        with pytest.raises(ValueError, match="states need phones"):
            States(wrong)


def test_a_phone_has_the_frames_that_lie_in_it():
    phones = [
        Phone(SILENCE, 0.0, 0.1),
        Phone("B", 0.1, 0.15),
        Phone("AA", 0.15, 0.4),
        Phone("T", 0.4, 0.48),
    ]
    # frames at 0, 0.05, 0.1 ... 0.55; one of B, five of AA, two of T
    assert STATES.labels(phones, 12, 0.05).tolist() == [0, 0, 3, 1, 1, 1, 2, 2, 5, 6, 0, 0]
    assert STATES.labels(phones, 4, 0.05).tolist() == [0, 0, 3, 1]
    assert STATES.labels([Phone("HUM", 0.0, 1.0)], 3, 0.05).tolist() == [0, 0, 0]


def test_labels_say_the_phones_that_they_were_made_of():
    rng = np.random.default_rng(0)
    for _ in range(50):
        names = rng.choice([*STATES.phones, SILENCE], 8)
        # The same phone twice without a pause is told apart by its parts, where it has both.
        edges = np.cumsum([0.0, *rng.uniform(0.07, 0.3, len(names))])
        phones = [Phone(str(n), *e) for n, *e in zip(names, edges[:-1], edges[1:], strict=True)]
        labels = STATES.labels(phones, int(edges[-1] / 0.03) + 1, 0.03)
        assert STATES.phones_of(labels) == [name for name in names if name != SILENCE]


def test_phones_that_are_partly_recognised():
    assert STATES.phones_of([]) == []
    assert STATES.phones_of([2, 2, 6]) == ["AA", "T"]  # later parts alone
    assert STATES.phones_of([1, 3, 4, 1, 2, 2, 1]) == ["AA", "B", "AA", "AA"]
