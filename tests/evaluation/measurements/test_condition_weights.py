"""Weighted means over data sets, of figures other than trial scores."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")

from voicenym.corpus.recording import Recording
from voicenym.evaluation.measurements import condition_weights
from voicenym.evaluation.trial_plans.trials import Part, Trials, build
from voicenym.evaluation.trial_plans.voiceprivacy import WORDS
from voicenym.metrics.metric_inputs import Tally

OPTIONS = {"replicates": 40}


@pytest.fixture
def trials():
    """Two corpora of four speakers, which are parts of 0.3 and 0.1; for words, a half each."""
    test = build(
        [Recording(f"{c}{s}-{u}", f"{c}{s}", Path("x"), "f") for c in "lp" for s in range(4)
         for u in range(6)]
    )  # fmt: skip
    columns = np.array([r.name[0] for r in test.recordings])
    rows = np.array([m.name[0] for m in test.models])
    masks = [(rows[:, None] == c) & (columns == c) for c in "lp"]
    parts = tuple(Part(f"{c} f", m, w) for c, m, w in zip("lp", masks, (0.3, 0.1), strict=True))
    spoken = tuple(Part(c, m, 0.5) for c, m in zip("lp", masks, strict=True))
    return Trials(test.models, test.recordings, masks[0] | masks[1], (), parts, spoken)


def tally(trials, values, below=10.0, only="lp"):
    """One value for each recording of a corpus."""
    mine = [r for r in trials.recordings if r.name[0] in only]
    above = np.array([below * values[r.name[0]] for r in mine])
    names = tuple(r.name for r in mine)
    return Tally(above, np.full(len(mine), below), names, tuple(r.speaker for r in mine))


def test_words_count_by_corpus_and_melodies_by_data_set_and_sex(trials):
    assert WORDS == {"LibriSpeech": 0.5, "VCTK": 0.5}
    tallies = {
        "WER": tally(trials, {"l": 0.1, "p": 0.3}),
        "rho_F0": tally(trials, {"l": 0.8, "p": 0.4}, 1.0),
    }
    figures, notes = condition_weights.utility(tallies, trials, **OPTIONS)
    assert notes == []
    assert figures["weighted WER"].value == pytest.approx(20.0)
    assert figures["weighted WER"].unit == "%"
    assert figures["WER l"].value == pytest.approx(10.0)
    assert figures["weighted rho_F0"].value == pytest.approx((3 * 0.8 + 0.4) / 4)
    assert figures["rho_F0 p f"].value == pytest.approx(0.4)
    for name, figure in figures.items():
        if name.startswith("weighted"):
            assert figure.low == pytest.approx(figure.value) == figure.high
        else:
            assert figure.low is figure.high is None, "of fewer than five speakers"


def test_missing_parts_lose_their_weight_and_are_reported(trials):
    figures, notes = condition_weights.utility(
        {"WER": tally(trials, {"l": 0.1}, only="l")}, trials, **OPTIONS
    )
    assert figures["weighted WER"].value == pytest.approx(10.0)
    assert notes == ["the weighted mean of WER lacks parts, whose weight the others bear: p"]
    bare = Trials(trials.models, trials.recordings, trials.tested)
    assert condition_weights.utility({"WER": tally(trials, {"l": 0.1, "p": 0.3})}, bare) == ({}, [])
    assert condition_weights.distinctiveness(np.eye(2), np.eye(2), bare) == ({}, [])


def test_distinctiveness_is_a_mean_of_decibels_of_each_part_by_itself(trials):
    rng = np.random.default_rng(0)
    people = {m.speaker: rng.standard_normal(16) for m in trials.models}
    noise = 0.3 * rng.standard_normal((len(trials.recordings), 16))
    original = np.stack([people[r.speaker] for r in trials.recordings]) + noise
    merged = np.array([r.name[0] == "p" for r in trials.recordings])[:, None]
    published = np.where(merged, np.ones(16) + 5 * noise, original)
    figures, notes = condition_weights.distinctiveness(original, published, trials, **OPTIONS)
    assert notes == []
    assert figures["G_VD l f"].value == pytest.approx(0.0)
    assert figures["G_VD p f"].value < -3.0
    mean = 0.25 * figures["G_VD p f"].value
    assert figures["weighted G_VD"].value == pytest.approx(mean)
    assert figures["weighted G_VD"].low <= mean <= figures["weighted G_VD"].high
