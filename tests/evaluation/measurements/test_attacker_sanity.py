"""Sanity check of attackers: a broken attacker is detected, and its figure is no evidence."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from voicenym import Key
from voicenym.attack.attackers import (
    Attacker,
    Denoising,
    Ignorant,
    KeyHolder,
    LazyInformed,
)
from voicenym.attack.controls import COPY, HALF, ORIGINAL
from voicenym.attack.scenario import Protection, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.errors import CorpusError
from voicenym.evaluation import card_figures, card_table, results_file
from voicenym.evaluation.evaluation_plan import Plan
from voicenym.evaluation.measurements import attacker_sanity
from voicenym.evaluation.measurements.finished_parts import FinishedParts
from voicenym.evaluation.measurements.protection import Attacked, attack
from voicenym.evaluation.reports import report_tables
from voicenym.evaluation.reports.verdict import identified
from voicenym.evaluation.results import (
    AttackFigures,
    Control,
    Evaluation,
    Measured,
    SystemResults,
    by_strength,
)
from voicenym.evaluation.trial_plans.trials import build
from voicenym.evaluation.trial_plans.voice_targets import Drawn, drawn
from voicenym.verification.verifier import Verifier

USER = Key(bytes(32))


@dataclasses.dataclass(frozen=True)
class Guessing(Attacker):
    """A broken attacker: it scores at random."""

    name = "guessing"
    knows = "guesses"

    def scores(self, scenario, verifier, embedder):
        return np.random.default_rng(0).normal(size=(len(scenario.models), len(scenario.trials)))


class Bands(Verifier):
    """The level of 40 bands."""

    name, version = "bands", "1"

    def embed(self, recordings):
        power = [np.abs(np.fft.rfft(samples)) ** 2 for samples in recordings]
        levels = [[np.log(b.mean() + 1e-9) for b in np.array_split(p, 40)] for p in power]
        return np.array([np.array(x) - np.mean(x) for x in levels], dtype=np.float32)


@pytest.fixture(scope="module")
def attacked(corpus):
    trials = build(corpus, enrolment=2, trials=2, same_sex=False, seed=0)
    scenario = Scenario(
        trials.models, trials.recordings, Protection.by("mcadams", USER), Key(bytes(range(32)))
    )
    attackers = [Ignorant(), LazyInformed(), KeyHolder(), Guessing()]
    with Embedder() as embedder:
        found = attack(attackers, scenario, trials, Bands(), embedder, replicates=100)
        return {
            one.figures.attacker: one.figures
            for one in attacker_sanity.checked(
                found, attackers, scenario, trials, [Bands()], embedder, USER
            )
        }


def test_an_attacker_that_works_finds_people_on_the_controls(attacked):
    for name in ("ignorant", "lazy-informed"):
        figures = {one.name: one for one in attacked[name].controls}
        assert list(figures) == [ORIGINAL, COPY, HALF]
        assert figures[ORIGINAL].passed
        assert figures[COPY].passed
    assert not attacked["ignorant"].broken
    assert attacked["key-holder"].controls == ()


def test_a_broken_attacker_is_no_evidence(attacked):
    guessing = attacked["guessing"]
    assert [one.name for one in guessing.controls] == [ORIGINAL, COPY]
    assert not any(one.passed for one in guessing.controls)
    assert guessing.broken
    notes = attacker_sanity.notes(list(attacked.values()), Drawn())
    assert (
        "guessing, bands, is broken, not defeated: on original speech and copied speech it "
        "finds nobody either; its figure is no evidence"
    ) in notes
    table = report_tables.attacks("mcadams", tuple(attacked.values()))
    broken = sum(one.broken for one in attacked.values())
    assert table.count(report_tables.NO_EVIDENCE) == broken
    assert "on original speech" in table


def figures(name: str, value: float, high: float, *controls: Control) -> AttackFigures:
    eer = {"EER": Measured(value, value - 5.0, high, "%")}
    return AttackFigures(name, "", "v", eer, "A", 10, 90, controls=controls)


def control(value: float, high: float) -> Control:
    return Control(ORIGINAL, Measured(value, value - 5.0, high, "%"))


def test_who_finds_people_on_the_system_is_believed_whatever_the_controls_say():
    assert not figures("a", 30.0, 36.0, control(49.0, 55.0)).broken
    assert figures("a", 47.0, 53.0, control(49.0, 55.0)).broken
    assert not figures("a", 47.0, 53.0, control(5.0, 9.0)).broken, "defeated"
    assert not figures("a", 47.0, 53.0).broken, "not checked"


def at_half(names, found_by):
    """Whether a failure at half strength counts, for attackers with synthetic rates."""
    rates = {(name, "v"): {HALF: Measured(50.0, 44.0, 56.0, "%")} for name in names}
    rates |= {(name, "v"): {HALF: Measured(20.0, 14.0, 26.0, "%")} for name in found_by}
    knows = {name: name.startswith("informed") for name in [*names, *found_by]}
    attack = dataclasses.replace(figures(names[0], 50.0, 56.0), informed=knows[names[0]])
    (judged,) = attacker_sanity._judged(attack, rates, knows)
    return judged.conclusive


def test_half_a_strong_system_breaks_nobody_where_nobody_who_knows_no_more_finds_people():
    assert not at_half(["ignorant", "informed"], []), "half of the system is enough against all"
    assert not at_half(["ignorant"], ["informed"]), "who knows more has another way"
    assert at_half(["ignorant"], ["ignorant 2"]), "another verifier finds them"
    assert at_half(["informed"], ["ignorant"])
    assert at_half(["informed"], ["informed 2"])
    rates = {("a", "v"): {ORIGINAL: Measured(50.0, 44.0, 56.0, "%")}}
    (judged,) = attacker_sanity._judged(figures("a", 50.0, 56.0), rates, {"a": True})
    assert judged.conclusive, "originals hold all of the voice"


def test_a_failure_that_decides_nothing_is_named_and_breaks_nobody():
    failure = dataclasses.replace(control(49.0, 55.0), name=HALF, conclusive=False)
    defeated = figures("a", 48.0, 54.0, control(3.0, 6.0), failure)
    assert not defeated.broken
    (note,) = [n for n in attacker_sanity.notes([defeated], Drawn()) if "half" in n]
    assert "decides nothing" in note
    broken = figures("a", 48.0, 54.0, dataclasses.replace(failure, conclusive=True))
    assert broken.broken
    assert "on half strength it finds nobody" in attacker_sanity.notes([broken], Drawn())[0]


@dataclasses.dataclass(frozen=True)
class Counted(Attacker):
    """Scores one round, and cannot be run on copies."""

    name = "counted"
    knows = "counts"

    def scores(self, scenario, verifier, embedder):
        steps = scenario.protection.transform.steps
        ASKED.append(steps)
        if steps:
            raise CorpusError("nothing can be measured")
        return np.random.default_rng(0).normal(size=(len(scenario.models), len(scenario.trials)))


ASKED: list[tuple] = []


def test_finished_controls_are_kept_and_those_that_cannot_be_run_are_named(corpus, tmp_path):
    trials = build(corpus, enrolment=1, trials=1, same_sex=False, seed=0)
    scenario = Scenario(trials.models, trials.recordings, Protection.by("mcadams", USER), USER)
    attack = figures("counted", 49.0, 55.0)
    attack = dataclasses.replace(attack, verifier="bands")
    found, lines = [Attacked(attack, np.zeros(1), 0.0)], []
    runs = []
    for system in ("mcadams", "mcadams", "vtln"):
        parts = FinishedParts(tmp_path / "a.sqlite", Plan("speech", trials), lines.append)
        with Embedder() as embedder:
            (one,) = attacker_sanity.checked(
                found, [Counted()], scenario, trials, [Bands()], embedder, USER,
                parts=parts, on=system,
            )  # fmt: skip
        runs.append(one.figures)
        parts.close()
    assert len(ASKED) == 2, "original and copied speech once, for all systems"
    assert runs[0] == runs[1] == runs[2]
    assert [one.name for one in runs[0].controls] == [ORIGINAL]
    assert runs[0].unchecked == {COPY: "nothing can be measured"}
    assert f"{ORIGINAL}: counted, bands: from the run that was interrupted" in lines
    notes = attacker_sanity.notes([runs[0]], Drawn())
    assert any("could not be checked on copied speech: nothing can" in note for note in notes)
    assert f"{COPY}: not run" in report_tables.attacks("mcadams", (runs[0],))


def test_a_variant_has_the_comparison_of_originals_that_it_varies_as_its_control(corpus):
    """A de-noising attacker whose verifier recognises nobody is broken like the ignorant one."""
    trials = build(corpus, enrolment=1, trials=1, same_sex=False, seed=0)
    scenario = Scenario(trials.models, trials.recordings, Protection.by("mcadams", USER), USER)
    filtering, holder = Denoising("mean"), KeyHolder()
    found = [
        Attacked(figures(one.name, 50.0, 60.0), np.zeros(1), 0.0) for one in (filtering, holder)
    ]
    found[1] = dataclasses.replace(
        found[1], figures=dataclasses.replace(found[1].figures, holds_key=True)
    )
    for deaf in (False, True):
        rate = Measured(49.0, 40.0, 58.0, "%") if deaf else Measured(4.0, 1.0, 9.0, "%")
        originals = {("unprotected", "v"): rate, ("unprotected", "other"): Measured(50.0)}
        with Embedder() as embedder:
            one, key = attacker_sanity.checked(
                found, [filtering, holder], scenario, trials, [], embedder, USER,
                originals=originals,
            )  # fmt: skip
        assert one.figures.controls == (Control(ORIGINAL, rate),)
        assert one.figures.broken == deaf
        assert one.figures.evident != deaf
        assert key.figures.controls == (), "nothing protects from the key"


def test_who_finds_nobody_without_controls_is_named():
    (note,) = attacker_sanity.notes([figures("a", 42.0, 51.0), figures("b", 30.0, 36.0)], Drawn())
    assert note.startswith("a, v did not run on controls (--no-sanity) and finds nobody here")
    assert "its figure is no evidence" in note


def test_a_broken_attacker_is_not_the_strongest():
    broken = figures("broken", 46.0, 52.0, control(49.0, 55.0))
    sound = figures("sound", 48.0, 54.0, control(3.0, 6.0))
    system = SystemResults("x", "", {}, "speaker", (broken, sound))
    assert system.strongest is sound


def test_tables_and_cards_begin_with_the_strongest_sound_attacker_without_the_key(tmp_path):
    broken = figures("broken", 38.0, 52.0, control(49.0, 55.0))
    sound, weaker = figures("sound", 40.0, 45.0), figures("weaker", 42.0, 47.0)
    lost = dataclasses.replace(figures("key-holder", 2.0, 3.0), holds_key=True)
    attacks = (weaker, lost, broken, sound)
    names = [one.attacker for one in by_strength(attacks)]
    assert names == ["sound", "weaker", "broken", "key-holder"]
    table = report_tables.attacks("vtln", attacks)
    assert sorted(names, key=table.index) == names

    def report(*attacks):
        system = SystemResults("vtln", "", {}, "speaker", attacks)
        return Evaluation("0", "2026-11-21", "drawn", 8, 9, (sound,), (system,))

    file = tmp_path / "figures.json"
    card_figures.write(report(*attacks), file)
    rows = json.loads(file.read_text())["vtln"]
    assert [row["condition"] for row in rows] == ["sound, v", "weaker, v", "key-holder, v"]
    card_figures.write(report(weaker, lost), file)
    card_figures.write(report(broken, sound), file, add=True)
    assert json.loads(file.read_text())["vtln"] == rows
    assert "`vtln` | 40.0 (35.0–45.0) | sound |" in card_table.markdown(
        json.loads(file.read_text()), "drawn, 8 speakers"
    )


@pytest.mark.parametrize(("earlier", "kept"), [((38.0, 52.0), []), ((20.0, 30.0), [20.0])])
def test_a_card_loses_a_figure_that_turned_out_to_be_no_evidence(earlier, kept, tmp_path):
    """A figure below chance stays, since it is evidence by itself."""
    file = tmp_path / "figures.json"
    broken = figures("one", 48.0, 52.0, control(49.0, 55.0))
    for add, found in ((False, figures("one", *earlier)), (True, broken)):
        system = SystemResults("vtln", "", {}, "speaker", (found,), {"RTF": Measured(0.1)})
        report = Evaluation("0", "2026-11-21", "drawn", 8, 9, (), (system,))
        card_figures.write(report, file, add=add)
    cards = json.loads(file.read_text())
    assert [row["value"] for row in cards["vtln"]] == [*kept, 0.1]
    table = card_table.markdown(cards, "drawn, 8 speakers")
    assert ("| `vtln` | not measured |  |" in table) == (not kept)


def test_chance_is_questioned_and_controls_are_saved(tmp_path):
    sound = figures("sound", 48.0, 54.0, control(3.0, 6.0))
    (note,) = attacker_sanity.notes([sound], drawn("recast", {}, "speaker"))
    assert "2508.09803" in note
    assert "targets here: random" in note
    assert "--targets same-sex and --targets one-for-all" in note
    (note,) = attacker_sanity.notes([sound], drawn("mcadams", {}, "everybody"))
    assert "targets here: one-for-all" in note
    assert note.endswith("other targets as well (--targets random)")
    assert attacker_sanity.notes([figures("a", 20.0, 25.0)], Drawn()) == ()
    system = SystemResults("x", "", {}, "speaker", (sound,), targets="random")
    assert "Target voices: random." in identified(system)
    results_file.save(Evaluation("1", "2026-01-01", "data", 3, 6, (), (system,)), tmp_path)
    assert results_file.load(tmp_path).systems[0].attacks[0].controls == sound.controls
    assert results_file.load(tmp_path).systems[0].targets == "random"
