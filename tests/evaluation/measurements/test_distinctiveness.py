"""Voice distinctiveness before and after, from vectors with known results."""

from pathlib import Path

import numpy as np
import pytest

from voicenym.corpus.recording import Recording
from voicenym.evaluation.measurements.distinctiveness import measure, unknown
from voicenym.evaluation.trial_plans.trials import build
from voicenym.metrics.metric_inputs import speaker_means


@pytest.fixture
def trials():
    return build(
        [Recording(f"s{s}-{u}", f"s{s}", Path("none")) for s in range(12) for u in range(7)]
    )


def vectors(trials, clearness, seed=0, shared=0.0):
    """Each speaker's own voice, what all share, and what is the recording's."""
    rng = np.random.default_rng(seed)
    people = {m.speaker: rng.standard_normal(24) for m in trials.models}
    common = shared * rng.standard_normal(24)
    noise = 0.2 * rng.standard_normal((len(trials.recordings), 24))
    return np.stack([clearness * people[r.speaker] + common for r in trials.recordings]) + noise


def test_unchanged_vectors_lose_no_distinctiveness(trials):
    x = vectors(trials, 1.0)
    matrices, figures = measure(x, x, trials, 50)
    assert set(matrices) == {"oo", "oa", "aa"}
    assert figures["G_VD"].value == pytest.approx(0.0)
    assert figures["DeID"].value == pytest.approx(0.0, abs=0.01)
    assert figures["D_KS"].value == 0.0
    assert figures["D_KS"].unit == "share"
    for block in ("oo", "oa", "aa"):
        own, others = figures[f"M_{block} own"], figures[f"M_{block} others"]
        assert own.low <= own.value <= own.high
        assert own.value > others.value
        matrix = matrices[block]
        assert own.value == pytest.approx(np.diagonal(matrix).mean())
        assert others.value == pytest.approx(matrix[~np.eye(12, dtype=bool)].mean())


def test_voices_that_became_alike_are_far_from_the_originals_in_diversity(trials):
    original = vectors(trials, 1.0)
    _, alike = measure(original, vectors(trials, 0.3, shared=2.0), trials, 50)
    _, others = measure(original, vectors(trials, 1.0, seed=1), trials, 50)
    assert alike["D_KS"].value > 0.9
    assert others["D_KS"].value < 0.3
    assert alike["D_KS"].low <= alike["D_KS"].value <= alike["D_KS"].high
    assert others["DeID"].value > 0.8


def test_with_one_recording_of_each_speaker_distinctiveness_is_not_measured(trials):
    single = build([Recording(f"s{s}-{u}", f"s{s}", Path("none")) for s in range(6) for u in "ab"])
    x = vectors(single, 1.0)
    _, figures = measure(x, x, single, 50)
    assert not any(np.isnan(figure.value) for figure in figures.values())
    assert "G_VD" not in figures
    (note,) = unknown(single)
    assert note.startswith("G_VD, DeID and mean similarities were not measured: no speaker has two")
    assert not unknown(trials)


def test_a_voice_is_the_mean_of_its_vectors(trials):
    found = speaker_means(np.array([[0.0, 2.0], [1.0, 1.0], [4.0, 0.0]]), np.array(["b", "a", "b"]))
    np.testing.assert_allclose(found, [[1.0, 1.0], [2.0, 1.0]])
