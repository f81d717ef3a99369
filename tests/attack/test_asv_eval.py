"""The challenge's attackers: when they run, on what they train, and how they score."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.attack.attacker_list import attackers
from voicenym.attack.attacker_resources import AttackerTraining, Resources
from voicenym.attack.trained.asv_eval import AsvEval2020, AsvEval2022, AsvEval2024, AsvEval2026
from voicenym.corpus.embedder import Embedder
from voicenym.verification.embedding_plda import EmbeddingPlda
from voicenym.verification.scoring import COSINE

pytest.importorskip("lightning")

XVECTOR = """
encoder: xvector
options: {channels: 8, pooled: 12, size: 6}
seconds: 0.4
batch: 8
speeds: [1.0]
margin: 0.0
steps: 4
every: 2
"""


@pytest.fixture
def training(tmp_path, monkeypatch):
    monkeypatch.setattr("voicenym.corpus.workers.cpu_count.cores", lambda: 1)
    return AttackerTraining(tmp_path / "attackers", 3600.0, None, voices=1)


def names(training, *named):
    resources = Resources("vtln", pool_recordings=200, pool_speakers=9, training=training)
    found = attackers(Resources(**{**vars(resources), "named": named}))
    return [one.name for one in found if one.name.startswith("asv-eval")]


def test_they_run_where_they_are_asked_for_by_name(training):
    assert names(training) == []
    assert names(training, "lazy-informed") == []
    assert names(training, "ASV-eval") == [f"asv-eval-{year}" for year in (2020, 2022, 2024, 2026)]
    assert names(training, "asv-eval-2022", "key search") == ["asv-eval-2022"]


def test_x_vectors_learn_from_original_or_from_anonymized_speech(
    scenario, training, tmp_path, spectrum
):
    config = tmp_path / "x.yaml"
    config.write_text(XVECTOR)
    originals = {np.rint(r.samples() * 32767).astype(np.int16).tobytes() for r in scenario.pool}
    places = []
    for kind in (AsvEval2020, AsvEval2022):

        class Tiny(kind):
            config = str(tmp_path / "x.yaml")

        folder = tmp_path / kind.__name__
        attacker = Tiny(AttackerTraining(folder, 3600.0, None, voices=1))
        with Embedder() as embedder:
            scores = attacker.scores(scenario, spectrum, embedder)
        assert scores.shape == (3, 3)
        assert np.isfinite(scores).all()
        cached = {path.read_bytes() for path in (folder / "speech").glob("*.i16")}
        assert bool(cached & originals) == (kind is AsvEval2020)
        assert [row["step"] for row in attacker.training_curve(scenario)] == [2, 4]
        places.append(attacker.place(scenario))
        trained = attacker.stored(places[-1])
        assert isinstance(trained, EmbeddingPlda)
        assert len(trained.backend().projection) == 1, "two speakers span one dimension"
    assert places[0].name != places[1].name


def test_enrolment_has_the_voices_of_its_year(scenario, training):
    for kind, per in (
        (AsvEval2020, "speaker"),
        (AsvEval2022, "speaker"),
        (AsvEval2024, "utterance"),
    ):
        attacker = kind(training)
        (transform,) = attacker.enrolment_voices(scenario)
        assert transform.steps[0].per == per
        keys = {t.steps[0].key for t in attacker._voices(scenario) if t.steps}
        assert transform.steps[0].key not in keys
        assert transform.steps[0].key != scenario.protection.transform.steps[0].key


def test_2026_mends_the_mean_of_2024(training, scenario):
    """A loud embedding outweighs the others in 2024's mean, and no longer in 2026's."""

    class Plain:
        score = staticmethod(COSINE.score)

    loud = [np.array([[100.0, 0.0], [0.0, 1.0], [0.0, 1.0]])]
    trial = np.array([[0.0, 5.0]])
    before = AsvEval2024(training).compared(Plain, loud, trial)
    after = AsvEval2026(training).compared(Plain, loud, trial)
    assert before[0, 0] == pytest.approx(2 / np.hypot(100, 2))
    assert after[0, 0] == pytest.approx(2 / np.hypot(1, 2))
    assert AsvEval2024(training).place(scenario) == AsvEval2026(training).place(scenario)
