"""Tables of the commands: whole words within the terminal, tab-separated values in a pipe."""

from __future__ import annotations

import json

import pytest

from voicenym.apps.cli.terminal import tables
from voicenym.apps.cli.terminal.tables import Column, aligned, emit, field, interval, separated

RECORDS = [
    {"name": "first", "size": 5, "what": "a short text"},
    {"name": "the-second", "size": 12345, "what": "prose of several words that has to wrap " * 3},
]
COLUMNS = (field("name"), field("size", right=True), field("what", prose=True))


@pytest.fixture
def terminal(monkeypatch):
    """``terminal(80)`` makes standard output a terminal of 80 columns."""

    def of(width: int) -> None:
        monkeypatch.setattr(tables, "is_terminal", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))

    return of


def words(records):
    return {word for record in records for value in record.values() for word in str(value).split()}


@pytest.mark.parametrize("room", [20, 30, 40, 60, 80, 120])
def test_no_word_is_broken_and_no_line_too_long(room):
    lines = aligned(RECORDS, COLUMNS, room)
    assert max(map(len, lines)) <= room
    assert words(RECORDS) <= set(" ".join(lines).split())


def test_prose_wraps_beside_the_other_columns():
    lines = aligned(RECORDS, COLUMNS, 60)
    assert lines[0] == "name         size  what"
    assert set(lines[1]) == {"-"}
    assert lines[2] == "first           5  a short text"
    assert lines[3].startswith("the-second  12345  prose of")
    assert lines[4].startswith(" " * 19)


def test_prose_goes_below_where_it_would_be_narrow():
    lines = aligned(RECORDS, COLUMNS, 26)
    assert lines[2:4] == ["first           5", "    a short text"]


def test_two_columns_of_prose_share_the_room():
    records = [{"a": "one two three " * 5, "b": "four five six " * 5}]
    lines = aligned(records, (field("a", prose=True), field("b", prose=True)), 40)
    assert max(map(len, lines)) <= 40
    assert "four" in lines[2]
    assert "one" in lines[2]


def test_a_column_without_values_is_left_out():
    lines = aligned([{"a": 1, "b": None}], (field("a"), field("b")), 80)
    assert lines == ["a", "-", "1"]
    assert aligned([], COLUMNS, 80) == []


def test_pipes_get_tab_separated_values():
    records = [{"name": "a\tb\nc", "x": None, "y": True, "z": [1, 2]}]
    assert separated(records) == ["name\tx\ty\tz", "a\\tb\\nc\t\tyes\t1 2"]


def test_names_cannot_write_to_the_terminal():
    lines = aligned([{"name": "\x1b[2Janna"}], (field("name"),), 80)
    assert lines[-1] == "\\x1b[2Janna"


def test_each_reader_gets_a_form(terminal, monkeypatch, capsys):
    emit(RECORDS, COLUMNS, notes=["A note."])
    assert capsys.readouterr().out.splitlines()[0] == "name\tsize\twhat"
    emit(RECORDS, COLUMNS, as_json=True)
    assert json.loads(capsys.readouterr().out) == RECORDS
    terminal(80)
    emit(RECORDS, COLUMNS, notes=["A note."])
    assert capsys.readouterr().out.endswith("\n\nA note.\n")


def test_intervals_are_in_brackets_and_left_out_where_there_is_none():
    assert interval(19.74, 16.39, 22.98) == "19.7 [16.4, 23.0]"
    assert interval(-3.0, None, None, 2) == "-3.00"
    assert interval(None, None, None) == ""


def test_a_column_can_compute_its_values():
    column = Column("speed", lambda record: f"{record['rtf']:.1f}x", right=True)
    assert aligned([{"rtf": 2.0}], (column,), 80)[-1] == " 2.0x"
