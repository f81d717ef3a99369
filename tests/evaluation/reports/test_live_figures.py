"""Figures of live streams beside those of whole recordings: stored, tabled, shown."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

import voicenym.systems
from voicenym.anonymizer import Card, Declaration, available, declaration, system_class
from voicenym.anonymizer.card import live_form
from voicenym.apps.cli.measured_systems import measured
from voicenym.errors import VoicenymError
from voicenym.evaluation import card_figures, card_table
from voicenym.evaluation.reports import live_figures
from voicenym.metrics.metric import Measured


def row(attacker, value, metric="EER"):
    return {
        "metric": metric, "condition": f"{attacker}, a verifier", "value": value,
        "low": value - 1.0, "high": value + 1.0, "unit": "%", "data": "some data, 9 speakers",
        "date": "2026-11-25",
    }  # fmt: skip


CARDS = {
    "original": [row("unprotected", 1.0)],
    "recast": [row("fused", 2.0), row("key search", 5.0), row("ignorant", 30.0)],
    live_form("recast"): [
        row("ignorant", 28.0), row("key search", 4.0), row("key-holder", 0.1),
        row("anonymized", 0.5, "RTF"),
    ],
    "mcadams": [row("key search", 3.0)],
    live_form("mcadams"): [row("key search", 3.5)],
    "base": [row("fused", 14.0)],
}  # fmt: skip


def test_the_table_compares_the_same_attackers_and_says_how_many_ran():
    lines = live_figures.markdown(CARDS).splitlines()
    assert lines[2:4] == [
        "| `recast` | 4.0 (3.0–5.0) | key search | 2 | 5.0 (4.0–6.0) | 2.0 (1.0–3.0) | fused | 3 |",
        "| `mcadams` | 3.5 (2.5–4.5) | key search | 1 | 3.0 (2.0–4.0) | 3.0 (2.0–4.0) | "
        "key search | 1 |",
    ]
    assert "some data, 9 speakers; live 2026-11-25" in lines[-1]
    assert not any("base" in line for line in lines)


def test_the_table_of_whole_recordings_has_no_live_form():
    text = card_table.markdown(CARDS, "some data, 9 speakers")
    assert "live" not in text
    assert "| `recast` | 2.0" in text


def declared(monkeypatch, name, running):
    card = Card(name, "t", "p", 2026, (), "bundled", "nobody", (), ("always",))
    of = {key: tuple(map(figure, rows)) for key, rows in CARDS.items()}
    monkeypatch.setattr("voicenym.anonymizer.card._figures", lambda package: of)
    return Declaration(card, (1,), "signal", True, running)


def figure(fields):
    from voicenym.anonymizer import Figure

    return Figure(**fields)


def test_what_is_said_names_missing_attackers_and_the_harsher_figure(monkeypatch):
    said = measured.live_protection(declared(monkeypatch, "recast", True))
    assert said == [
        "live: EER 4.0 [3.0, 5.0] %, key search, the strongest of 2 attackers that ran; whole "
        "recordings: 5.0 [4.0, 6.0] % by these, 2.0 [1.0, 3.0] % by the strongest of 3 (fused)",
        "attackers that did not run on the live stream may find more; the first seconds are "
        "protected least",
    ]
    said = measured.live_protection(declared(monkeypatch, "base", True))
    assert said == ["live: not measured; a stream protects less than a whole recording"]
    said = measured.live_protection(declared(monkeypatch, "mcadams", False))
    assert said[-1].endswith("so that all its figures hold")
    assert measured.live_protection(declaration("formant")) == []


def test_a_stream_without_running_averages_is_the_recording():
    """What is said of such systems; a law of all systems compares stream and recording."""
    for name in available():
        cls = system_class(name)
        if cls.running_averages:
            assert cls.streams
    assert {n for n in available() if system_class(n).running_averages} == {
        "base", "musa", "recast", "word-codes",
    }  # fmt: skip


def test_the_page_shows_the_figures_of_the_package(root):
    file = Path(next(iter(voicenym.systems.__path__))) / "figures.json"
    table = live_figures.markdown(json.loads(file.read_text("utf-8")))
    text = (root / "docs" / "live.md").read_text("utf-8")
    assert f"{live_figures.BEGIN}\n{table}\n{live_figures.END}" in text


def test_a_live_report_leaves_originals_and_whole_recordings(found_live, tmp_path):
    file, page = tmp_path / "figures.json", tmp_path / "live.md"
    file.write_text(json.dumps({"original": CARDS["original"], "mcadams": CARDS["mcadams"]}))
    card_figures.write(found_live, file)
    cards = json.loads(file.read_text())
    assert cards["original"] == CARDS["original"]
    assert cards["mcadams"] == CARDS["mcadams"]
    assert cards[live_form("mcadams")][0]["metric"] == "EER"
    page.write_text(f"a\n{live_figures.BEGIN}\n{live_figures.END}\nb\n")
    card_table.write_readme(page, found_live, file)
    assert "| `mcadams` |" in page.read_text()
    (system,) = found_live.systems
    other = dataclasses.replace(system, name="mcadams:live=true,low=0.8")
    changed = dataclasses.replace(found_live, systems=(other,))
    with pytest.raises(VoicenymError, match="default settings and bundled weights only"):
        card_figures.write(changed, file)


def test_words_of_a_live_report_are_put_on_the_live_card_alone(found_live, tmp_path):
    (system,) = found_live.systems
    measured = Measured(61.0, 50.0, 70.0, "%")
    report = dataclasses.replace(
        found_live,
        systems=(dataclasses.replace(system, utility={"WER": measured}),),
        recognisers={"words": "whisper-tiny.en"},
    )
    file = tmp_path / "figures.json"
    file.write_text(json.dumps({**CARDS, "original": CARDS["original"]}))
    card_figures.write_words(report, file)
    cards = json.loads(file.read_text())
    name = live_form("mcadams")
    assert cards[name][: len(CARDS[name])] == CARDS[name]
    assert [(r["metric"], r["value"], r["condition"]) for r in cards[name][len(CARDS[name]) :]] == [
        ("WER", 61.0, "anonymized, whisper-tiny.en")
    ]
    assert {n: c for n, c in cards.items() if n != name} == {
        n: c for n, c in CARDS.items() if n != name
    }


@pytest.fixture
def found_live(found):
    """A report of the live form of mcadams."""
    evaluation, _ = found
    system = dataclasses.replace(
        evaluation.systems[0], name=live_form("mcadams"), parameters={"live": True}
    )  # fmt: skip
    return dataclasses.replace(evaluation, systems=(system,))


def test_the_server_s_cards_have_both_figures():
    from voicenym.apps.cli.measured_systems.system_cards import system_cards

    cards = {card["name"]: card for card in system_cards()}
    found = system_class("recast").card.figures_live
    live = [one["eer_percent"] for one in cards["recast"]["attackers_live"]]
    without_key = [f for f in found if not f.condition.startswith("key-holder")]
    assert live == sorted(f.value for f in without_key if f.metric == "EER")
    assert live
    assert cards["recast"]["live_protection"][0].startswith("live: EER ")
    assert cards["formant"]["attackers_live"] == []
