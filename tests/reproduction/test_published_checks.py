"""Checks of the papers' own numbers find the misprints that are there, and no others."""

from __future__ import annotations

import pytest

from voicenym.reproduction import published_checks as checks
from voicenym.reproduction.miao.miao_speech import _both, _same_loh
from voicenym.reproduction.published_figures import PublishedPanel, PublishedRow, panels_of
from voicenym.reproduction.tomashenko import metric_correlations


def panel(table):
    return panels_of("miao-2023", table)[0]


def test_an_average_that_was_misprinted_is_found():
    """The weighted test average of ROH with w-AAM, 49.83, is a point above that of its parts."""
    dev, test = checks.challenge_averages(panel("table-9"))
    assert dev.holds
    assert test.holds is False
    assert "ROH w-AAM+cos: printed 49.83, computed 48.833" in test.evidence
    assert test.evidence.count("printed") == 1


@pytest.mark.parametrize("table", ["table-7", "table-11", "table-13", "table-14", "table-15"])
def test_other_averages_agree(table):
    assert all(found.holds for found in checks.challenge_averages(panel(table)))


def test_a_figure_that_two_tables_print_differently_is_found():
    found = _same_loh()
    assert found.holds is False
    assert found.evidence == "VCTK-dev common m: 66.53 and 65.53"


def test_averages_of_table_2_and_3_that_are_not_those_of_the_appendix_are_found():
    second, third = _both("table-2")[0], _both("table-3")[0]
    assert second.evidence == "EER, %, semi-informed, S-ROH AAM+cos dev: 7.75 and 39.91"
    assert "EER, %, semi-informed, S-ROH* test: 41.86 and 41.88" in third.evidence
    assert "G_VD, dB, B1.a dev: -9.17 and -9.71" in third.evidence


def test_categories_follow_from_worst_cases():
    assert checks.tags_printed().holds


def test_brackets_are_differences_to_the_challenges_baseline():
    dev, test = checks.baseline_of_brackets()
    assert test.holds, test.evidence
    assert dev.holds, dev.evidence


def test_the_largest_loss_of_the_text_is_not_that_of_the_table():
    found = checks.largest_loss()
    assert found.holds is False
    assert "-6.9 (LibriSpeech f O-A" in found.evidence


def test_opinion_scores_are_means_of_whole_ratings_and_one_p_is_one_sided():
    whole, small, sided = checks.opinions()
    assert whole.holds
    assert small.holds
    assert sided.holds is False
    assert "0.864 two-sided and 0.432 one-sided" in sided.evidence


def test_expected_disclosure_is_a_linear_function_of_min_cllr_and_the_worst_case_is_not():
    tables = [f"table-{n}" for n in range(2, 16)]
    attacks = ("ignorant", "lazy-informed", "semi-informed")
    linear, count = checks.correlation(tables, "D_ECE", "min C_llr", attacks)
    worst, _ = checks.correlation(tables, "worst case", "min C_llr", attacks)
    assert count > 400
    assert linear < -0.99
    assert -0.95 < worst < -0.5


def test_an_average_of_a_made_up_table():
    rows = (("a", "1.00"), ("b", "3.00"), ("mean", "2.00"))
    made = PublishedPanel("made", ("x",), tuple(PublishedRow(n, (t,)) for n, t in rows))
    assert checks.average_check(made, "mean", ("a", "b"), (0.5, 0.5)).holds
    assert checks.average_check(made, "mean", ("a", "b"), (0.4, 0.6)).holds is False


def test_pairs_without_a_number_decide_nothing():
    assert checks.same_numbers("?", [("x", None, 1.0, 0.0)]).holds is None


@pytest.mark.parametrize(
    ("r", "count", "holds"),
    [(0.85, 6, None), (0.95, 400, True), (0.1, 400, False), (-1.0, 18, True)],
)
def test_a_correlation_of_few_pairs_decides_little(r, count, holds):
    found = metric_correlations._finding("strong", r, count, lambda value: abs(value) >= 0.8)
    assert found.holds is holds
    assert f"of {count} pairs" in found.evidence
