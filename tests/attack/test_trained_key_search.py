"""A trained key search learns which differences within a voice are of the speaker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from voices_of_keys import Drawing, Listening, Spoken, drawn, recordings

from voicenym import Key
from voicenym.attack.attacker_resources import Resources
from voicenym.attack.scenario import Model, Scenario
from voicenym.attack.searches.key_search import KeySearch
from voicenym.attack.searches.trained_key_search import (
    SHRINKAGE,
    SemiInformedKeySearch,
    within_class_whitening,
)
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.transforms import Transform
from voicenym.metrics import eer

TESTED, POOL, TAKES = 20, 50, 4


class Distracted(Listening):
    """Six of the numbers are mostly of the recording."""

    def embed(self, recordings):
        vectors = super().embed(recordings)
        for row, samples in zip(vectors, recordings, strict=True):
            speaker, take = np.rint(samples[:2] * 32767.0).astype(int)
            row[:6] += 0.8 * drawn(6, speaker, take)[:6]
        return vectors


@pytest.fixture(scope="module")
def scenario(tmp_path_factory) -> Scenario:
    everybody = recordings(tmp_path_factory.mktemp("voices"), TESTED + POOL, TAKES)
    tested, pool = everybody[: TAKES * TESTED], everybody[TAKES * TESTED :]
    models = tuple(
        Model(f"m{s}", f"s{s}", tuple(tested[TAKES * s : TAKES * s + 2]), "f")
        for s in range(TESTED)
    )
    trials = tuple(one for place, one in enumerate(tested) if place % TAKES >= 2)
    user = Drawing(Transform((Spoken(Key(bytes(32)), "speaker"),)), "drawing")
    return Scenario(models, trials, user, Key(bytes(range(32))), tuple(pool))


def errors(attacker, scenario: Scenario, own: float) -> float:
    with Embedder() as embedder:
        scores = attacker.scores(scenario, Distracted(own), embedder)
    assert scores.shape == (len(scenario.models), len(scenario.trials))
    models = np.array([model.speaker for model in scenario.models])
    target = models[:, None] == np.array([trial.speaker for trial in scenario.trials])
    return 100.0 * eer(scores[target], scores[~target]).value


def test_it_finds_more_than_a_search_that_learns_nothing(scenario):
    trained = errors(SemiInformedKeySearch(24), scenario, 0.3)
    assert trained < 15.0
    assert trained < 0.7 * errors(KeySearch(24), scenario, 0.3)


def test_it_finds_nobody_where_nothing_of_the_source_is_left(scenario):
    # a voice for each speaker is shared by several; 40 targets: 50 +- 2 standard errors
    assert 33.0 < errors(SemiInformedKeySearch(24), scenario, 0.0) < 67.0


def test_whitened_vectors_have_the_unit_matrix_within_speakers_but_for_the_shrinkage():
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(5, 5))
    rest = rng.normal(size=(4000, 5)) @ mixing
    speakers = [str(n) for n in range(1000) for _ in range(4)]
    vectors = 10.0 * np.repeat(rng.normal(size=(1000, 5)), 4, axis=0) + rest
    whitening = within_class_whitening(vectors, speakers)
    parts = rest.reshape(1000, 4, 5)
    parts = (parts - parts.mean(1, keepdims=True)).reshape(-1, 5)
    within = parts.T @ parts / len(parts)
    shrunk = (1 - SHRINKAGE) * within + SHRINKAGE * np.trace(within) / 5 * np.eye(5)
    np.testing.assert_allclose(whitening @ shrunk @ whitening, np.eye(5), atol=1e-9)
    np.testing.assert_allclose(whitening, whitening.T, atol=1e-12)


def test_vectors_that_do_not_differ_are_compared_without_a_warning():
    whitening = within_class_whitening(np.zeros((6, 3)), list("aabbcc"))
    assert np.isfinite(np.zeros(3) @ whitening).all()


def test_it_needs_the_system_and_speech_of_other_people():
    there = Resources("vtln", pool_recordings=200, pool_speakers=40)
    assert SemiInformedKeySearch.available(there)
    for change in ({"system": None}, {"pool_recordings": 50}, {"pool_speakers": 1}):
        assert SemiInformedKeySearch.available(replace(there, **change)) == []
