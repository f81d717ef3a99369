"""Target voices: at random, of the speaker's sex, or one for all; attackers draw theirs alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from voicenym import Key
from voicenym.anonymizer import load
from voicenym.apps.cli.commands.evaluate import defaults
from voicenym.apps.cli.evaluating.evaluate_request import Request
from voicenym.attack import controls
from voicenym.attack.scenario import Protection
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import LOWEST_OF_WOMEN, Anonymize
from voicenym.dsp.pitch.online import track
from voicenym.errors import VoicenymError
from voicenym.evaluation.evaluation_plan import Plan
from voicenym.evaluation.targets import targets_of
from voicenym.evaluation.trial_plans.trials import build
from voicenym.evaluation.trial_plans.voice_targets import drawn

USER, OWN = Key(bytes(32)), Key(bytes(range(32)))
PEOPLE = [Recording(f"u{n}", f"s{n}", Path("none"), "fm"[n % 2]) for n in range(24)]
NESTED = "half:of=(distinct:pool=P,angle=5,of=(selection:pool=P,world=5,region=5))"


def pitches(step: Anonymize) -> list[float]:
    system = load(step.system)
    return [system.median_f0(step.pseudonym(who)) for who in PEOPLE]


def are_of_own_sex(step: Anonymize) -> list[bool]:
    women = [f0 >= LOWEST_OF_WOMEN for f0 in pitches(step)]
    return [woman == (who.sex == "f") for woman, who in zip(women, PEOPLE, strict=True)]


@pytest.mark.parametrize("system", ["recast", "formant", "base"])
@pytest.mark.parametrize("per", ["speaker", "utterance"])
def test_same_sex_targets_are_of_the_speakers_sex_for_users_and_attackers(system, per):
    protection = Protection.by(system, USER, per, same_sex=True)
    attacker = protection.with_key(OWN, per).steps[0]
    half = controls.halved(protection, USER)
    assert all(are_of_own_sex(protection.transform.steps[0]))
    assert all(are_of_own_sex(attacker))
    assert all(are_of_own_sex(half.with_key(OWN, per).steps[0].protected))
    assert pitches(attacker) != pitches(protection.transform.steps[0])
    assert 4 < sum(are_of_own_sex(Protection.by(system, USER, per).transform.steps[0])) < 20


def test_a_voice_that_is_of_that_sex_anyway_stays_the_same():
    plain = Anonymize("recast", USER)
    own = replace(plain, same_sex=True)
    same = [plain.identity(who) == own.identity(who) for who in PEOPLE]
    assert same == are_of_own_sex(plain)
    trial = next(who for who, kept in zip(PEOPLE, same, strict=True) if not kept)
    enrolled = Protection.by("recast", USER, same_sex=True).with_voice_of(trial).steps[0]
    assert enrolled.identity(PEOPLE[0]) == own.identity(trial)


def test_the_drawn_pitch_is_that_of_the_output(sample):
    recording = Recording("sample", "s", sample)
    sound = recording.samples()[:24_000]
    for system, key in (("recast", USER), ("base", OWN)):
        f0 = track(Anonymize(system, key)(sound, recording), 16_000)
        expected = load(system).median_f0(key.pseudonym("s"))
        assert np.median(f0[f0 > 0]) == pytest.approx(expected, rel=0.15), system


@pytest.mark.parametrize(
    ("system", "targets", "used", "parameters"),
    [
        ("b1b", "", "same-sex", {}),
        ("b1b", "same-sex", "same-sex", {}),
        ("b1b", "random", "random", {"sex": "any"}),
        ("ssl-gmm", "one-for-all", "one-for-all", {"sex": "any"}),
        ("mcadams", "", "random", {}),
        ("mcadams", "one-for-all", "one-for-all", {}),
        ("recast", "same-sex", "same-sex", {}),
        ("musa:voice=empty", "", "one-for-all", {"voice": "empty"}),
        ("musa:identity=blank", "", "one-for-all", {"identity": "blank"}),
        ("ssl-loh:turns=model", "", "one-for-all", {"turns": "model"}),
        ("ssl-gmm:identity=copy", "", "one-for-all", {"identity": "copy"}),
        ("base:identity=copy", "", "one-for-all", {"identity": "copy"}),
    ],
)
def test_pools_choose_by_sex_and_pseudonyms_by_draws(system, targets, used, parameters):
    name, _, setting = system.partition(":")
    given = dict([setting.split("=")]) if setting else {}
    found = drawn(name, given, "speaker", targets)
    assert (found.used, dict(found.parameters)) == (used, parameters)
    assert found.same_sex == ((system, targets) == ("recast", "same-sex"))
    assert found.per == ("everybody" if targets == "one-for-all" else "speaker")
    assert used not in found.others


def test_a_method_within_methods_gets_the_rule():
    changed = drawn("ssl-select", {"identity": NESTED}, "speaker", "random")
    inner = "(selection:pool=P,world=5,region=5,sex=any)"
    assert changed.parameters["identity"] == f"half:of=(distinct:pool=P,angle=5,of={inner})"
    assert drawn("ssl-select", {"identity": NESTED}, "speaker").used == "same-sex"


def test_a_method_with_the_pool_of_the_weights_draws_as_one_with_a_named_pool():
    changed = drawn("ssl-select", {"identity": "selection"}, "speaker", "random")
    assert changed.parameters["identity"] == "selection:sex=any"
    assert drawn("ssl-select", {"identity": "selection"}, "speaker").used == "same-sex"


@pytest.mark.parametrize(
    ("name", "parameters", "targets", "why"),
    [
        ("mcadams", {}, "same-sex", "mcadams cannot draw them; it can draw random, one-for-all"),
        ("vcloak", {"untargeted": True}, "random", "one voice"),
        ("ssl-roh", {"turns": "model", "radius": "kept"}, "random", "ssl-roh cannot"),
        ("base", {"identity": "lookup:pool=P"}, "same-sex", "base cannot"),
    ],
)
def test_a_system_that_cannot_draw_them_is_named(name, parameters, targets, why):
    with pytest.raises(VoicenymError, match=why):
        drawn(name, parameters, "speaker", targets)


def test_targets_are_a_setting_of_the_plan(corpus):
    trials = build(corpus, enrolment=1, trials=1, same_sex=False)
    plan = Plan("speech", trials, systems=(("recast", {}),), targets="same-sex")
    unknown = replace(plan, pool=(replace(corpus[0], sex=""),))
    with pytest.raises(VoicenymError, match=f"the sex of {corpus[0].speaker} is unknown"):
        targets_of(unknown)
    (target,) = targets_of(replace(plan, targets="one-for-all"))
    assert (target.protection.per, target.voices.used) == ("everybody", "one-for-all")
    (target,) = targets_of(plan)
    assert target.protection.same_sex
    assert (target.name, target.voices.used) == ("recast", "same-sex")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"targets": "opposite"}, "random, same-sex, one-for-all, not 'opposite'"),
        ({"targets": "random", "system": []}, "of systems that run here"),
        ({"targets": "same-sex", "per": "everybody"}, "one voice for all, not same-sex"),
        ({"targets": "one-for-all", "per": "utterance"}, "exclude each other"),
        ({"targets": "one-for-all"}, ""),
        ({"targets": None, "per": "everybody"}, ""),
    ],
)
def test_targets_that_other_options_exclude_are_refused(options, message, tmp_path):
    usual = {name: defaults().get(name) for name in Request.__dataclass_fields__}
    given = {"corpus": tmp_path, "output": tmp_path, "system": ["recast"]}
    request = Request(**{**usual, **given, **options})
    if message:
        with pytest.raises(VoicenymError, match=message):
            request.check()
    else:
        request.check()
    if options["targets"]:
        with pytest.raises(VoicenymError, match="--identity"):
            request.check_vectors({})
