"""Emotion and accent of original and anonymized speech, by a small classifier of original speech.

Multinomial logistic regression with equal weight for each class, on standardised features of a
recording: the vector of the first verifier, voice statistics, and prosody measures. It is trained
on original speech of people whom it is not tested on: of the attackers' pool, where this has the
labels, or else of the other evaluated speakers, by folds of speakers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voicenym.attack.channels.channel_extractors import ProsodyMeasures, measures_of
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import Transform
from voicenym.errors import DependencyError
from voicenym.evaluation import reported_metrics
from voicenym.evaluation.results import Measured
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.metrics.metric_inputs import GuessedAccents, GuessedEmotions, GuessedLabels
from voicenym.verification.scoring import Array
from voicenym.verification.verifier import Verifier

KINDS: dict[str, type[GuessedLabels]] = {"emotion": GuessedEmotions, "accent": GuessedAccents}
"""Columns of a manifest, and what their metric is computed from."""
FOLDS = 5
"""Parts of the evaluated speakers; a classifier trained on the others labels each."""
FEWEST = 2
"""Speakers that a label needs, and labels that a classifier needs."""
ABSENT = "{} not measured: the corpus has no such labels (columns emotion, accent of a manifest)"
PENALTY = 1.0
"""Inverse of scikit-learn's C: weight of the squared weights against the sum over recordings."""


@dataclass(frozen=True)
class _Task:
    """One kind of labels: what is guessed, and from whom it is learned.

    Args:
        kind: ``emotion`` or ``accent``.
        tested: recordings with labels.
        folds: of each tested recording.
        taught: for each fold, the recordings to learn from.
    """

    kind: str
    tested: tuple[Recording, ...]
    folds: np.ndarray
    taught: tuple[tuple[Recording, ...], ...]


class Classifiers:
    """Classifiers of the labels that a corpus has; :attr:`notes` says which it has not.

    Args:
        trials: whose recordings are guessed; those of their models are learned from as well.
        pool: original speech of other people.
        original: transform of original speech.
        extractors: the vectors that are features, besides prosody measures.
        embedder: computes and caches vectors.
        replicates: of the bootstrap.
        say: receives a line of progress.

    Attributes:
        notes: why a kind of labels is not measured.
    """

    def __init__(
        self,
        trials: Trials,
        pool: Sequence[Recording],
        original: Transform,
        extractors: Sequence[Verifier],
        embedder: Embedder,
        replicates: int,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._original, self._embedder, self._say = original, embedder, say
        self._extractors, self._replicates = tuple(extractors), replicates
        absent = [kind for kind in KINDS if not any(getattr(r, kind) for r in trials.recordings)]
        self.notes: tuple[str, ...] = (_absent(absent),) if absent else ()
        self._tasks: list[tuple[_Task, list[Any]]] = []
        for kind in (kind for kind in KINDS if kind not in absent):
            try:
                task = _task(kind, trials, pool)
                say(f"{kind}: training a classifier on original speech")
                models = [
                    _fit(self._features(taught, original), [getattr(r, kind) for r in taught])
                    for taught in task.taught
                ]
            except (ValueError, DependencyError) as error:
                self.notes += (f"{kind} was not measured: {error}",)
            else:
                self._tasks.append((task, models))

    def measure(self, transform: Transform) -> dict[str, Measured]:
        """UAR of each kind of labels on transformed recordings."""
        found: dict[str, Measured] = {}
        for task, models in self._tasks:
            self._say(f"{task.kind}: {transform.description or 'original'}")
            features = self._features(task.tested, transform)
            there = np.isfinite(features).all(1)
            guesses = np.empty(len(task.tested), dtype=object)
            for fold, model in enumerate(models):
                rows = there & (task.folds == fold)
                if rows.any():
                    guesses[rows] = model.predict(features[rows])
            kept = [task.tested[place] for place in np.flatnonzero(there)]
            if kept:
                data = KINDS[task.kind](
                    [getattr(one, task.kind) for one in kept],
                    guesses[there].tolist(),
                    [one.speaker for one in kept],
                    replicates=self._replicates,
                )
                found.update(reported_metrics.measure(data))
        return found

    def _features(self, recordings: Sequence[Recording], transform: Transform) -> Array:
        """``[recording, feature]``; NaN in the rows of recordings on which the transform fails."""
        parts = []
        for extractor in (*self._extractors, ProsodyMeasures()):
            found = self._embedder.vectors_or_reasons(extractor, recordings, transform)
            size = next((len(v) for v in found if not isinstance(v, str)), 1)
            lost = np.full(size, math.nan, dtype=np.float32)
            rows = [lost if isinstance(v, str) else np.asarray(v) for v in found]
            numbers = np.stack(rows).astype(np.float64)
            if isinstance(extractor, ProsodyMeasures):
                failed = np.isnan(numbers).all(1)
                numbers = np.nan_to_num(measures_of(rows))  # 0 for what a recording does not show
                numbers[failed] = math.nan
            parts.append(numbers)
        return np.hstack(parts)


def _absent(kinds: Sequence[str]) -> str:
    return ABSENT.format(f"{' and '.join(kinds)} {'was' if len(kinds) == 1 else 'were'}")


def _task(kind: str, trials: Trials, pool: Sequence[Recording]) -> _Task:
    """What is guessed and learned from.

    Raises:
        ValueError: too few labels or speakers; it says which.
    """
    enrolled = [recording for model in trials.models for recording in model.recordings]
    own = [one for one in dict.fromkeys([*enrolled, *trials.recordings]) if getattr(one, kind)]
    tested = [one for one in trials.recordings if getattr(one, kind)]
    learned = _speakers_by_label(kind, pool)
    wanted = {getattr(one, kind) for one in tested}
    if len(wanted) >= FEWEST and all(learned.get(label, 0) >= FEWEST for label in wanted):
        taught = tuple(one for one in pool if getattr(one, kind) in wanted)
        return _Task(kind, tuple(tested), np.zeros(len(tested), dtype=int), (taught,))
    counts = _speakers_by_label(kind, own)
    labels = {label for label, count in counts.items() if count >= FEWEST}
    own = [one for one in own if getattr(one, kind) in labels]
    tested = [one for one in tested if getattr(one, kind) in labels]
    if len({getattr(one, kind) for one in tested}) < FEWEST:
        raise ValueError(
            f"a classifier needs {FEWEST} labels of {FEWEST} speakers each, and "
            f"{len(labels)} of {len(counts)} labels have as many"
        )
    speakers = sorted({one.speaker for one in own})
    fold = {speaker: place % FOLDS for place, speaker in enumerate(speakers)}
    count = min(FOLDS, len(speakers))
    taught_by = [tuple(one for one in own if fold[one.speaker] != k) for k in range(count)]
    if any(len({getattr(one, kind) for one in some}) < FEWEST for some in taught_by):
        raise ValueError("the other speakers of a part have a single label; add speakers")
    return _Task(
        kind,
        tuple(tested),
        np.array([fold[one.speaker] for one in tested]),
        tuple(taught_by),
    )


def _speakers_by_label(kind: str, recordings: Sequence[Recording]) -> dict[str, int]:
    """Number of speakers of each label."""
    pairs = {(getattr(one, kind), one.speaker) for one in recordings if getattr(one, kind)}
    labels = sorted({label for label, _ in pairs})
    return {label: sum(label == other for other, _ in pairs) for label in labels}


def _fit(features: Array, labels: Sequence[str]) -> Any:
    """A pipeline of standardisation and logistic regression.

    Raises:
        DependencyError: scikit-learn is missing.
    """
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError as error:
        raise DependencyError("pip install 'voicenym[evaluate]'") from error
    there = np.isfinite(features).all(1)
    regression = LogisticRegression(C=1.0 / PENALTY, class_weight="balanced", max_iter=1000)
    model = make_pipeline(StandardScaler(), regression)
    return model.fit(features[there], np.asarray(list(labels))[there])
