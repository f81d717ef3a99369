"""``voicenym cards``: figures of a report on the cards and in a README."""

from __future__ import annotations

import dataclasses
import functools
import json

import pytest
from tests.evaluation.conftest import found  # noqa: F401

from voicenym.anonymizer import SYSTEMS
from voicenym.evaluation import card_figures, card_table, results_file
from voicenym.evaluation.reports.verdict import identified

MARKED = f"before\n{card_table.BEGIN}\nold\n{card_table.END}\nafter\n"


@pytest.fixture
def report(found, tmp_path):  # noqa: F811
    """A report of mcadams by its defaults, and of formant with a setting."""
    evaluation, _ = found
    first, second = evaluation.systems
    systems = (
        dataclasses.replace(first, name="mcadams"),
        dataclasses.replace(second, name="formant:strength=0.5", parameters={"strength": 0.5}),
    )
    results_file.save(dataclasses.replace(evaluation, systems=systems), tmp_path / "report")
    return tmp_path / "report"


@pytest.fixture
def figures(tmp_path, monkeypatch):
    """A file in place of the figures of the package."""
    file = tmp_path / "figures.json"
    for name in ("write", "write_words", "write_speed", "write_naturalness"):
        monkeypatch.setattr(
            card_figures, name, functools.partial(getattr(card_figures, name), file=file)
        )
    of_readme = functools.partial(card_table.write_readme, file=file)
    monkeypatch.setattr(card_table, "write_readme", of_readme)
    return file


def test_a_report_is_written_to_cards_and_readme(command, report, figures, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(MARKED)
    done = command("cards", "--update", report, "--readme", readme)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    rows = json.loads(figures.read_text())
    assert "mcadams" in rows
    assert not any("formant" in name for name in rows)
    left_out = "left out, since cards have figures of default settings and bundled weights only: "
    assert f"{left_out}formant" in text
    assert f"wrote {readme}" in text
    text = readme.read_text()
    assert "old" not in text
    assert "| `mcadams` |" in text


def test_the_figures_of_another_package_go_to_a_file_of_its_own(
    command, report, figures, tmp_path, monkeypatch
):
    theirs = tmp_path / "theirs.json"
    refused = command("cards", "--update", report, "--file", theirs)
    assert refused.returncode != 0
    assert "no system of another package" in refused.stderr.decode()
    monkeypatch.setattr(type(SYSTEMS), "package", lambda self, name: "whispered-voice")
    refused = command("cards", "--update", report)
    assert refused.returncode != 0
    assert "with --file FILE" in refused.stderr.decode()
    assert not figures.exists()
    words = command("cards", "--update", report, "--file", theirs, "--speed")
    assert words.returncode != 0
    assert "Traceback" not in words.stderr.decode()
    done = command("cards", "--update", report, "--file", theirs)
    assert done.returncode == 0, done.stderr
    assert {"mcadams", "original"} == set(json.loads(theirs.read_text()))
    theirs.write_text("[]")
    assert (
        "holds no figures" in command("cards", "--update", report, "--file", theirs).stderr.decode()
    )


def test_a_report_without_words_has_none_to_put_on_cards(command, report, figures):
    assert command("cards", "--update", report).returncode == 0
    before = figures.read_text()
    done = command("cards", "--update", report, "--words")
    assert done.returncode == 1
    assert "no figures of words or phones" in done.stderr.decode()
    assert figures.read_text() == before


def test_what_is_no_report_is_refused(command, figures, tmp_path):
    done = command("cards", "--update", tmp_path / "none")
    assert done.returncode != 0
    assert "none" in done.stderr.decode()
    assert not figures.exists()


def test_a_card_takes_one_part_of_a_report_at_a_time(command, report, figures):
    done = command("cards", "--update", report, "--words", "--speed")
    assert done.returncode == 2
    assert b"one of --add, --words, --speed and --naturalness" in done.stderr
    assert not figures.exists()


def test_places_of_weights_that_no_package_holds_are_no_settings(
    command,
    found,  # noqa: F811
    figures,
    tmp_path,
):
    evaluation, _ = found
    name, places = "asr-tts:recogniser=tiny@01", {"recogniser": "/elsewhere/tiny"}
    for more, listed in (({}, True), ({"timing": "free"}, False)):
        own = dataclasses.replace(evaluation.systems[0], name=name, parameters=places | more)
        report = dataclasses.replace(evaluation, systems=(own,))
        assert (card_figures.left_out(report) == []) is listed
        results_file.save(report, tmp_path / "report")
        assert (command("cards", "--update", tmp_path / "report").returncode == 0) is listed
    assert {"asr-tts", "original"} == set(json.loads(figures.read_text()))


def test_figures_of_weights_of_the_users_own_go_to_no_card(
    command,
    found,  # noqa: F811
    figures,
    tmp_path,
):
    evaluation, _ = found
    for own, kept in ((None, True), (False, True), (True, False)):
        system = dataclasses.replace(
            evaluation.systems[0], name="b1a", parameters={}, weights="0" * 16, own_weights=own
        )
        report = dataclasses.replace(evaluation, systems=(system,))
        place = tmp_path / f"report-{own}"
        results_file.save(report, place)
        assert results_file.load(place).systems[0].own_weights is own
        assert ("your own, not the bundled ones" in identified(system)) is (own is True)
        assert (command("cards", "--update", place).returncode == 0) is kept
