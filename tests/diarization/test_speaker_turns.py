"""Turns: what is refused, merged, and where speakers overlap."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.errors import DiarizationError

TURNS = st.lists(
    st.builds(
        lambda start, length, who: Turn(start / 100, (start + length) / 100, who),
        st.integers(0, 400),
        st.integers(1, 150),
        st.sampled_from("abc"),
    ),
    max_size=12,
)


@pytest.mark.parametrize(
    "arguments",
    [
        (-1.0, 2.0, "a"),
        (2.0, 2.0, "a"),
        (float("nan"), 2.0, "a"),
        (0.0, float("inf"), "a"),
        (0.0, 1.0, " \t"),
        (0.0, 1.0, "a\x00"),
        (0.0, 1.0, "a" * 300),
        (0.0, 1.0, "a", 1.5),
    ],
)
def test_turns_that_cannot_be_are_refused(arguments):
    with pytest.raises(DiarizationError, match="correct it"):
        Turn(*arguments)


@given(TURNS)
def test_stretches_hold_each_moment_of_each_speaker(turns):
    found = Diarization(turns)
    stretches = list(found.stretches())
    assert all(a.end <= b.start for a, b in itertools.pairwise(stretches))
    for moment in (n / 100 + 0.005 for n in range(560)):
        there = {t.speaker for t in turns if t.start <= moment < t.end}
        listed = [s.speakers for s in stretches if s.start <= moment < s.end]
        assert set(*listed) == there
        assert len(listed) <= 1


@given(TURNS)
def test_turns_of_one_speaker_never_overlap(turns):
    found = Diarization(turns)
    for who in found.speakers:
        own = [turn for turn in found.turns if turn.speaker == who]
        assert all(a.end <= b.start for a, b in itertools.pairwise(own))
    assert sum(found.seconds().values()) == pytest.approx(
        sum(len(s.speakers) * (s.end - s.start) for s in found.stretches())
    )


def test_a_merged_turn_has_the_least_confidence():
    found = Diarization([Turn(0, 2, "a", 0.9), Turn(1, 3, "a", 0.4), Turn(3, 4, "a")])
    assert found.turns == (Turn(0, 3, "a", 0.4), Turn(3, 4, "a"))
    assert found.renamed({"a": "b"}).speakers == ("b",)
