"""Text and pages: rows of ours below the paper's, reasons, and what differs."""

from __future__ import annotations

from pathlib import Path

from voicenym.reproduction import pages, stored_outcomes
from voicenym.reproduction.outcome import Figure, Finding, OurPanel, OurRow, Outcome, absent
from voicenym.reproduction.paper_list import papers, tables
from voicenym.reproduction.rendering import grids, markdown, missing, text

ROOT = Path(__file__).resolve().parents[2]
(TABLE,) = tables("turner-2022", "table-3")
COLUMNS = TABLE.published[0].columns
OUTCOME = Outcome(
    (
        OurPanel(
            "WER, %",
            COLUMNS,
            (
                OurRow("ours original", (absent("one set"), Figure(12.5, 10.0, 15.0)),
                       "LibriSpeech original"),
                OurRow("ours last", (absent("one set"), Figure(40.0))),
            ),
            1,
        ),
        OurPanel("more", ("x",), (OurRow("y", (Figure(1.0),)),), 0),
    ),
    (Finding("Words are lost", True, "40 > 12"), Finding("Nothing | is", False, "a < b")),
    ("a note",),
    "speech, dev",
    "small",
    "2026-11-23",
)  # fmt: skip


def test_our_rows_stand_below_the_papers_and_at_the_end():
    (title, grid), (more, own) = grids(TABLE, OUTCOME)
    assert title == "WER, %"
    assert [row[0] for row in grid] == [
        "", "LibriSpeech original", "**ours original**", "LibriSpeech anonymized", "VCTK original",
        "VCTK anonymized", "**ours last**",
    ]  # fmt: skip
    assert grid[2] == ["**ours original**", "–", "12.5 (10.0 to 15.0)"]
    assert grid[3][1] == "10.02 (+3.63)"
    assert (more, own[1]) == ("more", ["**y**", "1"])


def test_a_reason_is_stated_once_with_its_columns():
    assert missing(OUTCOME) == ["dev: one set"]


def test_the_text_has_verdicts_sizes_and_differences():
    found = text(TABLE, OUTCOME)
    assert "Turner et al. 2022, table 3" in found
    assert "Run: speech, dev; budget small; 2026-11-23." in found
    assert "  holds: Words are lost\n" in found
    assert "does not hold: Nothing | is" in found
    assert "**" not in found
    assert TABLE.differs[0].split()[0] in found


def test_without_an_outcome_the_papers_table_is_printed_alone():
    assert "10.02 (+3.63)" in text(TABLE, None)
    assert "**Not run yet.**" in markdown(TABLE, None, "voicenym reproduce")


def test_markdown_escapes_what_would_be_markup():
    found = markdown(TABLE, OUTCOME, "voicenym reproduce")
    assert "a &lt; b" in found
    assert "| **ours original** | – | 12.5 (10.0 to 15.0) |" in found


def test_wide_tables_are_split_for_a_terminal():
    (wide,) = tables("tomashenko-2022", "table-3")
    found = text(wide, None).split("What differs")[0]
    assert max(map(len, found.splitlines()[5:])) <= 130


def test_the_summary_lists_what_came_out_against_a_paper(tmp_path):
    outcomes = {TABLE.key: OUTCOME}
    found = pages.summary(outcomes)
    against, agreed = found.split("## Against the papers")[1].split("## As the papers say")
    assert "Nothing \\| is" in against
    assert "Words are lost" in agreed
    written = pages.write(tmp_path / "reproduction.md", outcomes)
    assert [path.name for path in written[1:]] == [f"{name}.md" for name in papers()]
    assert "2026-11-23" in (tmp_path / "reproduction" / "turner-2022.md").read_text()


def test_stored_outcomes_are_of_tables_that_are_there():
    keys = {table.key for own in papers().values() for table in own}
    assert set(stored_outcomes.load()) <= keys


def test_the_documentation_is_what_the_command_writes(tmp_path):
    """voicenym reproduce --page docs/reproduction.md"""
    for path in pages.write(tmp_path / "reproduction.md", stored_outcomes.load()):
        there = ROOT / "docs" / path.relative_to(tmp_path)
        assert there.read_text("utf-8") == path.read_text("utf-8"), there.name
