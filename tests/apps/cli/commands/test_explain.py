"""Steps of protection: earned by figures alone, and explained."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from typer.testing import CliRunner

from voicenym.anonymizer import SYSTEMS, Figure, declarations, load
from voicenym.apps.cli import app
from voicenym.apps.cli.measured_systems import measured, protection_steps
from voicenym.errors import UnknownSystemError
from voicenym.resynthesis.pipeline.language_check import PASSAGE_SECONDS


def figure(metric, value, condition="anonymized", low=None, high=None):
    return Figure(metric, condition, value, low, high, "%", "data", "2026-01-01")


def card(name, ignorant=None, strongest=None, words=50.0, needs="no weights", holder=None):
    rates = {
        "ignorant, a": ignorant,
        "semi-informed (trained), a": strongest,
        "key-holder, a": holder,
    }
    figures = [figure("EER", v, c) for c, v in rates.items() if v is not None]
    if words is not None:
        figures.append(figure("WER", words))
    return SimpleNamespace(name=name, needs=needs, figures=tuple(figures), figures_without=())


def test_the_ladder_rises():
    for lower, higher in zip(protection_steps.LADDER, protection_steps.LADDER[1:], strict=False):
        assert higher.ignorant >= lower.ignorant
        assert higher.strongest > lower.strongest


def test_a_step_is_earned_by_the_strongest_attacker():
    weak, strong = card("weak", 48.0, 4.0), card("strong", 48.0, 41.0)
    assert protection_steps.step_of(weak).name == "listener"
    assert protection_steps.step_of(strong).name == "words"
    assert protection_steps.step_of(card("machine", 41.0, 20.0)).name == "machine"
    assert protection_steps.step_of(card("known", 12.0, 45.0)) is None


def test_a_step_is_earned_by_the_lower_end_of_the_interval():
    for low, name in ((26.4, "machine"), (30.0, "expert")):
        attacked = figure("EER", 30.7, "semi-informed (fused), a", low, 35.3)
        figures = (figure("EER", 45.0, "ignorant, a"), attacked)
        one = SimpleNamespace(name="a", needs="", figures=figures, figures_without=())
        assert protection_steps.step_of(one).name == name


def test_what_was_not_measured_is_not_earned():
    assert protection_steps.step_of(card("nothing", words=None)) is None
    assert protection_steps.step_of(card("half", strongest=49.0)) is None  # nobody ignorant ran
    only = card("ignorant alone", ignorant=44.0)  # he is the strongest that ran
    assert protection_steps.step_of(only).name == "listener"


def test_a_key_holder_takes_no_step_away():
    assert protection_steps.step_of(card("linked", 48.0, 42.0, holder=1.0)).name == "words"


def test_the_fewest_lost_words_are_chosen_among_those_that_speak_here():
    some = [
        card("a", 45.0, 31.0, 40.0),
        card("b", 45.0, 45.0, 35.0),
        card("c", 45.0, 45.0, 20.0, needs="your own weights"),
        card("d", 31.0, 2.0, 10.0),
    ]
    assert protection_steps.chosen(some, "expert").name == "b"
    assert protection_steps.chosen(some, "listener").name == "d"
    assert [
        one.name for one in protection_steps.suited(some, protection_steps.step("machine"))
    ] == ["b", "a"]


def test_a_step_that_nobody_earns_is_refused_with_the_next_lower_one():
    with pytest.raises(UnknownSystemError, match="choose machine"):
        protection_steps.chosen([card("a", 45.0, 16.0)], "words")
    with pytest.raises(UnknownSystemError, match="there are: listener, machine, expert, words"):
        protection_steps.chosen([], "total")


def test_the_cards_of_this_release():
    cards = [found.card for found in declarations().values()]
    for step in protection_steps.LADDER:
        for one in protection_steps.suited(cards, step):
            assert measured.strongest(one).low >= step.strongest


def run(*arguments):
    done = CliRunner().invoke(app, ["explain", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_each_step_of_protection_is_explained_with_what_it_stops():
    text = run()
    for step in protection_steps.LADDER:
        assert f"{step.name}: stops" in text
    assert "No listeners were asked" in " ".join(text.split())
    records = json.loads(run("--json"))
    assert [record["protection"] for record in records] == [s.name for s in protection_steps.LADDER]
    for record in records:
        if record["system"] is None:
            assert "not offered" in text
        else:
            assert record["EER %"] >= record["least EER %, strongest"]


def test_what_happens_to_other_languages_is_told():
    """Also that short passages are lost without a warning, as the check is made."""
    shortest = f"{PASSAGE_SECONDS:g} s of speech"
    told = [r for r in json.loads(run("--json")) if r.get("languages")]
    assert "word-codes" in {record["system"] for record in told}
    for record in told:
        assert shortest in record["languages"]
        assert record["languages"] in " ".join(run().split())
    refusing = [name for name in SYSTEMS if load(name).may_refuse]
    assert {"word-codes", "ssl-select"} <= set(refusing)
    for name in refusing:
        assert any(shortest in text for text in load(name).card.fails), name
    page = (Path(__file__).parents[4] / "docs/systems/word-codes.md").read_text("utf-8")
    assert shortest in page


def test_a_step_is_replaced_by_nothing(monkeypatch):
    hard = replace(protection_steps.LADDER[0], strongest=60.0)
    monkeypatch.setattr(protection_steps, "LADDER", (hard,))
    assert "not offered" in run()


def test_the_documentation_has_the_thresholds():
    page = (Path(__file__).parents[4] / "docs" / "systems" / "index.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| (\d+) \| (\d+) \|$", page, re.M)
    assert rows == [
        (s.name, f"{s.ignorant:g}", f"{s.strongest:g}") for s in protection_steps.LADDER
    ]


def test_a_step_chooses_the_system_and_excludes_another(tmp_path):
    from voicenym import Audio, write

    source = tmp_path / "a.wav"
    time = torch.arange(16_000) / 16_000
    write(source, Audio(0.1 * torch.sin(2 * torch.pi * 200 * time) * (time % 0.4 < 0.3), 16_000))

    def anonymized(*arguments):
        place = str(tmp_path / "out.wav")
        given = ["anonymize", str(source), "-o", place, "--overwrite", *arguments]
        return CliRunner().invoke(app, given)

    done = anonymized("--protection", "listener")
    cards = [found.card for found in declarations().values()]
    chosen = protection_steps.chosen(cards, "listener")
    earned = protection_steps.step_of(chosen)  # the step or a higher one
    assert done.exit_code == 0, done.output
    assert f"--protection listener: {chosen.name}" in done.output
    assert f"step of protection: {earned.name}, which stops {earned.stops}" in done.output
    assert "default settings" not in done.output
    other = anonymized("--system", "mcadams", "--set", "low=0.8")
    assert "step of protection of the default settings: " in other.output
    assert "figures are of the default settings of mcadams, not of low=0.8" in other.output
    both = anonymized("--protection", "listener", "--system", "vtln")
    assert "leave out --system" in str(both.exception)
    unknown = anonymized("--protection", "total")
    assert "there are: listener, machine, expert, words" in str(unknown.exception)
