"""Pictures of panels: what is drawn of figures, and what is left out."""

from __future__ import annotations

import math
import re

import numpy as np

from voicenym.reproduction import panel_drawings
from voicenym.reproduction.outcome import Figure, OurPanel, OurRow, absent
from voicenym.reproduction.paper_table import Ours

PANEL = OurPanel("EER, %, ignorant", ("A", "B", "C"), (
    OurRow("ours f", (Figure(1.0, 0.5, 2.0), absent("no weights"), Figure(math.nan))),
    OurRow("ours m", (Figure(3.0), absent("no weights"), Figure(4.0, 3.0, 5.0))),
))  # fmt: skip


def texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_systems_without_figures_are_left_out_of_a_transposed_panel():
    found = panel_drawings.transposed(PANEL)
    assert [row.label for row in found.rows] == ["A", "C"]
    assert found.columns == ("EER, %, ignorant, f", "EER, %, ignorant, m")
    assert found.rows[0].figures == (PANEL.rows[0].figures[0], PANEL.rows[1].figures[0])


def test_rows_and_columns_are_named():
    found = texts(panel_drawings.dots(PANEL))
    assert {"A", "B", "C", "f", "m"} <= set(found)
    assert found.count("f") == 1  # beside the first column of a row of pictures alone


def test_rows_of_which_nothing_is_known_have_no_place():
    nothing = OurRow("i-vectors", (absent("none"),) * 3)
    panel = OurPanel("EER", PANEL.columns, (*PANEL.rows, nothing))
    assert "i-vectors" not in texts(panel_drawings.dots(panel))


def test_a_curve_alone_needs_no_legend():
    one = OurPanel("", ("SNR, dB",), tuple(OurRow(r.label, r.figures[:1]) for r in PANEL.rows))
    assert texts(panel_drawings.curves(one, ["1", "2"], "epsilon", "SNR, dB")).count("SNR, dB") == 1


def test_a_computation_gets_pictures_of_panels_that_have_figures():
    empty = OurPanel("nothing", ("A",), (OurRow("r", (absent("why"),)),))
    plain = Ours((PANEL, empty), drawings=(("kept.svg", "<svg/>"),))
    found = panel_drawings.pictured(lambda bench: plain)(None)
    assert [name for name, _ in found.drawings] == ["kept.svg", "1.svg"]
    turned = panel_drawings.pictured(lambda bench: plain, by_column=True)(None)
    assert "EER, %, ignorant, f" in texts(turned.drawings[1][1])


def test_curves_have_settings_columns_and_levels():
    svg = panel_drawings.curves(
        PANEL, ["none", "0.2"], "theta", "EER", {"base": (Figure(2.0),) * 3}
    )
    assert {"none", "0.2", "theta", "EER", "A", "B", "C", "base"} <= set(texts(svg))


def test_scatter_cumulative_and_detection_name_groups_and_parts():
    points = {"one": {"s": [(0.0, 1.0)], "t": []}, "two": {"t": [(1.0, 2.0)]}}
    assert {"one", "two", "s", "t"} <= set(texts(panel_drawings.scatter(points, "y")))
    values = {"f": {"original": np.arange(5.0), "mixture": np.arange(3.0)}}
    assert {"f", "original", "mixture"} <= set(texts(panel_drawings.cumulative(values, "cosine")))
    scores = {"task": {"s": ([2.0, 3.0], [0.0, 1.0, 2.5])}}
    assert {"task", "s"} <= set(texts(panel_drawings.detection(scores)))
