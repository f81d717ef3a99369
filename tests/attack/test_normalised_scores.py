"""Attackers with AS-norm, on synthetic vectors: the cohort lowers scores of common voices."""

from pathlib import Path

import numpy as np
import pytest

from voicenym import Key
from voicenym.attack.attackers import Ignorant, KeyHolder, LazyInformed, Unprotected
from voicenym.attack.normalised_scores import Normalised, cohort
from voicenym.attack.scenario import Model, Protection, Scenario
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import ORIGINAL, Anonymize, OtherFiles, Transform
from voicenym.errors import VoicenymError
from voicenym.verification.scoring import unit

DIMENSION = 16
USER, ATTACKER = (Key(bytes([i]) * 32) for i in (1, 2))


class Vectors:
    """Half of the people have a common voice, so that their scores are high with everybody."""

    def __init__(self):
        self.asked = []
        self._common = 2.0 * np.random.default_rng(0).standard_normal(DIMENSION)

    def vectors_or_reasons(self, verifier, recordings, transform):
        self.asked.append(([r.name for r in recordings], transform))
        return [self._one(r.name) for r in recordings]

    def kept(self, verifier, recordings, transform):
        return np.stack(self.vectors_or_reasons(verifier, recordings, transform)), list(recordings)

    def _one(self, name):
        person, number = map(int, name.split("-"))
        own = np.random.default_rng([7, person]).standard_normal(DIMENSION)
        noise = np.random.default_rng([8, person, number]).standard_normal(DIMENSION)
        return own + 0.45 * noise + self._common * (person % 2)


def recordings(people, numbers):
    return tuple(Recording(f"{p}-{n}", f"s{p}", Path("none")) for p in people for n in numbers)


@pytest.fixture
def scenario():
    models = tuple(Model(f"s{p}", f"s{p}", recordings([p], [0])) for p in range(40))
    trials = recordings(range(40), [10, 11])
    pool = recordings(range(100, 160), [0, 1])
    return Scenario(models, trials, Protection.by("vtln", USER), ATTACKER, pool)


def rate(scores, scenario):
    same = np.equal.outer(
        [m.speaker for m in scenario.models], [r.speaker for r in scenario.trials]
    )
    target, other = scores[same], scores[~same]
    thresholds = np.sort(scores.ravel())
    return min(max((target < t).mean(), (other >= t).mean()) for t in thresholds)


def test_common_voices_no_longer_look_like_everybody(scenario, spectrum):
    plain = rate(Unprotected().scores(scenario, spectrum, Vectors()), scenario)
    normal = rate(Normalised(Unprotected()).scores(scenario, spectrum, Vectors()), scenario)
    assert normal < 0.75 * plain


def test_strangers_undergo_what_the_enrolment_does(scenario, spectrum):
    pool = [r.name for r in scenario.pool]
    for attacker, steps in (
        (Ignorant(), ()),
        (LazyInformed(), (Anonymize("vtln", ATTACKER),)),
        (KeyHolder(), (Anonymize("vtln", USER),)),
    ):
        vectors = Vectors()
        Normalised(attacker).scores(scenario, spectrum, vectors)
        assert [t.steps for names, t in vectors.asked if names == pool] == [steps]
    files = Protection(Transform((OtherFiles({}),)))
    foreign = Scenario(scenario.models, scenario.trials, files, ATTACKER, scenario.pool)
    assert KeyHolder().cohort(foreign) == ORIGINAL


def test_a_stranger_is_the_mean_of_own_unit_vectors(scenario, spectrum):
    found = cohort(scenario, spectrum, Vectors(), ORIGINAL)
    assert found.shape == (60, DIMENSION)
    vectors = Vectors()
    first = unit(np.stack([vectors._one("100-0"), vectors._one("100-1")])).mean(0)
    np.testing.assert_allclose(found[0], first)


def test_too_few_strangers_are_refused(scenario, spectrum):
    alone = Scenario(
        scenario.models, scenario.trials, scenario.protection, ATTACKER, scenario.pool[:2]
    )
    with pytest.raises(VoicenymError, match="two speakers"):
        Normalised(Ignorant()).scores(alone, spectrum, Vectors())
