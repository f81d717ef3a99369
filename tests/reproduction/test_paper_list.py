"""List of tables: names, needs, and tables that run without speech."""

from __future__ import annotations

import pytest

from voicenym.errors import VoicenymError
from voicenym.reproduction.paper_list import not_here, papers, run, tables
from voicenym.reproduction.paper_table import (
    ANSWERS,
    CLOAKS,
    CODECS,
    NOTHING,
    SPEECH,
    WORDS,
    normalised,
)

EVERY = [table for own in papers().values() for table in own]
QUICK = [table for table in EVERY if NOTHING in table.needs and table.cost == "seconds"]


def test_five_papers_and_each_table_once():
    assert list(papers()) == [
        "miao-2023", "turner-2022", "yao-2024", "deng-2023", "tomashenko-2022",
    ]  # fmt: skip
    keys = [table.key for table in EVERY]
    assert len(set(keys)) == len(keys) > 90


@pytest.mark.parametrize(
    ("paper", "numbers"),
    [
        ("miao-2023", range(1, 20)),
        ("turner-2022", range(1, 7)),
        ("yao-2024", range(1, 7)),
        ("deng-2023", range(1, 6)),
        ("tomashenko-2022", range(1, 19)),
    ],
)
def test_every_table_of_a_paper_is_there(paper, numbers):
    assert {f"table-{n}" for n in numbers} <= {table.name for table in papers()[paper]}


@pytest.mark.parametrize(
    ("paper", "figures"),
    [
        ("miao-2023", range(5, 10)),
        ("turner-2022", range(2, 10)),
        ("yao-2024", range(3, 5)),
        ("deng-2023", range(6, 10)),
        ("tomashenko-2022", range(1, 31)),
    ],
)
def test_every_figure_that_is_no_diagram_has_a_command(paper, figures):
    assert {f"figure-{n}" for n in figures} <= {table.name for table in papers()[paper]}


def test_what_the_extended_version_has_is_named_one_by_one():
    reasons = not_here()["deng-2023"]
    there = {table.name for table in papers()["deng-2023"]} | {"table-9", "table-10"}
    assert {f"table-{n}" for n in range(1, 21)} <= there | set(reasons)
    assert {f"figure-{n}" for n in range(6, 14)} <= there | set(reasons)
    with pytest.raises(VoicenymError, match="figure-6 has ours"):
        tables("deng-2023", "table-7")


def test_each_states_how_and_what_it_needs():
    for table in EVERY:
        assert set(table.needs) <= {NOTHING, SPEECH, ANSWERS, WORDS, CLOAKS, CODECS}, table.key
        assert table.cost in ("seconds", "minutes"), table.key
        assert table.how, table.key
        if SPEECH in table.needs:
            assert table.differs, table.key


@pytest.mark.parametrize("table", QUICK, ids=lambda table: table.key)
def test_a_table_that_needs_nothing_runs_and_shares_the_papers_columns(table, mute):
    outcome = run(table, mute)
    published = {panel.title: panel.columns for panel in table.published}
    for panel in outcome.panels:
        assert published.get(panel.title, panel.columns) == panel.columns
        assert all(len(row.figures) == len(panel.columns) for row in panel.rows)
    assert outcome.panels or outcome.findings or outcome.notes
    assert outcome.data == outcome.budget == ""


def test_speech_that_is_needed_and_missing_is_named(mute):
    (table,) = tables("turner-2022", "table-1")
    with pytest.raises(VoicenymError, match="--speech"):
        run(table, mute)


def test_names_are_read_as_people_type_them():
    assert tables("Turner 2022", "Table 1")[0].key == "turner-2022 table-1"
    assert tables("turner_2022", "fig. 7")[0].key == "turner-2022 figure-7"
    assert tables("turner-2022", "B7")[0].key == "turner-2022 table-b7"
    assert len(tables("yao-2024")) == len(tables("yao-2024", "all")) == len(papers()["yao-2024"])
    assert normalised("3") == "table-3"


def test_unknown_names_list_those_there_are():
    with pytest.raises(VoicenymError, match="there are: miao-2023, turner-2022"):
        tables("smith-2020")
    with pytest.raises(VoicenymError, match="there are: table-1"):
        tables("yao-2024", "table-9")
    with pytest.raises(VoicenymError, match="diagram"):
        tables("turner-2022", "figure-1")
