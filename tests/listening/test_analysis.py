"""Analysis against known truth: simulated listeners with set abilities, biases and cheaters."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from listening_material import folders

from voicenym.errors import VoicenymError
from voicenym.listening import study as files
from voicenym.listening.analysis import listening_report, objective_agreement
from voicenym.listening.analysis.listening_analysis import analyse
from voicenym.listening.analysis.mean_opinions import means
from voicenym.listening.analysis.quality_control import Criteria, qualities
from voicenym.listening.analysis.rater_agreement import agreement, icc
from voicenym.listening.analysis.report_sentences import sentences
from voicenym.listening.analysis.system_comparisons import comparisons, ranked
from voicenym.listening.answer_store import AnswerStore
from voicenym.listening.design.sessions import Plan
from voicenym.listening.design.study_design import design
from voicenym.listening.exchange.simulated_listeners import Listener, answer_all
from voicenym.listening.ratings import CheckResult, Rating, of_study
from voicenym.metrics.listening_ranks import holm
from voicenym.reproduction.published_figures import panels_of

TRUTH = {"original": 0.95, "a": 0.7, "b": 0.45, "voice of a": 0.6, "voice of b": 0.0}
CHEATERS = ("L004", "L011")


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """Ratings and checks of twelve listeners, two of whom cheat, with a bias each."""
    root = tmp_path_factory.mktemp("answered")
    material = folders(root, ("a", "b"), seconds=0.3)
    tests = ("naturalness", "verifiability", "linkage", "words")
    design(material, Plan(tests, 12, 15)).save(root / "study")
    study, key = files.load(root / "study"), files.load_key(root / "study")
    store = AnswerStore(root / "answers.sqlite")
    store._base.execute("PRAGMA synchronous=OFF")  # nobody waits for this disk
    rng = np.random.default_rng(1)
    people = {
        name: Listener(0.75, 0.06 * rng.standard_normal(), 0.1, name in CHEATERS, TRUTH)
        for name in study.sessions
    }
    answer_all(study, key, store, people, rng)
    found = of_study(study, key, store.everything())
    store.close()
    return found


def test_cheaters_are_left_out_and_nobody_else(answered):
    found = qualities(*answered)
    assert {one.listener for one in found if not one.kept} == set(CHEATERS)
    for one in found:
        if one.listener in CHEATERS:
            assert one.traps < 0.7
            assert one.fast > 0.25
            assert any("before the recordings could end" in reason for reason in one.reasons)
            assert abs(one.agreement) < 0.4
        else:
            assert (one.traps, one.fast, one.gold) == (1.0, 0.0, 1.0)
            assert one.agreement > 0.4


def test_each_criterion_leaves_out_by_itself(answered):
    ratings, _ = answered
    own = [one for one in ratings if one.listener not in CHEATERS]
    assert all(one.kept for one in qualities(own, []))
    bad = [CheckResult("L001", f"p{i}", "gold", i == 0) for i in range(4)]
    assert qualities(own, bad)[0].reasons == ("25 % of gold items right",)
    noisy = [CheckResult("L001", f"compare-{i}", "compare", i == 0) for i in range(4)]
    assert "comparisons of noise" in qualities(own, noisy)[0].reasons[0]
    ears = [CheckResult("L001", f"headphones-{a}-{i}", "headphones", i < 2 + a)
            for a in (1, 2) for i in range(6)]  # fmt: skip
    assert qualities(own, ears)[0].headphones is False
    assert qualities(own, ears)[0].kept
    assert not qualities(own, ears, Criteria(headphones=True))[0].kept
    passed = [replace(one, right=True) if one.page.startswith("headphones-2") else one
              for one in ears]  # fmt: skip
    assert qualities(own, passed)[0].headphones is True
    for method, enough in (("huggins", False), ("antiphase", True)):  # as the page judges it
        five = [replace(one, right=not one.page.endswith("-5"), method=method) for one in ears]
        assert qualities(own, five)[0].headphones is enough
    same = [replace(one, score=5.0) if one.listener == "L001" else one for one in own
            if one.question == "naturalness"]  # fmt: skip
    assert "nearly the same rating everywhere" in qualities(same, [])[0].reasons
    mushra = [
        Rating("L001", f"p{i}", "mushra", "MUSHRA quality", system, f"u{i}", "s", score)
        for i in range(4)
        for system, score in (("original", 95.0 - 10 * (i < 1)), ("a", 50.0))
    ]
    assert "hidden reference" in qualities(mushra, [])[0].reasons[0]


@pytest.mark.parametrize("method", ["bootstrap", "mixed"])
def test_means_and_intervals_hold_the_truth(method):
    """Over simulated studies: 95 % intervals hold the mean of the population in about 95 %."""
    rng = np.random.default_rng(0)
    held, studies = 0, 40
    for _ in range(studies):
        people, items = rng.normal(0, 0.5, 20), rng.normal(0, 0.3, 20)
        ratings = [
            Rating(f"L{p}", f"i{i}", "t", "q", system, f"u{i}", f"u{i}",
                   truth + people[p] + items[i] + rng.normal(0, 0.5))
            for p in range(20) for i in range(20)
            for system, truth in (("a", 3.0), ("b", 2.0)) if (i + p + (system == "a")) % 2
        ]  # fmt: skip
        found = {one.system: one.mean for one in means(ratings, method, replicates=300)}
        held += found["a"].low <= 3.0 <= found["a"].high
        assert found["a"].value - found["b"].value == pytest.approx(1.0, abs=0.25)
    assert held >= 0.85 * studies


def test_figures_of_simulated_listeners(answered):
    results = analyse(*answered)
    found = {(q.question, q.kind): {m.system: m for m in q.means} for q in results.questions}
    natural = found["naturalness", ""]
    for system in ("original", "a", "b"):
        truth = min(10.0, 1.0 + 9.0 * TRUTH[system])
        assert natural[system].mean.value == pytest.approx(truth, abs=0.5)
    right = found["right in the line-up", ""]["a"].mean
    assert right.low < 0.75 + 0.25 * 0.2 < right.high
    words = found["word error rate", ""]["b"].mean
    assert words.low < 25.0 < words.high
    same, different = found["similarity", "same"], found["similarity", "different"]
    assert same["original"].mean.value > 8 > 4 > different["original"].mean.value
    eer = {one.system: one.eer for one in results.verification}
    assert eer["original"].value < 1.0
    assert eer["b"].low < 50.0 < eer["b"].high, "nobody tells voices of b apart"
    cost = {one.system: one for one in results.verification}
    assert cost["b"].least.value > 0.8 > 0.1 > cost["original"].least.value
    assert cost["original"].cllr.value < 0.5 < cost["b"].cllr.value
    tests = {(c.first, c.second): c for q in results.questions[:1] for c in q.comparisons}
    assert tests["original", "b"].corrected < 1e-6
    assert tests["original", "b"].superiority > 0.95
    text = sentences(results)
    assert set(text) == {"a", "b"}
    assert "people picked the speaker out of five" in text["a"]


def test_two_equal_systems_are_found_different_by_chance_alone():
    rng = np.random.default_rng(0)
    false = 0
    for _ in range(60):
        ratings = [
            Rating(f"L{p}", f"{s}{i}", "t", "q", s, f"u{i}", "", float(rng.integers(1, 6)))
            for p in range(6) for i in range(5) for s in "abcd"
        ]  # fmt: skip
        false += any(one.corrected < 0.05 for one in comparisons(ratings))
    assert false <= 8


def test_holm_against_statsmodels():
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(0).random(20) ** 3
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])
    assert holm([]).size == 0


def test_ranks_remove_a_listeners_use_of_the_scale():
    ratings = [
        Rating(f"L{p}", f"i{i}", "t", "q", "ab"[i % 2], f"u{i}", "", float(i) * scale + shift)
        for p, (scale, shift) in enumerate(((1.0, 0.0), (0.1, 5.0))) for i in range(6)
    ]  # fmt: skip
    found = ranked(ratings, items=False)
    assert found[:6] == pytest.approx(found[6:])


SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
).T
"""Table 2 of Shrout and Fleiss (1979), ``[judge, target]``."""


def test_icc_of_shrout_and_fleiss():
    """Their table 4: ICC(2,1) .29 and ICC(2,4) .62."""
    assert icc(SHROUT_FLEISS) == pytest.approx((0.29, 0.62), abs=0.005)


def test_icc_with_gaps_is_unbiased():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        table = rng.normal(0, 1, (1, 60)) + rng.normal(0, 0.5, (8, 1)) + rng.normal(0, 1, (8, 60))
        table[rng.random(table.shape) < 0.5] = np.nan
        found.append(icc(table)[0])
    assert np.mean(found) == pytest.approx(1.0 / 2.25, abs=0.02)


def test_krippendorffs_alpha_of_his_own_example():
    """Three coders of 15 units with gaps (Content Analysis, chapter 11): nominal 0.691."""
    example = """. . . . . 3 4 1 2 1 1 3 3 . 3
    1 . 2 1 3 3 4 3 . . . . . . .
    . . 2 1 3 4 4 . 2 1 1 3 3 . 4"""
    ratings = [
        Rating(f"L{who}", f"i{i}", "t", "q", "a", f"u{i}", "", float(value))
        for who, row in enumerate(example.splitlines())
        for i, value in enumerate(row.split()) if value != "."
    ]  # fmt: skip
    ordinal, nominal = agreement(ratings), agreement(ratings, nominal=True)
    assert ordinal.alpha.value == pytest.approx(0.807, abs=0.001)
    assert nominal.alpha.value == pytest.approx(0.691, abs=0.001)
    assert ordinal.alpha.low < ordinal.alpha.value < ordinal.alpha.high
    assert agreement(ratings[:5]) is None


def test_published_means_and_tests_follow_from_published_counts():
    """Turner et al. 2022, table 6: whole ratings from 1 to 5 with their sums and deviations give
    the printed means, deviations, and by the standard error the printed significance.
    """
    panel = panels_of("turner-2022", "table-6")[0]
    ratings = []
    for row in panel.rows:
        count, mean, deviation = (panel.number(row.label, c) for c in panel.columns)
        for number, score in enumerate(whole_ratings(int(count), mean, deviation)):
            name = "original" if row.label == "Original" else row.label
            who, place = f"L{number % 40}", f"u{number}"
            ratings.append(Rating(who, place, "acr", "quality", name, place, place, score))
    found = {one.system: one for one in means(ratings)}
    for row in panel.rows:
        name = "original" if row.label == "Original" else row.label
        _, mean, deviation = (panel.number(row.label, c) for c in panel.columns)
        assert found[name].mean.value == pytest.approx(mean, abs=5e-6)
        assert found[name].deviation == pytest.approx(deviation, abs=0.01)
    tests = {(c.first, c.second): c.corrected for c in comparisons(ratings)}
    alike = {"Proposed System", "Proposed System, theta 0.9"}
    ours = [p for pair, p in tests.items() if set(pair) == alike]
    assert ours[0] > 0.05, "the one pair that the paper finds alike"
    assert sorted(tests.values())[-2] < 1e-4, "all others differ, as printed"


def whole_ratings(count: int, mean: float, deviation: float) -> np.ndarray:
    """Whole numbers from 1 to 5 with the sum of a printed mean, near a printed deviation."""
    rng = np.random.default_rng(count)
    scores = np.clip(np.round(rng.normal(mean, deviation, 4 * count)), 1, 5)[:count]
    total = round(count * mean)
    for _ in range(100_000):
        gap = total - int(scores.sum())
        wide = scores.std(ddof=1) - deviation
        if gap == 0 and abs(wide) < 0.005:
            break
        one, other = rng.integers(count, size=2)
        if gap:
            step = 1 if gap > 0 else -1
            if 1 <= scores[one] + step <= 5:
                scores[one] += step
        elif one != other:
            high, low = (one, other) if scores[one] >= scores[other] else (other, one)
            step = -1 if wide > 0 else 1
            free = 1 <= scores[high] + step <= 5 and 1 <= scores[low] - step <= 5
            if free and (wide < 0 or scores[high] - scores[low] >= 2):
                scores[high] += step
                scores[low] -= step
    return scores


def test_objective_measures_are_correlated_by_system_and_by_recording(answered, tmp_path):
    ratings, _ = answered
    table = tmp_path / "measures.csv"
    table.write_text("system,EER,WER\noriginal,1,9\na,20,12\nb,40,30\n")
    found = objective_agreement.of_table(table)
    listed = objective_agreement.correlations(ratings, found)
    natural = next(c for c in listed if (c.measure, c.question) == ("EER", "naturalness"))
    assert natural.pearson < -0.95
    assert natural.spearman == pytest.approx(-1.0)
    assert (natural.level, len(natural.pairs)) == ("system", 3)
    rows = [f"{one.system}\t{one.utterance}\t{one.score}" for one in ratings
            if one.question == "naturalness"]  # fmt: skip
    table.write_text("system\tutterance\tMOS\n" + "\n".join(rows))
    listed = objective_agreement.correlations(ratings, objective_agreement.of_table(table))
    assert next(c for c in listed if c.question == "naturalness").level == "recording"
    table.write_text("system,EER\na,high\n")
    with pytest.raises(VoicenymError, match=r"line 2: EER 'high' is no number"):
        objective_agreement.of_table(table)
    table.write_text("EER\n1\n")
    with pytest.raises(VoicenymError, match="a column system"):
        objective_agreement.of_table(table)


def test_a_report_is_one_page_that_needs_nothing(answered, tmp_path):
    objective = {"EER": {("original", ""): 1.0, ("a", ""): 20.0, ("b", ""): 45.0}}
    page = listening_report.write(
        analyse(*answered, objective=objective), tmp_path / "r", "T", "H."
    )
    text = page.read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    for address in ("http://", "https://", "<script", "src="):
        assert address not in text
    order = [text.index(f">{title}<") for title in ("Verdict", "Summary", "By question",
             "Tests between systems", "Verification by listeners", "Agreement",
             "Objective measures", "Listeners")]  # fmt: skip
    assert order == sorted(order)
    assert "12 listeners, 10 of them kept" in text
    assert text.count("<svg") == 4
    data = json.loads((tmp_path / "r" / "results.json").read_text("utf-8"))
    assert len(data["listeners"]) == 12
    assert data["questions"][0]["means"][0]["system"] == "original"
    from voicenym.reproduction.listening import answers

    assert {one.question for one in answers(tmp_path / "r" / "answers.tsv")} >= {
        "naturalness", "similarity",
    }  # fmt: skip


def test_one_listener_gives_no_agreement_and_no_mixed_model(answered):
    ratings, checks = answered
    one = [r for r in ratings if r.listener == "L001"]
    results = analyse(one, [c for c in checks if c.listener == "L001"])
    assert "One listener" in results.notes[0]
    assert all(q.agreement is None for q in results.questions)
    with pytest.raises(VoicenymError, match="needs 3 listeners, and 1 answered"):
        analyse(one, intervals="mixed")
    with pytest.raises(VoicenymError, match="bootstrap, mixed"):
        analyse(one, intervals="guess")
    nobody = analyse([r for r in ratings if r.listener in CHEATERS], checks)
    assert nobody.questions == ()
    assert "No listener is left" in nobody.notes[0]
    assert "No listener is left" in listening_report.html(nobody, "T", "H")
