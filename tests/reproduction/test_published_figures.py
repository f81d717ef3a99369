"""Published figures: shape of the files, and values read from the papers."""

from __future__ import annotations

import pytest

from voicenym.reproduction.paper_list import papers
from voicenym.reproduction.published_figures import (
    difference_in,
    number_in,
    panels_of,
    published,
)

PRINTED = [
    ("turner-2022", "table-1", 0, "LibriSpeech m A-A", "dev EER, %", "46.7 (+12.6)"),
    ("turner-2022", "table-4", 0, "VCTK different m A-A", "D_sys", "0.14(-0.16)"),
    ("turner-2022", "table-5", 0, "VCTK dev", "G_VD m, dB", "-2.85 (+9.82)"),
    ("turner-2022", "table-6", 0, "Baseline", "MOS", "2.816415"),
    ("yao-2024", "table-3", 0, "ASV-Free", "G_VD, dB test", "-18.69"),
    ("yao-2024", "table-5", 0, "MUSA_ml", "CER, %", "13.39"),
    ("deng-2023", "table-4", 0, "GMM", "V-CLOAK targeted with key", "51.15"),
    ("deng-2023", "table-5", 0, "DP", "V-CLOAK EER", "49.47"),
    ("miao-2023", "table-3", 0, "EER, %, semi-informed", "S-Select test", "6.94"),
    ("miao-2023", "table-4", 0, "CER, %", "B1.a", "68.67"),
    ("miao-2023", "table-13", 0, "VCTK-dev common m", "S-LOH*", "65.53"),
    ("miao-2023", "table-19", 0, "VCTK-test", "B1.b", "10.69"),
    ("tomashenko-2022", "table-3", 1, "LibriSpeech m", "S2c1", "46.33"),
    ("tomashenko-2022", "table-5", 3, "VCTK different m", "O1c1", "0.685"),
    ("tomashenko-2022", "table-9", 1, "VCTK common f", "K2", "99.9"),
    ("tomashenko-2022", "table-15", 0, "VCTK common m", "K2", "0.909"),
    ("tomashenko-2022", "table-16", 1, "S2", "K2", "0.977"),
    ("tomashenko-2022", "table-18", 1, "VCTK common f", "K2", "56.85"),
]


@pytest.mark.parametrize(("paper", "table", "panel", "row", "column", "text"), PRINTED)
def test_a_cell_has_the_printed_text(paper, table, panel, row, column, text):
    assert panels_of(paper, table)[panel].text(row, column) == text


def test_every_row_has_a_text_for_every_column_and_every_label_is_there_once():
    for paper in papers():
        for table, panels in published(paper).items():
            assert panels, (paper, table)
            for panel in panels:
                assert len(set(panel.columns)) == len(panel.columns)
                assert len(set(panel.labels)) == len(panel.labels), (paper, table, panel.title)
                assert all(len(row.texts) == len(panel.columns) for row in panel.rows)


def test_every_published_table_has_a_command():
    for paper, tables in papers().items():
        assert set(published(paper)) <= {table.name for table in tables}


RANGES = {
    "EER": (0, 100), "ROCCH-EER": (0, 50), "min C_llr": (0, 1), "D_ECE": (0, 0.7214),
    "worst case": (0, 4.2), "D_sys": (0, 1), "DeID": (0, 100), "p": (0, 1),
}  # fmt: skip


def test_figures_of_the_challenge_lie_within_the_ranges_of_their_metrics():
    """A digit that was lost or doubled while reading moves a figure out of its range."""
    for panels in published("tomashenko-2022").values():
        for panel in panels:
            low, high = RANGES.get(panel.title.split(",")[0], (-1e9, 1e9))
            for row in panel.rows:
                for column in panel.columns:
                    value = panel.number(row.label, column)
                    assert value is None or low <= value <= high, (panel.title, row, column)


@pytest.mark.parametrize(
    ("text", "number", "difference"),
    [
        ("46.9 (-3.3)", 46.9, -3.3),
        ("0.82(+0.51)(A)", 0.82, 0.51),
        ("3.98(C)", 3.98, None),
        ("2,620", 2620.0, None),
        ("-9.17", -9.17, None),
        ("<< 0.01", None, None),
        (None, None, None),
    ],
)
def test_numbers_are_read_from_printed_texts(text, number, difference):
    assert number_in(text) == number
    assert difference_in(text) == difference


def test_an_unknown_cell_is_an_error():
    panel = panels_of("turner-2022", "table-3")[0]
    with pytest.raises(KeyError, match="no column"):
        panel.text("VCTK original", "train")
    with pytest.raises(KeyError, match="no row"):
        panel.text("VCTK", "dev")
