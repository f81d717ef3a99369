"""The attackers by name: which run with which resources, and how a user selects them."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import voicenym.systems
from voicenym.attack.attacker_list import (
    ATTACKERS,
    PLACES,
    attackers,
    must_run_system,
    selected,
)
from voicenym.attack.attacker_resources import AttackerTraining, Resources
from voicenym.attack.attackers import Attacker
from voicenym.attack.former_names import FORMER, todays_name
from voicenym.attack.trained.two_branch_attacker import SemiInformedTwoBranch
from voicenym.errors import VoicenymError
from voicenym.registry import Registry

FILES_ALONE = ["ignorant", "de-noising (mean)", "key-holder"]
KNOWN_SYSTEM = [
    *FILES_ALONE,
    "key-holder (A3 of V-Cloak)",
    "lazy-informed",
    "key search",
    "nearest in target voice",
    "inversion",
]
SEARCHES = ["semi-informed (key search trained)"]
TRAINED = [
    "semi-informed (i-vectors trained)",
    "semi-informed (prosody trained)",
    "semi-informed (i-vectors and prosody trained)",
    "semi-informed (verifier trained)",
]
CHANNELS = [
    "semi-informed (timing trained)",
    "semi-informed (prosody and timing trained)",
    "semi-informed (content trained)",
    "semi-informed (words trained)",
    "semi-informed (room trained)",
    "semi-informed (all channels fused)",
    "semi-informed (channels and searches fused)",
]
"""Attackers of channels, which need more people; the last one must run the system, too."""


def names(found):
    return [attacker.name for attacker in found]


def resources(**changed):
    usual = {"system": "vtln", "denoisers": ("mean",), "keys": 2}
    return Resources(**{**usual, **changed})


def test_attackers_run_where_they_have_what_they_need(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "voicenym.recognition.sphinx_processes.segment_decoding.installed", lambda: True
    )
    assert names(attackers(resources(system=None))) == FILES_ALONE
    assert names(attackers(resources())) == KNOWN_SYSTEM
    assert names(attackers(resources(system="lsp"))) == KNOWN_SYSTEM[:-1], "nobody inverts lsp"
    people = {"pool_recordings": 40, "pool_speakers": 4}
    back_end = [*KNOWN_SYSTEM, "semi-informed (back end)"]
    assert names(attackers(resources(**people))) == back_end
    brief, long = AttackerTraining(tmp_path, 0.0), AttackerTraining(tmp_path, 60.0)
    assert names(attackers(resources(**people, training=brief))) == back_end
    assert names(attackers(resources(**people, training=long))) == [*back_end, TRAINED[-1]]
    people["pool_recordings"] = 100
    found = names(attackers(resources(**people, training=long)))
    assert sorted(found) == sorted([*back_end, *SEARCHES, *TRAINED])
    people["pool_speakers"] = 8
    everybody = names(attackers(resources(**people, training=long)))
    assert sorted(everybody) == sorted([*back_end, *SEARCHES, *TRAINED, *CHANNELS])
    files = attackers(resources(**people, training=long, system=None))
    assert names(files) == FILES_ALONE, "nobody trains on a system that is not known"
    enrolled = resources(**people, training=long, system=None, anonymized_enrolment=True)
    order = ["ignorant", "de-noising (mean)", "key-holder", "lazy-informed"]
    assert names(attackers(enrolled)) == order
    everything = dataclasses.replace(enrolled, anonymized_pool=True)
    found = [*order, "semi-informed (back end)", *TRAINED, *CHANNELS[:-1]]
    there = names(attackers(everything))
    assert sorted(there) == sorted(found), "those who search or invert must run the system"
    submission = dataclasses.replace(everything, published_enrolment=False)
    assert "key-holder" not in names(attackers(submission))
    assert set(found) - set(names(attackers(submission))) == {"key-holder"}
    bare = ["unprotected", "unprotected (per trial)"]
    assert names(attackers(Resources(), protected=False)) == bare


def test_attackers_who_must_run_the_system_are_known():
    found = must_run_system()
    assert {"key search", "inversion"} <= set(found)
    assert not {"ignorant", "lazy-informed", "semi-informed (back end)"} & set(found)
    assert not any("key-holder" in name for name in found)


def test_normalised_comparisons_are_an_option():
    people = {"pool_recordings": 40, "pool_speakers": 4}
    plain = attackers(resources(**people))
    both = attackers(resources(**people, normalise=True))
    assert names(both)[: len(plain)] == names(plain)
    assert set(names(both)[len(plain) :]) == {
        "ignorant + AS-norm", "de-noising (mean) + AS-norm", "key-holder + AS-norm",
        "lazy-informed + AS-norm", "semi-informed (back end) + AS-norm",
    }  # fmt: skip
    assert next(a for a in both if a.name == "key-holder + AS-norm").holds_key
    files = resources(
        **people, normalise=True, system=None, anonymized_enrolment=True, original_pool=False
    )
    assert not any("AS-norm" in name for name in names(attackers(files))), "no cohort for anybody"
    labels_alone = names(attackers(dataclasses.replace(files, anonymized_pool=True)))
    assert [name for name in labels_alone if "AS-norm" in name] == [
        "lazy-informed + AS-norm", "semi-informed (back end) + AS-norm",
    ]  # fmt: skip


@dataclass(frozen=True)
class Guessing(Attacker):
    """Scores at random."""

    name = "guessing"
    knows = "knows nothing; guesses"

    def scores(self, scenario, verifier, embedder):
        shape = (len(scenario.models), len(scenario.trials))
        return np.random.default_rng(0).standard_normal(shape)


def test_another_attacker_takes_a_class_and_a_line(monkeypatch):
    larger = Registry("attacker", {**PLACES, "guessing": Guessing}, base=Attacker)
    monkeypatch.setattr("voicenym.attack.attacker_list.ATTACKERS", larger)
    assert names(attackers(resources())) == [*KNOWN_SYSTEM, "guessing"]
    assert names(selected(attackers(resources()), ["guess"])) == ["guessing"]


def test_every_place_is_an_attacker_with_a_name_of_its_own():
    kinds = [ATTACKERS.get(name) for name in PLACES]
    assert len(set(kinds)) == len(kinds)
    assert all(issubclass(kind, Attacker) and kind.__doc__ for kind in kinds)
    with pytest.raises(VoicenymError, match="did you mean lazy-informed"):
        ATTACKERS.get("lazy-inform")


def test_attackers_are_selected_by_parts_of_todays_and_former_names(tmp_path):
    everybody = attackers(
        resources(pool_recordings=100, pool_speakers=4, training=AttackerTraining(tmp_path, 60.0))
    )
    assert selected(everybody, []) == everybody
    assert names(selected(everybody, ["Verifier trained", "lazy"])) == ["lazy-informed", TRAINED[3]]
    assert names(selected(everybody, ["i-vector"])) == [TRAINED[0], TRAINED[2]]
    assert names(selected(everybody, ["prosody"])) == TRAINED[1:3]
    assert names(selected(everybody, ["course"])) == TRAINED[1:3], "as in earlier releases"
    for none in (["nobody"], ["key-holder"]):
        for known in (None, resources()):
            with pytest.raises(VoicenymError, match=r"no attacker without the key is .*there are"):
                selected(everybody, none, known)


@pytest.mark.parametrize(
    ("name", "given", "needs"),
    [
        ("verifier trained", {}, r"--pool with 100 .* other people or more and --attacker-steps$"),
        ("i-vectors trained", {}, r"--pool with 100 recordings of \d+ other people or more$"),
        ("content", {"pool_recordings": 100, "pool_speakers": 2}, "--pool with 100 .* or more$"),
        ("verifier trained", {"pool_recordings": 100, "pool_speakers": 40}, "--attacker-steps$"),
        ("two-branch", {"pool_recordings": 100, "pool_speakers": 40}, "voicenym train two-branch"),
        ("content", {"system": None}, "--anonymized-enrolment, and --anonymized-pool with 100"),
    ],
)
def test_an_attacker_that_cannot_run_says_what_it_needs(tmp_path, name, given, needs):
    training = AttackerTraining(tmp_path, 0.0) if given.get("pool_recordings") else None
    some = resources(training=training, **given)
    with pytest.raises(VoicenymError, match=needs) as raised:
        selected(attackers(some), [name], some)
    assert "there are" not in str(raised.value)


def test_attackers_who_learn_from_other_people_say_so():
    kinds = {getattr(kind, "name", ""): kind for kind in map(ATTACKERS.get, ATTACKERS)}
    taught = {name for name, kind in kinds.items() if kind.learns}
    named = {name for name in kinds if name.startswith(("semi-informed", "asv-eval"))}
    assert taught == named
    assert len(taught) > 8


def test_former_names_are_read_as_todays():
    for before, today in FORMER.items():
        assert todays_name(before) == today
        assert todays_name(today) == today
    assert todays_name("lazy-informed, Resemblyzer") == "lazy-informed, Resemblyzer"


def test_figures_of_the_systems_are_of_attackers_that_there_are(tmp_path):
    everything = resources(
        denoisers=("mean", "median", "band-pass", "quantize", "squeeze", "mp3"),
        pool_recordings=100, pool_speakers=8, training=AttackerTraining(tmp_path, 60.0),
    )  # fmt: skip
    known = names([*attackers(everything), *attackers(everything, protected=False)])
    known.append(SemiInformedTwoBranch.name)  # runs where a verifier was pre-trained
    file = Path(voicenym.systems.__file__).with_name("figures.json")
    found = {
        todays_name(row["condition"])
        for rows in json.loads(file.read_text("utf-8")).values()
        for row in rows
        if row["metric"] == "EER"
    }
    assert found
    for condition in found:
        assert any(condition.startswith(f"{name}, ") for name in known), condition
