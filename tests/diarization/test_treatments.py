"""Plans: who must be hidden is hidden, whoever else speaks; what is uncertain, by choice."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicenym.diarization import treatments
from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.diarization.treatments import BORDER, Choice, Reason, Treatment, choice, plan
from voicenym.errors import DiarizationError

RATE = 1000
FRAMES = 8 * RATE
PEOPLE = st.lists(
    st.builds(
        lambda start, length, who, sure: Turn(
            start / 100, min(8.0, (start + length) / 100), who, sure
        ),
        st.integers(0, 790),
        st.integers(1, 300),
        st.sampled_from(["anna", "ben", "host"]),
        st.sampled_from([None, 0.1, 0.9]),
    ),
    min_size=1,
    max_size=8,
)
REGIONS = st.lists(st.integers(0, 800), max_size=8, unique=True).map(
    lambda edges: np.array(sorted(edges)[: len(edges) // 2 * 2], float).reshape(-1, 2) / 100
)


def at(parts, sample):
    (found,) = [part for part in parts if part.start <= sample < part.end]
    return found


@given(PEOPLE, REGIONS, st.sampled_from(list(Treatment)))
def test_each_sample_has_the_treatment_that_the_law_asks_for(turns, speech, unsure):
    found = Diarization(turns)
    who = choice(found, only=[found.speakers[0]], unsure=unsure)
    parts = plan(found, who, RATE, FRAMES, speech)
    assert parts[0].start == 0
    assert parts[-1].end == FRAMES
    assert all(a.end == b.start for a, b in pairwise(parts))
    hidden = found.speakers[0]
    for moment in np.arange(0.005, 8.0, 0.05):
        part = at(parts, round(moment * RATE))
        there = [t for t in found.turns if t.start <= moment < t.end]
        if any(t.speaker == hidden for t in there):
            assert (part.treatment, part.person) == (Treatment.HIDE, hidden)
            continue
        near = [
            t
            for t in found.turns
            if t.speaker == hidden and t.start - BORDER <= moment < t.end + BORDER
        ]
        unclear = bool(there) and all((t.confidence or 1.0) < 0.6 for t in there)
        if near or unclear:
            assert part.treatment is unsure
        elif there and all((t.confidence or 1.0) > 0.6 for t in there):
            assert part.treatment is Treatment.KEEP
        if not there and part.treatment is Treatment.KEEP and unsure is Treatment.HIDE:
            # no speech, or the end of a kept turn without a hidden one nearby
            speaks = any(a <= moment < b for a, b in speech)
            assert not speaks or not any(
                t.speaker == hidden and t.start - 0.5 < moment < t.end + 0.5 for t in found.turns
            )


def test_overlaps_are_hidden_under_the_pseudonym_of_who_began():
    found = Diarization([Turn(1, 3, "anna"), Turn(2, 4, "ben"), Turn(3.5, 6, "host")])
    parts = plan(found, choice(found, keep=["host"]), RATE, FRAMES, np.zeros((0, 2)))
    assert at(parts, 2500) == at(parts, 2001)
    assert (at(parts, 2500).person, at(parts, 2500).reason) == ("anna", Reason.OVERLAP)
    assert at(parts, 3200).person == "ben"
    assert (at(parts, 3700).person, at(parts, 3700).reason) == ("ben", Reason.OVERLAP)
    assert (at(parts, 4100).person, at(parts, 4100).reason) == ("ben", Reason.BORDER)
    assert (at(parts, 5000).person, at(parts, 5000).treatment) == ("host", Treatment.KEEP)
    assert at(parts, 7000).reason is Reason.BACKGROUND


def test_speech_of_nobody_and_people_of_neither_list_are_uncertain():
    found = Diarization([Turn(1, 2, "anna"), Turn(4, 5, "host"), Turn(6, 7, "guest")])
    who = choice(found, only=["anna"], keep=["host"])
    parts = plan(found, who, RATE, FRAMES, np.array([[2.9, 3.3], [4.9, 5.2]]))
    assert (at(parts, 3000).reason, at(parts, 3000).person) == (Reason.UNASSIGNED, None)
    assert at(parts, 5100).treatment is Treatment.HIDE  # the guest, who is not kept, is near
    assert at(parts, 6500).reason is Reason.UNNAMED
    two = Diarization(found.turns[:2])
    parts = plan(two, choice(two, only=["anna"]), RATE, FRAMES, np.array([[4.9, 5.2], [6.0, 6.2]]))
    assert at(parts, 5100).treatment is Treatment.KEEP  # the decay of the host's turn
    assert at(parts, 6100).reason is Reason.UNASSIGNED


@pytest.mark.parametrize(
    ("only", "keep", "words"),
    [
        (["eve"], [], "--only eve.*anna, host"),
        ([], ["eve"], "--keep eve.*anna, host"),
        (["anna"], ["anna"], "both"),
        ([], ["anna", "host"], "nobody would be hidden"),
    ],
)
def test_lists_that_cannot_be_are_refused(only, keep, words):
    found = Diarization([Turn(1, 2, "anna"), Turn(4, 5, "host")])
    with pytest.raises(DiarizationError, match=words):
        choice(found, only, keep)


def test_without_lists_everybody_is_hidden():
    found = Diarization([Turn(1, 2, "anna"), Turn(4, 5, "host")])
    assert choice(found).hidden == {"anna", "host"}
    assert choice(found, only=["anna"]).kept == {"host"}
    assert choice(found, keep=["anna"]).hidden == {"host"}


def test_one_text_is_no_list_of_labels():
    """Of AB, A and B would be hidden, and AB kept."""
    found = Diarization([Turn(0, 1, "AB"), Turn(1, 2, "A"), Turn(2, 3, "B")])
    for lists in ({"only": "AB"}, {"keep": "AB"}):
        with pytest.raises(DiarizationError, match=r"several labels: \['AB'\], not 'AB'"):
            choice(found, **lists)
    with pytest.raises(DiarizationError, match="several labels"):
        Choice("AB", frozenset())
    assert choice(found, only=(name for name in ("AB",))).hidden == {"AB"}


@pytest.mark.parametrize("treatment", list(Treatment))
def test_a_treatment_may_be_text(treatment):
    """Text that is equal, and not the same object, would keep what is to be hidden or silent."""
    found = Diarization([Turn(0, 1, "host"), Turn(1, 2, "anna", 0.1)])
    who = choice(found, only=["host"], unsure=str(treatment.value))
    assert who.unsure is treatment
    parts = plan(found, who, RATE, 2 * RATE, np.zeros((0, 2)))
    assert at(parts, round(1.5 * RATE)).treatment is treatment
    with pytest.raises(DiarizationError, match="hide, keep, silence, not 'drop'"):
        choice(found, unsure="drop")


@pytest.mark.parametrize("seed", range(20))
def test_regions_near_turns_are_those_within_a_distance_of_any(seed):
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0.0, 60.0, (12, 2)), axis=1)
    turns = [Turn(float(start), float(end), "a") for start, end in times]
    reach = treatments._reach(turns, 0.5)
    for start in np.arange(0.0, 60.0, 0.37):
        near = any(t.start - 0.5 < start + 0.2 and start < t.end + 0.5 for t in turns)
        assert treatments._touches(reach, start, start + 0.2) == near
