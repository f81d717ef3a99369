"""Scores that callers give, and what is said of those that are none."""

import numpy as np
import pytest
import torch

from voicenym.errors import ScoreError
from voicenym.metrics import SortedTrials, Speakers, bootstrap, cllr, eer, linkability, roc_band
from voicenym.metrics.trials.scores import check

TARGET, NONTARGET = np.array([2.0, 3.0, 1.5]), np.array([0.0, 1.0, 1.75])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (TARGET + 1j, "complex128"),
        (torch.tensor(TARGET + 1j), "complex128"),
        (np.ma.masked_less(TARGET, 2.0), r"masked; .*\.compressed"),
        ([[1.0], [1.0, 2.0]], "no array of real numbers"),
        (["high"], "no array of real numbers"),
        ((score for score in TARGET), "no array of real numbers"),
        ({1.0, 2.0}, "no array of real numbers"),
        (np.array(["2026-01-01"], "datetime64[D]"), "no array of real numbers"),
    ],
    ids=["complex", "tensor", "masked", "ragged", "text", "generator", "set", "dates"],
)
def test_what_are_no_scores_is_named(scores, message):
    for use in (check, eer, cllr):
        with pytest.raises(ScoreError, match=f"target scores .*{message}"):
            use(scores, NONTARGET)
    with pytest.raises(ScoreError, match="non-target scores"):
        eer(TARGET, scores)


@pytest.mark.parametrize(
    "scores",
    [TARGET.tolist(), np.array([4, 6, 3]) / 2, torch.tensor(TARGET), torch.tensor(TARGET[:, None]),
     torch.tensor(TARGET, requires_grad=True), torch.tensor(TARGET).bfloat16(),
     np.ma.masked_less(TARGET, 0.0)],
)  # fmt: skip
def test_scores_of_any_kind_of_numbers(scores):
    assert np.array_equal(check(scores, NONTARGET)[0], TARGET)
    assert eer(scores, NONTARGET) == eer(TARGET, NONTARGET)


def test_speakers_are_those_of_the_trials():
    pairs = np.zeros((3, 2), int)
    with pytest.raises(ScoreError, match=r"Speakers\(target, nontarget\), not tuple"):
        SortedTrials(TARGET, NONTARGET, (pairs, pairs))
    with pytest.raises(ScoreError, match="a speaker of the nontarget trials is NaN"):
        Speakers(pairs, pairs * np.nan)


@pytest.mark.parametrize("level", [95, 0, -1, 1.5, float("nan"), "0.95"])
@pytest.mark.parametrize("metric", [eer, cllr, linkability, roc_band])
def test_a_level_is_a_share(metric, level):
    with pytest.raises(ScoreError, match="a share above 0, of 1 at most"):
        metric(TARGET, NONTARGET, level=level, replicates=5)


@pytest.mark.parametrize("replicates", [0, -5, 1.5, "9", True])
def test_replicates_are_a_whole_number(replicates):
    for metric in (cllr, linkability, roc_band):
        with pytest.raises(ScoreError, match="replicates are a whole number from 1"):
            metric(TARGET, NONTARGET, replicates=replicates)
    with pytest.raises(ScoreError, match="replicates are a whole number from 1"):
        bootstrap(lambda scores: 0.0, TARGET, NONTARGET, replicates=replicates)
