"""The fusion of channels and searches weighs searches by how much they find on its own speech."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from voices_of_keys import Drawing, Listening, Spoken, drawn, recordings

from voicenym import Key
from voicenym.attack.attacker_resources import AttackerTraining, Resources
from voicenym.attack.attackers import Attacker
from voicenym.attack.channels.channel_branches import Branch
from voicenym.attack.fusion.channel_attackers import ChannelAttacker
from voicenym.attack.fusion.search_fusion import SemiInformedChannelsAndSearches
from voicenym.attack.scenario import Model, Scenario
from voicenym.attack.searches.key_search import KeySearch, candidate_keys
from voicenym.attack.searches.target_voices import NearestInTargetVoice
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.transforms import Transform
from voicenym.metrics import eer
from voicenym.verification.plda import PLDA
from voicenym.verification.verifier import Verifier

TESTED, POOL, TAKES = 20, 40, 4


class Habits(Verifier):
    """Vectors of another channel, which no key changes."""

    name, version = "habits", "1"

    def embed(self, recordings):
        numbers = [np.rint(samples[:2] * 32767.0).astype(int) for samples in recordings]
        rows = [drawn(4, speaker) + 0.8 * drawn(5, speaker, take) for speaker, take in numbers]
        return np.array(rows, dtype=np.float32)[:, :3]


HABITS = Branch(
    "habits",
    Habits(),
    np.stack,
    lambda numbers, speakers: PLDA.train(numbers, speakers, normalise=False),
)


class HabitsAlone(ChannelAttacker):
    name = "habits alone"

    def branches(self, scenario, verifier, embedder):
        return [HABITS]


class HabitsAndSearches(SemiInformedChannelsAndSearches):
    def branches(self, scenario, verifier, embedder):
        return [HABITS]


@pytest.fixture(scope="module")
def scenario(tmp_path_factory) -> Scenario:
    everybody = recordings(tmp_path_factory.mktemp("voices"), TESTED + POOL, TAKES)
    models = tuple(
        Model(f"m{s}", f"s{s}", tuple(everybody[TAKES * s : TAKES * s + 2]), "f")
        for s in range(TESTED)
    )
    tested = everybody[: TAKES * TESTED]
    trials = tuple(one for place, one in enumerate(tested) if place % TAKES >= 2)
    user = Drawing(Transform((Spoken(Key(bytes(32)), "speaker"),)), "drawing")
    pool = tuple(everybody[TAKES * TESTED :])
    return Scenario(models, trials, user, Key(bytes(range(32))), pool)


@pytest.fixture
def training(tmp_path):
    return AttackerTraining(tmp_path / "attackers", 0.0, voices=1)


def errors(attacker: Attacker, scenario: Scenario, own: float) -> float:
    with Embedder() as embedder:
        scores = attacker.scores(scenario, Listening(own), embedder)
    models = np.array([model.speaker for model in scenario.models])
    target = models[:, None] == np.array([trial.speaker for trial in scenario.trials])
    return 100.0 * eer(scores[target], scores[~target]).value


def weights(messages: list[str]) -> dict[str, float]:
    parts = messages[-1].split(": weights ")[1].split(", ")
    return {name: float(weight) for name, weight in (part.rsplit(" ", 1) for part in parts)}


def test_it_finds_more_than_the_channels_and_than_the_search(scenario, training):
    messages: list[str] = []
    search = KeySearch(24)
    fused = HabitsAndSearches(training, messages.append, (search,))
    alone = errors(HabitsAlone(training), scenario, 0.15), errors(search, scenario, 0.15)
    assert errors(fused, scenario, 0.15) < min(alone)
    assert weights(messages)["key search"] > 0.0


def test_a_search_that_finds_nobody_counts_for_little(scenario, training):
    messages: list[str] = []
    fused = HabitsAndSearches(training, messages.append, (NearestInTargetVoice(24),))
    alone = errors(HabitsAlone(training), scenario, 0.0)
    assert abs(errors(fused, scenario, 0.0) - alone) < 5.0
    shares = weights(messages)
    assert shares["nearest in target voice"] < 0.2 * shares["habits"]


@dataclass(frozen=True)
class Watched(KeySearch):
    """Keeps the scenarios that it is run on."""

    seen: list[Scenario] = field(default_factory=list, compare=False)

    def scores(self, scenario, verifier, embedder):
        self.seen.append(scenario)
        return super().scores(scenario, verifier, embedder)


@pytest.mark.parametrize("per", ["speaker", "utterance"])
def test_on_the_pool_a_search_knows_no_more_than_in_the_attack(scenario, training, per):
    search = Watched(3)
    protection = replace(scenario.protection, per=per)
    errors(
        HabitsAndSearches(training, lambda text: None, (search,)),
        replace(scenario, protection=protection),
        0.3,
    )
    *folds, attack = search.seen
    assert attack.trials == scenario.trials
    pool = {one.speaker for one in scenario.pool}
    assert {model.speaker for fold in folds for model in fold.models} == pool
    for fold in folds:
        enrolled = {one.name for model in fold.models for one in model.recordings}
        assert not enrolled & {one.name for one in fold.trials}, "no recording against itself"
        assert {one.speaker for one in fold.trials} <= {model.speaker for model in fold.models}
        (voice,) = fold.protection.transform.steps
        assert voice.per == per
        assert voice.key not in candidate_keys(fold.key, 24), "the key of the trials is not tried"
        assert voice.key != scenario.protection.transform.steps[0].key, "nor is it the user's"


def test_it_runs_where_the_system_can_be_run(training):
    there = Resources("vtln", pool_recordings=200, pool_speakers=40, training=training)
    (attacker,) = SemiInformedChannelsAndSearches.available(there)
    kinds = [search.name for search in attacker.searches]
    assert kinds == [
        "key search",
        "semi-informed (key search trained)",
        "nearest in target voice",
        "inversion",
    ]
    files = {"system": None, "anonymized_enrolment": True, "anonymized_pool": True}
    for change in (files, {"pool_speakers": 4}, {"training": None}, {"pool_recordings": 50}):
        assert SemiInformedChannelsAndSearches.available(replace(there, **change)) == []
