"""V-Cloak's A3 with the key, on vectors with known results, and on sound."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from voicenym import Key
from voicenym.attack.attacker_resources import Resources
from voicenym.attack.attackers import KeyHolder, LazyInformed
from voicenym.attack.key_holder_per_trial import KeyHolderPerTrial
from voicenym.attack.scenario import Model, Protection, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import OtherFiles, Transform
from voicenym.metrics import eer

USER, ATTACKER = Key(bytes(32)), Key(bytes(range(32)))
DIMENSION, SPEAKERS = 64, 12


class Cloaked:
    """An embedder without sound: a vector is the voice's and, by a share, the speaker's own.

    Args:
        share: of the speaker; 0 is a system that hides everything but its voice.
    """

    def __init__(self, share):
        self.share, self.protected = share, 0

    def __call__(self, verifier, recordings, transform):
        return np.stack(self.vectors_or_reasons(verifier, recordings, transform))

    def vectors_or_reasons(self, verifier, recordings, transform):
        (step,) = transform.steps
        self.protected += len(recordings)
        return [self._one(step, recording) for recording in recordings]

    def _one(self, step, recording):
        whose = step.voice_of or recording
        utterance = whose.name if step.per == "utterance" else None
        voice = np.array(step.key.pseudonym(whose.speaker, utterance).normals("v", DIMENSION))
        own = [int(part) for part in recording.name.split("-")]
        noise = 0.3 * np.random.default_rng([1, *own]).standard_normal(DIMENSION)
        speaker = np.random.default_rng(own[0]).standard_normal(DIMENSION)
        return voice + self.share * speaker + noise


def recordings(speaker, numbers):
    return tuple(Recording(f"{speaker}-{n}", f"s{speaker}", Path("none")) for n in numbers)


@pytest.fixture
def scenario():
    models = tuple(Model(f"s{s}", f"s{s}", recordings(s, range(4))) for s in range(SPEAKERS))
    trials = tuple(r for s in range(SPEAKERS) for r in recordings(s, range(10, 20)))
    return Scenario(models, trials, Protection.by("vtln", USER), ATTACKER)


def rate(attacker, scenario, verifier, share):
    scores = attacker.scores(scenario, verifier, Cloaked(share))
    own = np.array([m.speaker for m in scenario.models])[:, None] == [
        r.speaker for r in scenario.trials
    ]
    return 100 * eer(scores[own], scores[~own]).value


def test_where_the_voice_is_everything_all_models_match_alike(scenario, spectrum):
    """Theorem 4 of the paper: all enrolment matches the trial, so this A3 has nothing to go by."""
    assert 42.0 < rate(KeyHolderPerTrial(), scenario, spectrum, 0.0) < 58.0
    assert rate(KeyHolder(), scenario, spectrum, 0.0) < 1.0, "voices tell people apart"
    assert 42.0 < rate(LazyInformed(), scenario, spectrum, 0.0) < 58.0


def test_what_the_system_leaves_of_the_speaker_is_found_under_a_common_voice(scenario, spectrum):
    rates = [rate(KeyHolderPerTrial(), scenario, spectrum, share) for share in (0.0, 0.1, 0.3, 1.0)]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 1.0


def test_voices_are_shared_by_the_trials_of_a_speaker_and_the_runs_are_limited(scenario, spectrum):
    embedder, trials = Cloaked(0.1), len(scenario.trials)
    attacker = KeyHolderPerTrial(keys=SPEAKERS)
    assert attacker.enrolled(scenario) == 4
    scores = attacker.scores(scenario, spectrum, embedder)
    assert scores.shape == (SPEAKERS, trials)
    assert embedder.protected == trials + SPEAKERS * len(scenario.enrolment)
    fewer, embedder = KeyHolderPerTrial(keys=SPEAKERS // 2), Cloaked(0.1)
    assert fewer.enrolled(scenario) == 2
    fewer.scores(scenario, spectrum, embedder)
    assert embedder.protected - trials == SPEAKERS * SPEAKERS * 2


def test_too_many_voices_are_refused_with_the_keys_that_suffice(scenario):
    by_utterance = replace(scenario, protection=Protection.by("vtln", USER, "utterance"))
    why = KeyHolderPerTrial(keys=24).obstacle(by_utterance)
    assert "120 voices" in why
    assert why.endswith("--keys 30")
    assert not KeyHolderPerTrial(keys=30).obstacle(by_utterance)
    assert "upper bound" not in why, "the key holder bounds no protection"
    assert "not tried" not in why


def test_the_trial_s_own_model_is_enrolled_as_the_trial_was_published(corpus, spectrum):
    """Scores of a trial and its own speaker are the key holder's; of others they are not."""
    models = tuple(
        Model(s, s, tuple(r for r in corpus if r.speaker == s)[:1]) for s in ("s0", "s1")
    )
    trials = tuple(r for r in corpus if r.name in ("s0-u1", "s1-u1"))
    scenario = Scenario(models, trials, Protection.by("vtln", USER), ATTACKER)
    embedder = Embedder()
    ours = KeyHolder().scores(scenario, spectrum, embedder)
    published = KeyHolderPerTrial().scores(scenario, spectrum, embedder)
    np.testing.assert_allclose(np.diag(published), np.diag(ours), atol=1e-6)
    assert abs(published[0, 1] - ours[0, 1]) > 1e-4


def test_files_have_no_other_voices():
    assert KeyHolderPerTrial.available(Resources()) == []
    files = Protection(Transform((OtherFiles({}),)))
    with pytest.raises(ValueError, match="no other voices"):
        files.with_voice_of(Recording("a", "b", Path("c")))
