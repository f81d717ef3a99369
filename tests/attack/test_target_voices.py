"""Nearest neighbour by target voice finds sources that other target voices hide."""

from __future__ import annotations

import numpy as np
import pytest
from voices_of_keys import Drawing, Listening, Spoken, recordings

from voicenym import Key
from voicenym.attack.attackers import LazyInformed
from voicenym.attack.scenario import Model, Scenario
from voicenym.attack.searches.target_voices import NearestInTargetVoice
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.transforms import Transform
from voicenym.metrics import eer

SPEAKERS, TAKES = 20, 5


@pytest.fixture(scope="module")
def scenario(tmp_path_factory) -> Scenario:
    everybody = recordings(tmp_path_factory.mktemp("voices"), SPEAKERS, TAKES)
    models = tuple(
        Model(f"m{s}", f"s{s}", tuple(everybody[TAKES * s : TAKES * s + 3]), "f")
        for s in range(SPEAKERS)
    )
    trials = tuple(r for i, r in enumerate(everybody) if i % TAKES >= 3)
    user = Drawing(Transform((Spoken(Key(bytes(32)), "speaker"),)), "drawing")
    return Scenario(models, trials, user, Key(bytes(range(32))))


def errors(attacker, scenario: Scenario, own: float) -> float:
    with Embedder() as embedder:
        scores = attacker.scores(scenario, Listening(own), embedder)
    models = np.array([model.speaker for model in scenario.models])
    target = models[:, None] == np.array([trial.speaker for trial in scenario.trials])
    return 100.0 * eer(scores[target], scores[~target]).value


def test_it_finds_the_source_within_the_target_voice(scenario):
    nearest = NearestInTargetVoice(keys=24, nearest=1)
    assert errors(nearest, scenario, 0.3) < 10.0
    assert errors(LazyInformed(), scenario, 0.3) > 25.0, "other voices hide the source"


def test_it_finds_nobody_where_nothing_of_the_source_is_left(scenario):
    # a voice for each speaker is shared by several; 40 targets: 50 +- 2 standard errors
    assert 33.0 < errors(NearestInTargetVoice(keys=24), scenario, 0.0) < 67.0
