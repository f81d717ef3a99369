"""Transforms that remember: the same results and identity, and each step computed once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from voicenym.corpus import remembered
from voicenym.corpus.remembered import Remembering, forget
from voicenym.corpus.transforms import Transform


@dataclass(frozen=True)
class Louder:
    """Counts its calls."""

    gain: float
    calls: list = field(default_factory=list, hash=False, compare=False)
    description = "louder"

    def identity(self, recording):
        return f"louder {self.gain}"

    def __call__(self, samples, recording):
        self.calls.append(recording.name)
        samples *= self.gain  # in place, as a step may
        return samples


@pytest.fixture(autouse=True)
def empty():
    forget()
    yield
    forget()


def test_the_first_steps_are_computed_once_and_the_results_are_the_same(corpus):
    first, last, other = Louder(2.0), Louder(0.5), Louder(3.0)
    for recording in corpus[:3]:
        for step in (last, other, last):
            one = Remembering((first, step))
            plain = Transform((Louder(2.0), Louder(step.gain)))
            assert np.array_equal(one(recording), plain(recording))
            assert one.identity(recording) == plain.identity(recording)
    assert len(first.calls) == 3
    assert len(last.calls) == 6


def test_another_step_before_the_last_is_another_result(corpus):
    quiet, loud = (Remembering((Louder(gain), Louder(1.0)))(corpus[0]) for gain in (0.5, 2.0))
    assert np.allclose(4.0 * quiet, loud)


def test_what_was_used_least_lately_is_forgotten(corpus, monkeypatch):
    longest = max(len(recording.samples()) for recording in corpus[:4])
    monkeypatch.setattr(remembered, "MOST_BYTES", 4 * longest)
    first = Louder(2.0)
    for recording in [*corpus[:2], *corpus[:2]]:
        Remembering((first, Louder(1.0)))(recording)
    assert len(first.calls) > 2
    held = sum(samples.nbytes for samples in remembered._KEPT.values())
    assert 0 < held <= 4 * longest


def test_a_single_step_remembers_nothing(corpus):
    Remembering((Louder(2.0),))(corpus[0])
    assert not remembered._KEPT
