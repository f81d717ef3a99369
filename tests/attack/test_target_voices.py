"""Nearest neighbour by target voice finds sources that other target voices hide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import soundfile

from voicenym import Key
from voicenym.attack.attackers import LazyInformed
from voicenym.attack.scenario import Model, Protection, Scenario
from voicenym.attack.target_voices import NearestInTargetVoice
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import EVERYBODY, Transform
from voicenym.metrics import eer
from voicenym.verification.verifier import Verifier

RATE, SIZE, VOICES = 16_000, 24, 6
SPEAKERS, TAKES = 20, 5


def drawn(*seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=SIZE)


@dataclass(frozen=True)
class Spoken:
    """Writes the number of a target voice, one of a few, into the third sample."""

    key: Key
    per: str
    description = "a voice"

    def voice(self, recording: Recording) -> int:
        who = "" if self.per == EVERYBODY else recording.speaker
        return int(self.key.tag("voice", who)[:8], 16) % VOICES

    def identity(self, recording: Recording) -> str:
        return f"voice {self.voice(recording)}"

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        changed = samples.copy()
        changed[2] = self.voice(recording) / 32767.0
        return changed


class Drawing(Protection):
    """A system whose target voices are drawn from keys."""

    def with_key(self, key, per):
        return Transform((Spoken(key, per),))


class Listening(Verifier):
    """A vector is mostly that of the target voice, and ``own`` of it the source's."""

    name = "listening"

    def __init__(self, own: float) -> None:
        self.own, self.version = own, str(own)

    def embed(self, recordings):
        rows = []
        for samples in recordings:
            speaker, take, voice = np.rint(samples[:3] * 32767.0).astype(int)
            source = self.own * drawn(1, speaker) + 0.2 * drawn(2, speaker, take, voice)
            rows.append(4.0 * drawn(3, voice) + source)
        return np.array(rows, dtype=np.float32)


@pytest.fixture(scope="module")
def scenario(tmp_path_factory) -> Scenario:
    folder = tmp_path_factory.mktemp("voices")
    everybody = []
    for speaker in range(SPEAKERS):
        for take in range(TAKES):
            samples = np.full(RATE // 8, 1000, dtype=np.int16)
            samples[:2] = speaker, take
            path = folder / f"{speaker}-{take}.wav"
            soundfile.write(path, samples, RATE)
            everybody.append(Recording(path.stem, f"s{speaker}", path, "f"))
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
