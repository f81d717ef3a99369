"""Levels of guessing and of luck on given trials, against attackers who know nothing or all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")

from voicenym.attack.scenario import Model
from voicenym.corpus.recording import Recording
from voicenym.evaluation.measurements import chance_levels
from voicenym.evaluation.measurements.protection import candidates, measured
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.metrics.identification import FOUND_FOR_SURE, RANK_ONE
from voicenym.metrics.trials.scores import Sorted
from voicenym.metrics.verification.zebra import disclosure, worst_case

SHUFFLES = 200
LEVELS = {"D_ECE", "worst case", "found for sure"}


def trials(sexes: str, recordings: int) -> Trials:
    """Each speaker against all of the same sex."""
    people = [(f"s{number:02}", sex) for number, sex in enumerate(sexes)]
    models = tuple(
        Model(who, who, (Recording(f"{who}-e", who, Path("none"), sex),), sex)
        for who, sex in people
    )
    tried = tuple(
        Recording(f"{who}-{place}", who, Path("none"), sex)
        for who, sex in people
        for place in range(recordings)
    )
    tested = np.array([[model.sex == one.sex for one in tried] for model in models])
    return Trials(models, tried, tested)


def noise(test: Trials, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(test.tested.shape)


def figures(scores: np.ndarray, test: Trials) -> dict[str, float]:
    both = Sorted.of(scores[test.target], scores[test.nontarget])
    found = {"D_ECE": disclosure(both), "worst case": worst_case(both)}
    sure = FOUND_FOR_SURE(candidates(scores, test, 2))
    return found if sure is None else {**found, "found for sure": sure.value}


def test_rank_one_of_guesses_is_the_mean_of_one_in_the_candidates():
    """Of 40 women and 4 men, not one in the mean number of candidates, 2.7 %."""
    test = trials("f" * 40 + "m" * 4, 6)
    level = chance_levels.expected(test)["rank-1"]
    assert level == pytest.approx(100.0 * (40 / 44 / 40 + 4 / 44 / 4))
    rates = [RANK_ONE(candidates(noise(test, seed), test, 2)).value for seed in range(60)]
    error = np.std(rates) / np.sqrt(len(rates))
    assert abs(np.mean(rates) - level) < 4 * error


def test_recordings_without_a_search_do_not_count():
    """A speaker against nobody else, and one who is not enrolled."""
    test = trials("ffm", 2)
    assert chance_levels.expected(test) == {"rank-1": pytest.approx(50.0)}
    assert chance_levels.expected(Trials(test.models, test.recordings, test.target)) == {}


def one_by_one(test: Trials, seed: int) -> np.ndarray:
    return noise(test, seed)


def alike(test: Trials, seed: int) -> np.ndarray:
    """A speaker's recordings resemble each other, as those in one pseudo-voice do."""
    own = np.random.default_rng(seed).standard_normal((len(test.models), len(test.models)))
    columns = [int(recording.speaker[1:]) for recording in test.recordings]
    return own[:, columns] + 0.3 * noise(test, seed + 1000)


@pytest.mark.parametrize("attacker", [one_by_one, alike])
def test_about_one_in_twenty_attackers_who_know_nothing_exceeds_luck(attacker):
    test, rounds = trials("f" * 12 + "m" * 8, 4), 40
    beyond = dict.fromkeys(LEVELS, 0)
    for seed in range(rounds):
        scores = attacker(test, seed)
        luck = chance_levels.by_luck(scores, test, SHUFFLES)
        for name, value in figures(scores, test).items():
            beyond[name] += value > luck[name]
    # of 40 attackers with a chance of 5 %, more than 7 are beyond in one of 1,000 cases
    assert max(beyond.values()) <= 7


@pytest.mark.parametrize("sexes", ["fff", "ffmm", "f" * 12], ids=["three", "two pairs", "twelve"])
def test_an_attacker_who_knows_all_exceeds_luck_however_few_the_speakers(sexes):
    test = trials(sexes, 4)
    scores = noise(test, 0) + 20.0 * test.target
    luck = chance_levels.by_luck(scores, test, SHUFFLES)
    found = figures(scores, test)
    assert all(found[name] > luck[name] for name in ("D_ECE", "found for sure"))


def test_one_speaker_found_by_luck_is_less_than_luck_reaches():
    """Each speaker's recordings point to one enrolled person at random: one hits on average."""
    test = trials("f" * 12, 4)
    luck = chance_levels.by_luck(alike(test, 0), test, SHUFFLES)
    assert luck["found for sure"] > 8.3


def test_scores_that_are_all_equal_do_not_exceed_luck():
    test = trials("f" * 6, 3)
    scores = np.zeros(test.tested.shape)
    luck = chance_levels.by_luck(scores, test, SHUFFLES)
    assert all(value <= luck[name] for name, value in figures(scores, test).items())


def test_lists_of_pairs_are_shuffled_recording_by_recording():
    """Each recording is tried against its speaker and three others, who differ."""
    test = trials("f" * 10, 3)
    rng = np.random.default_rng(0)
    kept = np.array([rng.permutation(10) < 3 for _ in test.recordings]).T | test.target
    some = Trials(test.models, test.recordings, kept)
    weak, strong = noise(some, 1), noise(some, 1) + 5.0 * some.target
    assert set(chance_levels.by_luck(weak, some, SHUFFLES)) == LEVELS
    luck = chance_levels.by_luck(strong, some, SHUFFLES)
    assert all(value > luck[name] for name, value in figures(strong, some).items())


def test_levels_do_not_depend_on_the_order_or_the_scale_of_scores_and_are_repeated_exactly():
    test = trials("f" * 6, 3)
    scores = noise(test, 0).round(1)  # with ties
    luck = chance_levels.by_luck(scores, test, SHUFFLES)
    assert chance_levels.by_luck(scores, test, SHUFFLES) == luck
    assert chance_levels.by_luck(np.exp(3.0 * scores), test, SHUFFLES) == luck


def test_attacks_have_their_levels():
    from voicenym.attack.attackers import LazyInformed

    test = trials("f" * 6, 3)
    found = measured(LazyInformed(), noise(test, 0), test, "v", 20).figures
    assert set(found.by_luck) == LEVELS
    assert found.chances == {"rank-1": pytest.approx(100.0 / 6)}
