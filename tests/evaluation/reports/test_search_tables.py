"""Searches in the report and in an audit: amounts of speech, limits, sentences."""

import dataclasses
import math

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

from voicenym.attack.attackers import Ignorant
from voicenym.evaluation import results_file
from voicenym.evaluation.measurements import protection
from voicenym.evaluation.recording_audit import Audit, Sight
from voicenym.evaluation.reports import search_tables
from voicenym.evaluation.results import Amount
from voicenym.metrics.metric import Measured


def audited(llr):
    return Audit((Sight("key search", llr), Sight("ignorant", 0.0)), 0.1, (None, None), (), (1, 1))


@pytest.mark.parametrize(
    ("llr", "printed"),
    [
        (math.log(999.0), ["with 1 recording", "(key search)", "about once in 2.0;"]),
        (
            math.log(999.0 / 99.0),
            ["about once in 100;", "at worst nearly always"],
        ),
        (0.0, ["no more often than by chance (once in 1,000)"]),
        (-1.0, ["no more often than by chance (once in 1,000)", "more recordings", "not tried"]),
    ],
)
def test_an_audit_says_how_often_a_search_ends_with_the_speaker(llr, printed):
    sentence = audited(llr).searched()
    assert sentence.startswith("Among 1,000 people")
    for words in printed:
        assert words in sentence
    if llr <= 0.0:
        assert "worst" not in sentence, "ten times a ratio against the speaker is no worst case"


def test_scores_that_separate_all_trials_are_limits_of_the_test(found):
    evaluation, evidence = found
    trials = evidence.trials
    apart = np.where(trials.target, 10.0, 0.0) + np.random.default_rng(0).uniform(
        size=trials.tested.shape
    )
    attack = protection.measured(Ignorant(), apart, trials, "v", 5).figures
    system = dataclasses.replace(evaluation.systems[0], attacks=(attack,))
    page = "".join(search_tables.limits(dataclasses.replace(evaluation, systems=(system,))))
    assert "separate all trials" in page
    assert f"{attack.targets} target scores lie above all non-target scores" in page
    assert "bent &lt;script&gt;" in page
    assert attack.figures["found for sure"].value == attack.figures["rank-1"].value == 100.0
    assert attack.figures["found for sure"].low < 70.0, "eight speakers prove little"


def test_amounts_are_tabled_and_kept(found, tmp_path):
    evaluation, _ = found
    one = Amount("lazy", "v", 10, "score average", 12, {"EER": Measured(3.25, 1.0, 5.0, "%")})
    system = dataclasses.replace(evaluation.systems[0], amounts=(one,))
    changed = dataclasses.replace(evaluation, systems=(system,))
    page = "".join(search_tables.amounts(changed))
    assert '<td class="n">10</td>' in page
    assert "3.2" in page
    results_file.save(changed, tmp_path)
    assert results_file.load(tmp_path).systems[0].amounts == (one,)
    assert search_tables.amounts(evaluation) == []


def test_curves_of_crowds_and_metrics_against_each_other_are_drawn(drawn):
    shown = {figure.title: figure for figure in drawn}
    curve = shown["First among N people"]
    assert "found first" in curve.svg
    assert ">1,000</text>" in curve.svg
    assert "mathdefault" not in curve.svg, "formulas would be printed as text"
    assert "first of 1,000" in curve.alt.lower()
    scatter = shown["Metrics against each other"]
    for name in ("ROCCH-EER", "D_sys", "worst case", "rank-1"):
        assert name in scatter.svg
