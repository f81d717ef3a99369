"""Saved scores are read back and give the figures of the report."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("scipy")

from voicenym.errors import VoicenymError
from voicenym.evaluation import results_file
from voicenym.evaluation.comparisons import saved_scores
from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.evaluation_session import keep_scores
from voicenym.evaluation.measurements.protection import Attacked
from voicenym.metrics import eer
from voicenym.metrics.metric_inputs import Tally
from voicenym.metrics.verification.cllr import MIN_COST
from voicenym.metrics.verification.eer import EQUAL_ERROR_RATE
from voicenym.metrics.words.word_error_rate import WORDS


def test_scores_come_back_and_give_the_figures_of_the_report(found, tmp_path):
    evaluation, evidence = found
    words = {"sturdy": Tally(np.array([2.0, 3.0]), np.array([8.0, 12.0]), ("u", "v"), ("a", "b"))}
    saved_scores.save(evaluation, dataclasses.replace(evidence, words=words), tmp_path)
    for place in (tmp_path, tmp_path / "results.json"):
        again = saved_scores.load(place)
        for system in evaluation.systems:
            figure = again.drawn(EQUAL_ERROR_RATE, system.name)
            assert 100 * figure.value == pytest.approx(system.strongest.eer.value)
            assert figure.speakers.tolist() == sorted(f"s{i}" for i in range(8))
        assert again.drawn(WORDS, "sturdy").value == 0.25
        assert again.drawn(WORDS, "bent <script>") is None
        assert again.drawn(EQUAL_ERROR_RATE, "nobody") is None
        assert again.drawn(MIN_COST, "sturdy") is None, "there is no test of this metric"
    trials = evidence.trials
    top = evaluation.systems[1].strongest
    scores = evidence.scores["sturdy"][f"{top.attacker}, {top.verifier}"]
    same = again.pairs[:, 0] == again.pairs[:, 1]
    value = eer(again.scores["sturdy"][same], again.scores["sturdy"][~same]).value
    assert value == eer(scores[trials.target], scores[trials.nontarget]).value


def test_a_system_that_nobody_attacked_has_no_scores(found, tmp_path):
    evaluation, evidence = found
    first = evaluation.systems[0]
    holder = tuple(a for a in first.attacks if a.holds_key)
    alone = dataclasses.replace(evaluation, systems=(dataclasses.replace(first, attacks=holder),))
    saved_scores.save(alone, evidence, tmp_path)
    assert saved_scores.load(tmp_path).drawn(EQUAL_ERROR_RATE, first.name) is None


def test_older_reports_have_none_and_broken_ones_are_refused(found, tmp_path):
    assert saved_scores.load(tmp_path) is None
    (tmp_path / saved_scores.SCORES).write_bytes(b"nothing")
    with pytest.raises(VoicenymError, match="holds no scores"):
        saved_scores.load(tmp_path)
    path = saved_scores.save(*found, tmp_path)
    arrays = dict(np.load(path))
    np.savez(path, **{**arrays, "format": np.array(99)})
    with pytest.raises(VoicenymError, match="another release"):
        saved_scores.load(tmp_path)


@pytest.mark.parametrize(
    ("array", "spoilt", "fault"),
    [
        ("scores 0", lambda scores: scores[:-1], "scores of shape"),
        ("scores 0", lambda scores: np.where(np.arange(len(scores)), scores, np.nan), "are NaN"),
        ("scores 0", lambda scores: scores.astype(str), "<U32 scores"),
        ("pairs", lambda pairs: pairs[:, :1], "pairs of shape"),
        ("heard 0", lambda speakers: speakers[:1], "words of shape"),
    ],
)
def test_scores_that_do_not_belong_together_are_refused(found, tmp_path, array, spoilt, fault):
    evaluation, evidence = found
    first = evaluation.systems[0].name
    words = {first: Tally(np.array([2.0, 3.0]), np.array([8.0, 12.0]), ("u", "v"), ("a", "b"))}
    path = saved_scores.save(evaluation, dataclasses.replace(evidence, words=words), tmp_path)
    arrays = dict(np.load(path))
    np.savez(path, **{**arrays, array: spoilt(arrays[array])})
    with pytest.raises(VoicenymError, match=rf"scores\.npz: .*{fault}.*evaluate again"):
        saved_scores.load(tmp_path)


def test_scores_of_a_run_that_wrote_other_results_are_refused(found, tmp_path):
    """A run that ends between the two files leaves the scores of an earlier one."""
    evaluation, evidence = found
    results_file.save(evaluation, tmp_path)
    saved_scores.save(evaluation, evidence, tmp_path)
    assert saved_scores.load(tmp_path) is not None
    results_file.save(dataclasses.replace(evaluation, settings="another seed"), tmp_path)
    with pytest.raises(VoicenymError, match="of other results than results"):
        saved_scores.load(tmp_path)


def test_only_the_strongest_attackers_scores_stay_in_double_precision(found):
    """Memory grows with trials times attackers: those that are drawn alone have half of it."""
    evaluation, evidence = found
    kept = Evidence(evidence.trials)
    for system in evaluation.systems:
        attacks = [
            Attacked(a, evidence.scores[system.name][f"{a.attacker}, {a.verifier}"], 0.0)
            for a in system.attacks
        ]
        keep_scores(kept, system.name, attacks)
        top = f"{system.strongest.attacker}, {system.strongest.verifier}"
        for name, scores in kept.scores[system.name].items():
            assert scores.dtype == (np.float64 if name == top else np.float32)
            np.testing.assert_allclose(scores, evidence.scores[system.name][name], rtol=1e-6)
