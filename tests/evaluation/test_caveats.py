"""Caveats of a report on the limits of its figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from voicenym.attack.attacker_list import attackers
from voicenym.attack.attacker_resources import AttackerTraining, Resources
from voicenym.attack.normalised_scores import SUFFIX
from voicenym.evaluation.caveats import (
    caveats,
    learned_from,
    omissions,
    unlearnt,
    untried,
    weaker_than_statistics,
)
from voicenym.evaluation.results import AttackFigures, Lesson, Measured


def attack(attacker, eer, verifier="neural", informed=True, learning=(), **more):
    figures = {"EER": Measured(eer, eer - 1.0, eer + 1.0, "%")}
    return AttackFigures(
        attacker, "", verifier, figures, "A", 9, 9, informed=informed, learning=learning, **more
    )


def test_who_knows_more_and_finds_less_than_trivial_statistics_is_weaker_than_statistics():
    attacks = [
        attack("ignorant", 10.0, informed=False),
        attack("lazy-informed", 40.0),
        attack(f"lazy-informed{SUFFIX}", 45.0),
        attack("key-holder", 45.0, holds_key=True),
        attack("ignorant", 20.0, "plain", informed=False),
        attack("lazy-informed", 35.0, "plain"),
    ]
    (note,) = weaker_than_statistics(attacks, "plain")
    assert note.startswith("neural as lazy-informed attacker")
    assert "20.0 % against 40.0 %" in note


def test_what_an_informed_one_finds_does_not_shame_the_ignorant():
    attacks = [
        attack("ignorant", 20.0, informed=False),
        attack("ignorant", 40.0, "plain", informed=False),
        attack("lazy-informed", 5.0, "plain"),
    ]
    assert weaker_than_statistics(attacks, "plain") == ()


def resources(system="vtln", **changed):
    """Of attackers who have all but a neural verifier to train."""
    usual = {
        "denoisers": ("mean",), "pool_recordings": 300, "pool_speakers": 30, "decoder": True,
        "training": AttackerTraining(Path(), 0.0),
    }  # fmt: skip
    return Resources(system, **{**usual, **changed})


def test_nobody_is_missed_where_all_attackers_can_run():
    assert untried(resources()) == ()


TRAINED = [f"semi-informed ({what} trained)" for what in ("i-vectors", "prosody")]
CHANNELS = [f"semi-informed ({what} trained)" for what in ("timing", "content", "words", "room")]
DECODING = [f"semi-informed ({what} trained)" for what in ("timing", "words")]
FUSED = "semi-informed (all channels fused)"


@pytest.mark.parametrize(
    ("changed", "why", "missed"),
    [
        ({"pool_recordings": 96}, "96 recordings, and 100", [*TRAINED, *CHANNELS, FUSED]),
        ({"pool_speakers": 7}, "of 7 speakers, and 8", [*CHANNELS, FUSED]),
        ({"decoder": False}, "pocketsphinx is not installed", DECODING),
        (
            {"pool_recordings": 0, "pool_speakers": 0},
            "there is no speech of other people (--pool)",
            ["semi-informed (back end)", *TRAINED, *CHANNELS, FUSED],
        ),
        ({"denoisers": ()}, "no de-noising filters", ["de-noising (median)"]),
        ({"training": None}, "no settings for a training", [*TRAINED, FUSED]),
    ],
)
def test_attackers_who_were_not_run_are_named_once_with_what_they_lack(changed, why, missed):
    given = resources(**changed)
    (note,) = untried(given)
    assert note.count(why) == 1
    assert all(note.count(name) == 1 for name in missed)
    assert note.endswith("each of them may find more, and figures are upper bounds")
    ran = {attacker.name for attacker in attackers(given)}
    everybody = {attacker.name for attacker in attackers(resources())}
    # "key search" is a part of "semi-informed (key search trained)"
    named = {name for name in everybody if re.search(rf"(?<!\(){re.escape(name)}", note)}
    assert not ran & named
    assert ran | named == everybody | ran


def test_a_lone_other_speaker_is_too_few_for_a_back_end():
    (note,) = untried(resources(pool_speakers=1))
    assert (
        "semi-informed (back end), since the speech of other people is of 1 speaker, and 2" in note
    )


def test_who_must_run_the_system_cannot_attack_its_files():
    (note,) = untried(resources(None))
    assert note.startswith("only files are known")
    files = resources(None, anonymized_enrolment=True, anonymized_pool=True, pool_recordings=8)
    assert "8 recordings, and 100 are needed (--anonymized-pool" in untried(files)[1]


def test_each_omission_says_that_figures_are_upper_bounds():
    ran = [attack("lazy-informed", 40.0)]
    for notes in (
        omissions(ran, resources()),
        omissions(ran, resources(pool_recordings=96)),
        omissions(ran, resources(None)),
        omissions(ran, resources(), ("lazy",)),
    ):
        assert notes
        assert all("figures are upper bounds" in note for note in notes)
    done = [Lesson(i, 10.0, eer) for i, eer in enumerate((40.0, 10.0, 10.0, 10.0))]
    assert omissions([attack("semi-informed", 10.0, learning=tuple(done))], resources()) == ()


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
    assert len(caveats(attacks, "plain")) == 1
    assert len(omissions(attacks, resources(None))) == 2


def test_the_amount_of_speech_that_attackers_learned_from_is_stated():
    taught = attack("semi-informed (back end)", 10.0, learned_from=1200)
    (note,) = learned_from([attack("lazy-informed", 40.0), taught])
    assert "learned from 1,200 recordings" in note
    assert learned_from([attack("lazy-informed", 40.0)]) == ()
    assert note in caveats([taught], "plain")
    assert note in caveats([taught], "plain", ("back end",))
