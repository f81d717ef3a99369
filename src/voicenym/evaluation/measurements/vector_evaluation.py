"""Evaluation of identity methods on speaker vectors alone, without synthesis, in seconds.

The figures describe the method alone. A waveform discloses more, because content and pitch also
identify the speaker: these figures are upper bounds of the protection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, ScoreError, VoicenymError
from voicenym.evaluation import reported_metrics
from voicenym.evaluation.measurements.distinctiveness import vectors
from voicenym.evaluation.measurements.protection import split
from voicenym.evaluation.results import Measured
from voicenym.evaluation.trial_plans.trials import Trials, build
from voicenym.identity.method import Identity, Sex
from voicenym.identity.pools.speaker_pool import Pool
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.metrics.verification.eer import EQUAL_ERROR_RATE
from voicenym.pseudonym import Key
from voicenym.verification.scoring import Array, Backend, Cosine, unit

UNPROTECTED = "unprotected"
ATTACKERS = {
    UNPROTECTED: "original enrolment against original trials",
    "ignorant": "does not know that vectors are protected: original enrolment, by cosine",
    "lazy-informed": "knows the method, not the key: protects enrolment with its own, by cosine",
    "semi-informed": "trains PLDA on other people, protects each utterance with its own key anew",
    "inverting": "trains a regression from protected vectors of other people to their originals",
}
"""Knowledge and action of each attacker."""
NOTHING = 0.01
"""Deviation along a direction, relative to the largest, below which vectors do not vary."""
RIDGE = 0.1
"""Penalty of the regression, as a share of the mean variance."""


@dataclass(frozen=True)
class Candidate:
    """A method to evaluate.

    Args:
        name: for tables.
        identity: method of users.
        attacker: method of attackers, if it is trained and theirs has other weights; None for
            the same.
    """

    name: str
    identity: Identity
    attacker: Identity | None = None


@dataclass(frozen=True)
class Judged:
    """Results of a method.

    Args:
        name: of it.
        errors: equal error rate in percent by attacker, without attackers that could not be
            trained.
        figures: ``G_VD`` in dB, ``DeID``, ``D_KS``; empty if all vectors are zero.
        scores: ``[model, trial]`` by attacker.
        published: protected vectors of the trials, ``[trial, element]``.
        seconds: for one vector, on average.
        notes: what could not be measured, and why.
    """

    name: str
    errors: dict[str, Measured]
    figures: dict[str, Measured]
    scores: dict[str, np.ndarray]
    published: np.ndarray
    seconds: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bench:
    """Vectors for the evaluation of methods.

    Args:
        trials: utterances of enrolment and trials.
        enrolment: vectors of each model, ``[n_i, element]``.
        tried: ``[trial, element]``.
        others: utterances of other people, for attackers that train.
    """

    trials: Trials
    enrolment: list[torch.Tensor]
    tried: torch.Tensor
    others: Pool

    @classmethod
    def of(cls, users: Pool, others: Pool, enrolment: int, tried: int, seed: int) -> Bench:
        """Trials of vectors: each speaker against every other of the same sex.

        Args:
            users: utterances of people to protect, several each.
            others: utterances of other people, several each, by the same encoder.
            enrolment, tried: numbers of utterances of a speaker.
            seed: of the split into enrolment and trials.

        Raises:
            CorpusError: too few utterances, or people who occur in both.
            VoicenymError: vectors of two encoders.
        """
        others.made_by(users.encoder, users.version)
        others.check(users.vectors)
        both = sorted(set(users.speakers) & set(others.speakers))
        if both:
            raise CorpusError(
                f"{both[0]} is among users and others ({len(both)} such); an attacker must train "
                "on other people"
            )
        rows = {str(i): i for i in range(len(users))}
        spoken = [
            Recording(name, users.speakers[i], Path(), users.sexes[i]) for name, i in rows.items()
        ]
        trials = build(spoken, enrolment=enrolment, trials=tried, seed=seed)
        models = [users.vectors[[rows[r.name] for r in m.recordings]] for m in trials.models]
        last = users.vectors[[rows[r.name] for r in trials.recordings]]
        return cls(trials, models, last, others)


def anonymized_vectors(
    identity: Identity,
    vectors: torch.Tensor,
    speakers: Sequence[str],
    sexes: Sequence[str],
    key: Key,
    per: str = "speaker",
) -> torch.Tensor:
    """Pseudo-speakers' vectors ``[row, element]`` under a key.

    Args:
        identity: the method.
        vectors: of utterances.
        speakers, sexes: of each vector; an empty sex is unknown.
        key: of the pseudonyms.
        per: whether each ``speaker`` or each ``utterance`` has a pseudonym.
    """
    names = [
        key.pseudonym(speaker, str(i) if per == "utterance" else None)
        for i, speaker in enumerate(speakers)
    ]
    known: list[Sex | None] = [("f" if s == "f" else "m") if s else None for s in sexes]
    return identity.batch(vectors, names, known)


def evaluate_method(
    candidate: Candidate,
    bench: Bench,
    user: Key,
    attacker: Key,
    *,
    per: str = "speaker",
    replicates: int = 1000,
) -> Judged:
    """Attacks a method with every attacker, and measures the distinctiveness of voices.

    Args:
        candidate: the method.
        bench: vectors and trials.
        user, attacker: their keys.
        per: of users' pseudonyms: ``speaker`` or ``utterance``.
        replicates: of the bootstrap over speakers.

    Raises:
        VoicenymError: the method refuses these vectors.
    """
    trials = bench.trials
    recordings = trials.recordings
    started = time.perf_counter()
    published = anonymized_vectors(
        candidate.identity,
        bench.tried,
        [r.speaker for r in recordings],
        [r.sex for r in recordings],
        user,
        per,
    )
    spent = (time.perf_counter() - started) / len(recordings)
    original, seen = bench.tried.double().numpy(), published.double().numpy()
    theirs = candidate.attacker or candidate.identity
    scores, notes = _attacks(theirs, bench, seen, attacker, per)
    errors = {name: _eer(matrix, trials, replicates) for name, matrix in scores.items()}
    figures: dict[str, Measured] = {}
    with suppress(ScoreError):
        voices = vectors(original, seen, trials, replicates)
        figures = reported_metrics.measure(voices, only=lambda metric: not metric.originals)
    if not figures:
        notes.append("vectors have no direction: voices cannot be distinguished")
    return Judged(candidate.name, errors, figures, scores, seen, spent, tuple(notes))


def _attacks(
    identity: Identity, bench: Bench, seen: np.ndarray, key: Key, per: str
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Scores ``[model, trial]`` of every attacker, and why one is missing.

    Args:
        identity: the attackers' method.
        bench: vectors and trials.
        seen: protected vectors of the trials, ``[trial, element]``.
        key: of the attackers.
        per: of users' pseudonyms: ``speaker`` or ``utterance``.
    """
    cosine = Cosine()
    enrolled = [v.double().numpy() for v in bench.enrolment]
    protected = [
        anonymized_vectors(identity, v, [m.speaker] * len(v), [m.sex] * len(v), key, per)
        .double()
        .numpy()
        for v, m in zip(bench.enrolment, bench.trials.models, strict=True)
    ]
    scores = {
        UNPROTECTED: cosine.score(enrolled, bench.tried.double().numpy()),
        "ignorant": cosine.score(enrolled, seen),
        "lazy-informed": cosine.score(protected, seen),
    }
    notes = []
    others = bench.others
    # one pseudonym per utterance: with one per speaker, training would model the keys, not speakers
    lessons = [
        anonymized_vectors(identity, others.vectors, others.speakers, others.sexes, k, "utterance")
        for k in (key, _another(key))
    ]
    train = torch.cat(lessons).double().numpy()
    # each utterance under a pseudonym of its own: the draws of the attacker's key average out
    averaged = [
        anonymized_vectors(
            identity, v, [f"{m.speaker} {i}" for i in range(len(v))], [m.sex] * len(v), key
        )
        .double()
        .numpy()
        for v, m in zip(bench.enrolment, bench.trials.models, strict=True)
    ]
    try:
        spanned = _spanned(train)
        learnt = _plda(train @ spanned, others)
        scores["semi-informed"] = learnt.score([v @ spanned for v in averaged], seen @ spanned)
    except VoicenymError as error:
        notes.append(f"semi-informed: {error}")
    try:
        scores["inverting"] = cosine.score(enrolled, _inverse(train, others)(seen))
    except np.linalg.LinAlgError:
        notes.append("inverting: protected vectors do not vary")
    return scores, notes


def _another(key: Key) -> Key:
    """A key derived from another one."""
    return Key(bytes.fromhex(key.tag("another", "1") + key.tag("another", "2")))


def _eer(scores: np.ndarray, trials: Trials, replicates: int) -> Measured:
    found = EQUAL_ERROR_RATE(TrialScores(*split(scores, trials), replicates=replicates))
    assert found is not None
    return found


def _spanned(vectors: np.ndarray) -> np.ndarray:
    """Directions ``[element, direction]`` in which vectors vary.

    Raises:
        VoicenymError: vectors do not vary.
    """
    _, values, directions = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    vary = values > NOTHING * values[0]
    if not vary.any():
        raise VoicenymError("protected vectors do not vary: there is nothing to learn")
    found: np.ndarray = directions[vary].T
    return found


def _plda(vectors: np.ndarray, others: Pool) -> Backend:
    from voicenym.verification.plda import PLDA

    speakers = [*others.speakers, *others.speakers]
    # without length normalisation: means of a pool differ in length by their number of vectors
    return PLDA.train(vectors, speakers, normalise=False)


def _inverse(vectors: np.ndarray, others: Pool) -> Callable[[np.ndarray], Array]:
    """Linear map from protected vectors to the original mean of their speaker."""
    mean = others.per_speaker()
    place = {name: i for i, name in enumerate(mean.speakers)}
    target = unit(mean.vectors.double().numpy())
    wanted = target[[place[name] for name in [*others.speakers, *others.speakers]]]
    x = unit(vectors)
    centre, middle = x.mean(0), wanted.mean(0)
    away = x - centre
    gram = away.T @ away
    penalty = RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
    weights = np.linalg.solve(gram + penalty, away.T @ (wanted - middle))
    return lambda seen: (unit(seen) - centre) @ weights + middle
