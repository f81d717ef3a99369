"""Intervals of few errors that were stored before the rule for them are marked."""

from __future__ import annotations

import re

import pytest

from voicenym.reproduction import stored_outcomes
from voicenym.reproduction.narrow_intervals import MARK, NOTE, SINCE, marked
from voicenym.reproduction.outcome import Figure, OurPanel, OurRow, Outcome
from voicenym.reproduction.paper_list import papers
from voicenym.reproduction.rendering import markdown, text

DATA = "speech: 24 speakers, 72 trials of 3 enrolled recordings each"


def outcome(title="EER, %", label="ours", column="B2", value=13.8, low=7.0, date="2026-11-29"):
    figure = Figure(value, low, None if low is None else value + 7.0)
    return Outcome((OurPanel(title, (column,), (OurRow(label, (figure,)),)),), data=DATA, date=date)


def is_marked(given):
    found = marked(given)
    (figure,) = found.panels[0].rows[0].figures
    assert (figure.text == MARK) == (NOTE in found.notes)
    return figure.text == MARK


@pytest.mark.parametrize(
    ("given", "few"),
    [
        ({}, True),  # 9.9 errors of 72 trials
        ({"value": 13.9}, False),  # 10.0
        ({"value": 95.0}, True),
        ({"value": 0.0}, True),
        ({"label": "ours f", "value": 27.0}, True),  # 9.7 of 36
        ({"label": "ours f O-O", "value": 28.0}, False),
        ({"column": "lazy-informed m", "value": 27.0}, True),
        ({"title": "averages", "label": "ours, EER, %, ignorant"}, True),
        ({"title": "verifiers", "column": "ROCCH-EER, %"}, True),
        ({"title": "WER, %", "value": 3.0}, False),
        ({"title": "min C_llr", "value": 0.1}, False),
        ({"low": None}, False),
        ({"date": SINCE}, False),
    ],
)
def test_the_number_of_errors_decides(given, few):
    assert is_marked(outcome(**given)) is few


def test_without_stated_trials_nothing_is_said():
    assert marked(Outcome(outcome().panels, date="2026-11-29")).notes == ()


def test_pages_and_tables_say_so_for_every_stored_rate():
    """Every cell of an equal error rate below ten errors has the mark, and no other cell."""
    outcomes = stored_outcomes.load()
    seen = 0
    for name, tables in papers().items():
        for table in tables:
            if table.key not in outcomes:
                continue
            page = markdown(table, outcomes[table.key], "command")
            cells = len(re.findall(rf"\) {MARK} \|", page))
            assert (cells > 0) == ("Fewer than 10 errors" in page), table.key
            assert text(table, outcomes[table.key]).count(f") {MARK}") == cells
            seen += cells
        assert name
    assert seen > 100
    of_deng = markdown(
        next(t for t in papers()["deng-2023"] if t.name == "table-4"),
        outcomes["deng-2023 table-4"],
        "command",
    )
    originals = r"\*\*ours, ECAPA-TDNN small\*\* \| [\d.]+ \([\d.]+ to [\d.]+\) †"
    assert re.search(originals, of_deng)
