"""Attackers on synthetic vectors with known results, and on sound."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from voicenym import Key
from voicenym.attack import attacker_list, attackers
from voicenym.attack.attacker_resources import Resources
from voicenym.attack.scenario import Model, Protection, Scenario
from voicenym.attack.searches import inversion, key_search
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import EVERYBODY, Anonymize, OtherFiles, Undo

USER, ATTACKER = Key(bytes(32)), Key(bytes(range(32)))
DIMENSION, SPEAKERS, VOICES = 24, 20, 6


def error_rate(scores, scenario):
    """Share of impostors that score above the median target: 0.5 by chance."""
    same = np.array([m.speaker for m in scenario.models])[:, None] == [
        r.speaker for r in scenario.trials
    ]
    return float(np.mean(scores[~same] >= np.median(scores[same])))


class Vectors:
    """An embedder that needs no sound: the system turns a speaker's vector by one of few voices."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self._rotations = [
            np.linalg.qr(rng.standard_normal((DIMENSION, DIMENSION)))[0] for _ in range(VOICES)
        ]
        self._people = rng.standard_normal((SPEAKERS, DIMENSION))

    def __call__(self, verifier, recordings, transform):
        return np.stack(self.vectors_or_reasons(verifier, recordings, transform))

    def vectors_or_reasons(self, verifier, recordings, transform):
        return [self._one(r, transform) for r in recordings]

    def kept(self, verifier, recordings, transform):
        return self(verifier, recordings, transform), list(recordings)

    def _one(self, recording, transform):
        speaker, number = map(int, recording.name.split("-"))
        noise = np.random.default_rng([speaker, number]).standard_normal(DIMENSION)
        vector = self._people[speaker] + 0.3 * noise
        for step in transform.steps:
            if isinstance(step, OtherFiles):
                voice = int(step.files[recording.name].stem)
                vector = self._rotations[voice] @ vector
                continue
            assert isinstance(step, Anonymize)
            who = EVERYBODY if step.per == EVERYBODY else recording.speaker
            voice = step.key.pseudonym(who).index("voice", VOICES)
            vector = self._rotations[voice] @ vector
        return vector


@pytest.fixture
def scenario():
    def recordings(speaker, numbers):
        return tuple(Recording(f"{speaker}-{n}", f"s{speaker}", Path("none")) for n in numbers)

    models = tuple(
        Model(f"s{s}", f"s{s}", recordings(s, range(3 + s % 2))) for s in range(SPEAKERS)
    )
    trials = tuple(r for s in range(SPEAKERS) for r in recordings(s, range(10, 14)))
    return Scenario(models, trials, Protection.by("vtln", USER), ATTACKER)


def test_strength_of_knowledge_is_as_it_must_be(scenario, spectrum):
    found = {
        a.name: error_rate(a.scores(scenario, spectrum, Vectors()), scenario)
        for a in (
            attackers.Unprotected(),
            attackers.Ignorant(),
            attackers.LazyInformed(),
            attackers.KeyHolder(),
            key_search.KeySearch(keys=40),
        )
    }
    assert found["unprotected"] < 0.001
    assert found["key-holder"] < 0.001
    assert found["ignorant"] > 0.2
    assert found["lazy-informed"] > 0.2
    assert found["key search"] < 0.01, "six voices are searched at once"


def of_files(recordings, key):
    """Files that say in their names under which of the key's voices they were made."""
    voices = {r.name: key.pseudonym(r.speaker).index("voice", VOICES) for r in recordings}
    return {name: Path(f"{voice}.wav") for name, voice in voices.items()}


def test_files_under_the_attackers_key_are_as_good_as_the_system(scenario, spectrum):
    pool = tuple(Recording(f"{s}-{n}", f"s{s}", Path("none")) for s in range(8) for n in (20, 21))
    by_system = dataclasses.replace(scenario, pool=pool)
    attackers_files = of_files([*scenario.enrolment, *pool], ATTACKER)
    protection = Protection.by_files(of_files(scenario.trials, USER), attackers_files)
    by_files = dataclasses.replace(by_system, protection=protection)
    for attacker in (attackers.Ignorant(), attackers.LazyInformed()):
        expected = attacker.scores(by_system, spectrum, Vectors())
        np.testing.assert_allclose(attacker.scores(by_files, spectrum, Vectors()), expected)
    back_end = attackers.SemiInformedBackEnd()
    assert back_end.scores(by_files, spectrum, Vectors()).shape == (SPEAKERS, len(scenario.trials))
    keys = [(ATTACKER, "speaker"), (USER, "utterance")]
    assert len(protection.with_keys(keys)) == 1, "files are the same for every key"
    assert len(scenario.protection.with_keys(keys)) == 2
    with pytest.raises(ValueError, match="only known by its files"):
        protection.with_key(ATTACKER, EVERYBODY)
    with pytest.raises(ValueError, match="only known by its files"):
        Protection.by_files(of_files(scenario.trials, USER)).with_key(ATTACKER, "speaker")


def test_a_scenario_knows_what_files_there_are(scenario):
    pool = (Recording("9-20", "s9", Path("none")), Recording("9-21", "s9", Path("none")))
    published = of_files(scenario.trials, USER)

    def of(files):
        protection = Protection.by_files(published, of_files(files, ATTACKER))
        return dataclasses.replace(scenario, protection=protection, pool=pool)

    assert not of([]).has_protected_enrolment
    enrolled = of(scenario.enrolment)
    assert (enrolled.has_protected_enrolment, enrolled.has_protected_pool) == (True, False)
    assert not of([*scenario.enrolment, pool[0]]).has_protected_pool, "one of two is missing"
    assert of([*scenario.enrolment, *pool]).has_protected_pool
    assert scenario.has_protected_pool, "a system can be run on any recording"
    assert enrolled.protection.protects
    assert not Protection.nothing().protects


def test_scores_are_models_by_trials_and_do_not_depend_on_the_order(scenario, spectrum):
    backwards = dataclasses.replace(
        scenario, models=scenario.models[::-1], trials=scenario.trials[::-1]
    )
    for attacker in (attackers.LazyInformed(), key_search.KeySearch(keys=5)):
        scores = attacker.scores(scenario, spectrum, Vectors())
        assert scores.shape == (SPEAKERS, len(scenario.trials))
        other = attacker.scores(backwards, spectrum, Vectors())
        np.testing.assert_allclose(other[::-1, ::-1], scores, atol=1e-9)


def test_marginal_of_one_guess_ranks_models_as_the_cosine_does():
    cosines = np.random.default_rng(0).uniform(-1, 1, (1, 7, 9))
    scores = key_search.marginal(cosines, 50.0)
    np.testing.assert_array_equal(scores.argsort(0), cosines[0].argsort(0))
    np.testing.assert_allclose(np.exp(scores).mean(0), 1.0)


def test_marginal_stands_any_concentration():
    cosines = np.random.default_rng(0).uniform(-1, 1, (5, 4, 3)).astype(np.float32)
    assert np.isfinite(key_search.marginal(cosines, 1e5)).all()


def test_inversion_brings_mcadams_back(corpus, spectrum):
    """Undone by the right guess, a recording is nearer to its original than protected."""
    protected = Protection.by("mcadams", USER)
    alpha = USER.pseudonym("s1").uniform("mcadams.alpha", 0.5, 0.9)
    recordings = [r for r in corpus if r.speaker == "s1"]
    embedder = Embedder()
    original = embedder(spectrum, recordings)
    hidden = embedder(spectrum, recordings, protected.transform)
    undo = Undo("mcadams", (("low", 1 / alpha), ("high", 1 / alpha)))
    undone = embedder(spectrum, recordings, protected.transform.then(undo))
    assert np.linalg.norm(undone - original) < 0.6 * np.linalg.norm(hidden - original)


def test_guesses_of_mcadams_cover_its_range():
    guesses = inversion.inversions("mcadams", count=9)
    bent = sorted(dict(g.parameters)["low"] for g in guesses)
    assert len(guesses) == 9
    assert bent[0] == pytest.approx(1 / 0.9, abs=1e-3)
    assert bent[-1] == pytest.approx(2.0, abs=1e-3)
    assert inversion.inversions("recast") == inversion.inversions(None) == ()
    assert len(inversion.inversions("pv-tsm")) == len(inversion.inversions("formant")) == 12
    chosen = inversion.inversions("mcadams", {"low": 0.8, "high": 0.8}, 2)
    assert {dict(g.parameters)["low"] for g in chosen} == {1.25}


def test_files_of_others_are_attacked_without_their_system(corpus, spectrum, tmp_path):
    import soundfile

    from voicenym.corpus.transforms import OtherFiles, Transform

    files = {}
    for recording in corpus:
        files[recording.name] = tmp_path / f"{recording.name}.wav"
        soundfile.write(files[recording.name], recording.samples()[::-1], 16000)
    models = tuple(Model(s, s, (r,)) for s in ("s0", "s1") for r in corpus if r.name == f"{s}-u0")
    trials = tuple(r for r in corpus if r.name.endswith("u1"))[:2]
    scenario = Scenario(models, trials, Protection(Transform((OtherFiles(files),))), ATTACKER)
    names = [a.name for a in attacker_list.attackers(Resources(keys=2))]
    assert names == ["ignorant", "key-holder"]
    scores = attackers.Ignorant().scores(scenario, spectrum, Embedder())
    assert scores.shape == (2, 2)
    assert (scores.diagonal() > scores[[0, 1], [1, 0]]).all(), "time reversal keeps the spectrum"


def test_denoising_attackers_have_their_names():
    assert attackers.Denoising("median").name == "de-noising (median)"
    assert attackers.Denoising("median") == attackers.Denoising("median")


def test_people_of_one_recording_that_no_key_changes_leave_the_comparison_as_it_is(
    scenario, spectrum
):
    """As with ``musa:voice=empty``, whose voice is the same under every key."""

    class Unchanged(Vectors):
        def kept(self, verifier, recordings, transform):
            return np.stack([self._people[int(r.speaker[1:])] for r in recordings]), recordings

    once = tuple(Recording(f"{s}-20", f"s{s}", Path("none")) for s in range(8))
    alone = dataclasses.replace(scenario, pool=once)
    found = attackers.SemiInformedBackEnd().scores(alone, spectrum, Unchanged())
    expected = attackers.LazyInformed().scores(alone, spectrum, Unchanged())
    np.testing.assert_array_equal(found, expected)
    twice = tuple(Recording(f"{s}-21", f"s{s}", Path("none")) for s in range(8))
    some = dataclasses.replace(scenario, pool=(*once, *twice))
    assert np.isfinite(attackers.SemiInformedBackEnd().scores(some, spectrum, Vectors())).all()
