"""Caveats of a report on the limits of its figures."""

from __future__ import annotations

import pytest

from voicenym.attack.normalised_scores import SUFFIX
from voicenym.evaluation.caveats import badly_trained, caveats, learned_from, unlearnt, untried
from voicenym.evaluation.results import AttackFigures, Lesson, Measured


def attack(attacker, eer, verifier="neural", informed=True, learning=(), **more):
    figures = {"EER": Measured(eer, eer - 1.0, eer + 1.0, "%")}
    return AttackFigures(
        attacker, "", verifier, figures, "A", 9, 9, informed=informed, learning=learning, **more
    )


def test_who_knows_more_and_finds_less_than_trivial_statistics_is_badly_trained():
    attacks = [
        attack("ignorant", 10.0, informed=False),
        attack("lazy-informed", 40.0),
        attack(f"lazy-informed{SUFFIX}", 45.0),
        attack("key-holder", 45.0, holds_key=True),
        attack("ignorant", 20.0, "plain", informed=False),
        attack("lazy-informed", 35.0, "plain"),
    ]
    (note,) = badly_trained(attacks, "plain")
    assert note.startswith("neural as lazy-informed attacker")
    assert "20.0 % against 40.0 %" in note


def test_what_an_informed_one_finds_does_not_shame_the_ignorant():
    attacks = [
        attack("ignorant", 20.0, informed=False),
        attack("ignorant", 40.0, "plain", informed=False),
        attack("lazy-informed", 5.0, "plain"),
    ]
    assert badly_trained(attacks, "plain") == ()


@pytest.mark.parametrize(
    ("system", "trains", "given"),
    [(None, True, "only files"), ("vtln", False, "--pool"), ("vtln", True, None)],
)
def test_attackers_who_were_not_tried_are_missed(system, trains, given):
    found = untried(system, trains)
    assert [given in note for note in found] == ([] if given is None else [True])


@pytest.mark.parametrize(
    ("rates", "given"),
    [
        ((), "no neural verifier was trained"),
        ((40.0, 20.0, 10.0, 10.0), None),
        ((40.0, 11.0, 11.0, 10.0), None),
        ((40.0, 30.0, 20.0, 10.0), "still learning"),
    ],
)
def test_an_attacker_learns_to_the_end(rates, given):
    curve = tuple(Lesson(i, 10.0 * (i + 1), eer) for i, eer in enumerate(rates))
    found = unlearnt([attack("semi-informed", 10.0, learning=curve)])
    assert [given in note for note in found] == ([] if given is None else [True])


def test_all_facts_are_reported():
    attacks = [attack("lazy-informed", 40.0), attack("lazy-informed", 35.0, "plain")]
    assert len(caveats(attacks, "plain", None, True)) == 3


def test_the_amount_of_speech_that_attackers_learned_from_is_stated():
    taught = attack("semi-informed (back end)", 10.0, learned_from=1200)
    (note,) = learned_from([attack("lazy-informed", 40.0), taught])
    assert "learned from 1,200 recordings" in note
    assert learned_from([attack("lazy-informed", 40.0)]) == ()
    assert note in caveats([taught], "plain", "vtln", True)
    assert note in caveats([taught], "plain", "vtln", True, ("back end",))
