"""Error rates of attackers by the amount of speech: 1, 3, 10 and 30 recordings per speaker.

Several recordings of one speaker are combined in two ways: by the mean of the scores of all pairs,
and by the mean of the unit vectors of each side, which are then compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voicenym.attack.attackers import (
    Attacker,
    Comparing,
    Ignorant,
    LazyInformed,
    enrolment_vectors,
    vectors_or_fallback,
)
from voicenym.attack.scenario import Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.evaluation import reported_metrics
from voicenym.evaluation.measurements.protection import Attacked, candidates, split
from voicenym.evaluation.results import Amount, Measured
from voicenym.evaluation.trial_plans.conditions import FEWEST_SPEAKERS
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.verification.scoring import Backend, unit
from voicenym.verification.verifier import Verifier

COUNTS = (1, 3, 10, 30)
"""Numbers of recordings of a speaker, if the trials have so many."""
REPORTED = ("EER", "rank-1", "first of 1,000")
"""Metrics that are measured for each number of recordings."""
SCORES, EMBEDDINGS, TESTED = "score average", "embedding average", "score average, all enrolled"


def of_system(
    attackers: Sequence[Attacker],
    strongest: Attacked | None,
    scenario: Scenario,
    trials: Trials,
    verifier: Verifier,
    embedder: Embedder,
    replicates: int,
) -> tuple[Amount, ...]:
    """Rates of the ignorant, the lazy-informed and the strongest attacker.

    Args:
        attackers: that attack the system.
        strongest: attacker who averages scores over several test recordings; None without one.
        scenario, trials, verifier, embedder, replicates: as for :func:`enrolled_and_tested`.
    """
    found = []
    for attacker in attackers:
        if type(attacker) in (Ignorant, LazyInformed) and isinstance(attacker, Comparing):
            found += enrolled_and_tested(attacker, scenario, trials, verifier, embedder, replicates)
    if strongest is None:
        return tuple(found)
    names = strongest.figures.attacker, strongest.figures.verifier
    return (*found, *several_tested(*names, strongest.scores, trials, replicates))


def several_tested(
    attacker: str,
    verifier: str,
    scores: np.ndarray,
    trials: Trials,
    replicates: int,
    counts: Sequence[int] = COUNTS,
) -> list[Amount]:
    """Rates of an attacker who averages its scores over several test recordings.

    Args:
        attacker, verifier: names, for the report.
        scores: ``[model, trial]``, of any attacker.
        trials: the tested pairs.
        replicates: of the bootstrap.
        counts: of recordings; those of fewer than four speakers are left out.
    """
    found = []
    for count in counts:
        sets = _sets(trials, count)
        if sets:
            mean = np.stack([scores[:, columns].mean(1) for columns in sets], axis=1)
            rows = np.arange(len(trials.models))
            name = (attacker, verifier, count, TESTED)
            found += _amount(name, mean, rows, sets, trials, replicates)
    return found


def enrolled_and_tested(
    attacker: Comparing,
    scenario: Scenario,
    trials: Trials,
    verifier: Verifier,
    embedder: Embedder,
    replicates: int,
    counts: Sequence[int] = COUNTS,
) -> list[Amount]:
    """Rates of an attacker with equal numbers of enrolled and test recordings.

    Args:
        attacker: compares vectors.
        scenario: of the attack.
        trials: the tested pairs.
        verifier: for vectors.
        embedder: computes or caches them.
        replicates: of the bootstrap.
        counts: as for :func:`several_tested`.
    """
    enrolment = enrolment_vectors(scenario, verifier, embedder, attacker.enrolment(scenario))
    vectors = vectors_or_fallback(
        embedder, verifier, scenario.trials, attacker.trials(scenario), attacker.published(scenario)
    )
    backend = attacker.backend(scenario, verifier, embedder)
    return of_vectors(
        attacker.name, verifier.name, enrolment, vectors, backend, trials, replicates, counts
    )


def of_vectors(
    attacker: str,
    verifier: str,
    enrolment: Sequence[np.ndarray],
    vectors: np.ndarray,
    backend: Backend,
    trials: Trials,
    replicates: int,
    counts: Sequence[int] = COUNTS,
) -> list[Amount]:
    """:func:`enrolled_and_tested` from vectors.

    Args:
        attacker, verifier: names, for the report.
        enrolment: ``[n_i, dimension]`` of each model.
        vectors: ``[trial, dimension]``.
        backend: compares them.
        trials, replicates, counts: as there.
    """
    found = []
    for count in counts:
        sets = _sets(trials, count)
        rows = np.array([i for i, own in enumerate(enrolment) if len(own) >= count], dtype=int)
        if not sets or not len(rows):
            continue
        single = [enrolment[row][i : i + 1] for row in rows for i in range(count)]
        each = backend.score(single, vectors).reshape(len(rows), count, -1).mean(1)
        by_score = np.stack([each[:, columns].mean(1) for columns in sets], axis=1)
        joined = np.stack([unit(vectors[columns]).mean(0) for columns in sets])
        by_vector = backend.score([enrolment[row][:count] for row in rows], joined)
        for average, scores in ((SCORES, by_score), (EMBEDDINGS, by_vector)):
            name = (attacker, verifier, count, average)
            found += _amount(name, scores, rows, sets, trials, replicates)
    return found


def _sets(trials: Trials, count: int) -> list[list[int]]:
    """Disjoint sets of a given number of recordings of one speaker, as columns of the trials."""
    columns: dict[str, list[int]] = {}
    for column in np.flatnonzero(trials.tested.any(0)):
        columns.setdefault(trials.recordings[column].speaker, []).append(int(column))
    return [
        own[start : start + count]
        for own in columns.values()
        for start in range(0, len(own) - count + 1, count)
    ]


def _amount(
    name: tuple[str, str, int, str],
    scores: np.ndarray,
    rows: np.ndarray,
    sets: Sequence[Sequence[int]],
    trials: Trials,
    replicates: int,
) -> list[Amount]:
    """Figures of scores ``[row, set]``; empty for too few speakers."""
    models = tuple(trials.models[row] for row in rows)
    recordings = tuple(trials.recordings[columns[0]] for columns in sets)
    pairs = [trials.tested[np.ix_(rows, np.array(columns))].all(1) for columns in sets]
    own = Trials(models, recordings, np.stack(pairs, axis=1))
    speakers = {recordings[column].speaker for column in np.flatnonzero(own.target.any(0))}
    if len(speakers) < FEWEST_SPEAKERS or not own.nontarget.any():
        return []
    figures: dict[str, Measured] = {}
    for data in (
        TrialScores(*split(scores, own), replicates=replicates),
        candidates(scores, own, replicates),
    ):
        figures.update(reported_metrics.measure(data, only=lambda metric: metric.name in REPORTED))
    return [Amount(*name, len(speakers), figures)]
