"""Attackers who run a system with settings of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from voicenym.apps.cli.evaluating.evaluate_plan import _attackers_systems
from voicenym.apps.cli.evaluating.evaluate_request import Request
from voicenym.errors import VoicenymError
from voicenym.evaluation.evaluation_plan import Plan
from voicenym.evaluation.targets import resources_of, targets_of
from voicenym.evaluation.trial_plans.trials import build
from voicenym.evaluation.trial_plans.voice_targets import drawn
from voicenym.pseudonym import Key

THEIRS = Key(bytes(32))


def asked(*texts):
    fields = {field: None for field in Request.__dataclass_fields__}
    return Request(**{**fields, "per": "speaker", "device": "cpu", "attacker_systems": list(texts)})


def test_attackers_run_their_settings_and_the_user_those_of_the_user(corpus):
    trials = build(corpus, enrolment=1, trials=1, same_sex=False)
    plan = Plan(
        "speech",
        trials,
        systems=(("mcadams", {"low": 0.7}), ("mcadams", {}), ("vtln", {})),
        attackers_systems={"mcadams": {"low": 0.6, "high": 0.9}},
    )
    found = [target.protection for target in targets_of(plan)]
    ran = [protection.with_key(THEIRS, "speaker").steps[0] for protection in found]
    assert [step.parameters for step in ran] == [(("high", 0.9), ("low", 0.6))] * 2 + [()]
    published = [protection.transform.steps[0] for protection in found]
    assert [step.parameters for step in published] == [(("low", 0.7),), (), ()]
    assert all(step.key == THEIRS for step in ran)
    guessed = [resources_of(plan, target).parameters for target in targets_of(plan)]
    assert guessed == [{"low": 0.6, "high": 0.9}] * 2 + [{}]


def test_the_report_says_what_attackers_run():
    found, said = _attackers_systems(asked("mcadams:low=0.6"), {"mcadams", "vtln"})
    assert found == {"mcadams": {"low": 0.6}}
    assert said == ", attackers run mcadams:low=0.6"
    assert _attackers_systems(asked(), {"mcadams"}) == ({}, "")


def test_target_voices_are_drawn_as_the_users_are():
    request = replace(asked("recast"), targets="same-sex")
    found, _ = _attackers_systems(request, {"recast"})
    assert found["recast"] == dict(drawn("recast", {}, "speaker", "same-sex").parameters)


def test_they_are_refused_with_vectors():
    with pytest.raises(VoicenymError, match="give --attacker-identity"):
        replace(asked("mcadams"), engine="local").check_vectors({})


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("vtln",), "vtln is no --system of this evaluation"),
        (("mcadams:low=0.6", "mcadams:low=0.7"), "mcadams is named twice"),
        (("mcadams:lower=0.6",), "lower"),
    ],
)
def test_systems_that_are_not_evaluated_are_refused(texts, message):
    with pytest.raises(VoicenymError, match=message):
        _attackers_systems(asked(*texts), {"mcadams"})
