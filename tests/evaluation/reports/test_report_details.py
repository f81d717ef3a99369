"""Detail tables of the report, and the weighted mean of the VoicePrivacy Challenges."""

import dataclasses
import re

import pytest

pytest.importorskip("matplotlib")

from voicenym.evaluation.reports import report, report_details, verdict
from voicenym.evaluation.results import Measured


def plain(parts):
    return re.sub(r"<[^>]+>", " ", " ".join(parts))


def test_kinds_of_errors_and_what_chance_gives_stand_in_tables(found):
    evaluation, _ = found
    text = plain(report_details.utility(evaluation))
    for words in (
        *("WER substitutions", "25.0  (15.0 to 35.0)", "22.0  (12.0 to 32.0)"),
        *("rho_F0 by chance", "0.08  (0.02 to 0.12)", "D_KS", "0.31  (0.21 to 0.41)"),
    ):
        assert words in text, words
    assert "WER deletions" not in text, "no column for what nobody measured"
    bare = dataclasses.replace(
        evaluation,
        utility={},
        systems=tuple(dataclasses.replace(s, utility={}) for s in evaluation.systems),
    )
    assert report_details.utility(bare) == []


def test_diversity_and_similarity_have_tables_before_and_after(found):
    evaluation, _ = found
    utility = {"entropy": Measured(21.0, 20.5, 21.5, "nat"), "M_oa own": Measured(0.61, 0.5, 0.7)}
    utility["effective voices"] = Measured(12.3, 8.0, 20.0, "voices")
    system = dataclasses.replace(evaluation.systems[0], utility=utility)
    text = plain(
        report_details.utility(dataclasses.replace(evaluation, systems=(system,), utility=utility))
    )
    assert text.count("12.3  (8.0 to 20.0)") == 2, "of the originals, too"
    assert text.count("0.61  (0.50 to 0.70)") == 1
    for words in ("Diversity of voices", "entropy, nats", "Voice similarity, 0 to 1", "M_oa own"):
        assert words in text
    assert "lower bound" not in text


def test_means_over_data_sets_have_a_table_of_their_own(found):
    evaluation, _ = found
    assert "Means over data sets" not in plain(report_details.utility(evaluation))
    utility = {"weighted WER": Measured(21.0, 18.0, 24.0, "%"), "WER VCTK": Measured(9.9)}
    utility["weighted rho_F0"] = Measured(0.721, 0.70, 0.74)
    weighed = dataclasses.replace(evaluation.systems[0], utility=utility)
    text = plain(report_details.utility(dataclasses.replace(evaluation, systems=(weighed,))))
    for words in ("Means over data sets", "21.0  (18.0 to 24.0)", "0.72  (0.70 to 0.74)"):
        assert words in text
    assert "9.9" not in text


def test_only_what_is_there_is_explained(found):
    evaluation, _ = found
    assert "MMR" not in plain(report_details.attackers(evaluation))
    system = evaluation.systems[0]
    attack = system.attacks[0]
    more = dataclasses.replace(
        attack,
        attacker="ignorant + AS-norm",
        figures={**attack.figures, "MMR": Measured(90.0), "weighted EER": Measured(30.0)},
    )
    changed = dataclasses.replace(
        evaluation, systems=(dataclasses.replace(system, attacks=(more,)),)
    )
    text = plain(report_details.attackers(changed))
    for words in ("MMR : Miss-match rate", "Miao et al. 2023, appendix A", "AS-norm:"):
        assert words in text


def test_the_weighted_mean_is_in_the_verdict_by_whoever_reaches_it(found):
    evaluation, _ = found
    system = evaluation.systems[0]
    assert verdict.weighted(system) == []
    ignorant, holder, search = system.attacks
    assert holder.holds_key
    mean = (Measured(31.0, 28.0, 33.5), Measured(1.0), Measured(12.3, 10.1, 14.9))
    attacks = tuple(
        dataclasses.replace(a, figures={**a.figures, "weighted EER": m})
        for a, m in zip((ignorant, holder, search), mean, strict=True)
    )
    system = dataclasses.replace(system, attacks=attacks)
    text = report.html(dataclasses.replace(evaluation, systems=(system,)), None)
    printed = "the VoicePrivacy Challenge: <b>12.3&nbsp;%</b> (10.1 to 14.9&nbsp;%), by key search"
    assert printed in text
    assert text.index("<h2>Systems</h2>") < text.index(printed)
