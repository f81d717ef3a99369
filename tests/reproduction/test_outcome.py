"""Outcomes: comparisons of figures with intervals, texts, and JSON."""

from __future__ import annotations

import json
import math

import pytest

from voicenym.metrics.metric import Measured
from voicenym.reproduction import stored_outcomes
from voicenym.reproduction.outcome import (
    Figure,
    Finding,
    OurPanel,
    OurRow,
    Outcome,
    above,
    absent,
    all_of,
    exceeds,
    figure_text,
    negated,
)


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (Figure(3, 2, 4), Figure(1, 0, 1.5), True),
        (Figure(1, 0, 1.5), Figure(3, 2, 4), False),
        (Figure(3, 1, 4), Figure(1, 0, 1.5), None),
        (Figure(2.0), Figure(1.0), None),
        (Figure(2.0, 1.5, 2.5), Figure(1.0), None),
        (Figure(1.0), absent("no speech"), None),
        (Figure(math.nan), Figure(1.0), None),
    ],
)
def test_figures_are_compared_by_their_intervals(first, second, verdict):
    assert exceeds(first, second) is verdict


def test_a_figure_is_above_a_number_where_its_whole_interval_is():
    assert above(Figure(3.0, 1.0, 4.0), 0.5) is True
    assert above(Figure(3.0, 1.0, 4.0), 5.0) is False
    assert above(Figure(3.0, 1.0, 4.0), 3.5) is None
    assert above(Figure(3.0), 0.0) is None
    assert above(absent("no speech"), 0.0) is None
    assert [negated(verdict) for verdict in (True, False, None)] == [False, True, None]


def test_one_claim_that_fails_is_enough_and_one_undecided_is_not():
    assert all_of([True, True]) is True
    assert all_of([True, None]) is None
    assert all_of([True, None, False]) is False
    assert all_of([]) is None


def test_texts_of_figures():
    assert figure_text(Figure(-12.34, -13.0, -11.5)) == "−12.3 (−13.0 to −11.5)"
    assert figure_text(absent("no weights")) == "–"
    assert figure_text(Figure(text="yes")) == "yes"
    assert figure_text(Figure(math.nan)) == "undefined"
    assert figure_text(Figure(1.0, text="[+0.5]"), 2) == "1.00 [+0.5]"
    assert Figure.of(Measured(1.0, 0.5, 2.0, "%")) == Figure(1.0, 0.5, 2.0)
    assert Figure.of(None, "why").missing == "why"


def test_an_outcome_is_stored_and_read_again(tmp_path):
    """Zeros, NaN, infinities, missing figures and undecided claims are kept."""
    figures = (Figure(0.0, 0.0, 0.0), Figure(math.nan), Figure(-math.inf), absent("why"))
    panel = OurPanel("p", ("a", "b", "c", "d"), (OurRow("r", figures, "theirs"),), 0)
    found = Outcome(
        (panel,),
        (Finding("c", None, "e"), Finding("c", False, "e", arithmetic=True)),
        ("note",),
        "data",
        "small",
        "2026-11-23",
        "0.1.0",
        0.0,
        {"a.svg": "<svg/>"},
    )
    file = tmp_path / "outcomes.json"
    stored_outcomes.store({"paper table-1": found}, file)
    stored_outcomes.store({"paper table-2": Outcome()}, file)
    again = stored_outcomes.load(file)
    assert set(again) == {"paper table-1", "paper table-2"}
    assert repr(again["paper table-1"].panels) == repr(found.panels)
    assert again["paper table-1"].findings == found.findings
    assert again["paper table-1"].notes == found.notes
    assert "svg" not in file.read_text()
    json.loads(file.read_text(), parse_constant=pytest.fail)


def test_without_a_file_nothing_has_been_run(tmp_path):
    assert stored_outcomes.load(tmp_path / "none.json") == {}
