"""Adaptive symmetric score normalisation (AS-norm) against a cohort of other speakers.

Enrolment and trial are each scored against the cohort; mean and standard deviation of their highest
cohort scores normalise the trial's score. After Matějka et al., "Analysis of score normalization in
multilingual speaker recognition" (Interspeech 2017); each side selects its own part of the cohort
(their AS-norm1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.errors import VoicenymError
from voicenym.verification.scoring import Array, Backend

TOP = 200
"""Highest cohort scores that normalise a side."""
FLOOR = 1e-3
"""Least standard deviation in units of the scores, for a cohort of identical vectors."""


def as_norm(
    scores: npt.NDArray[np.floating],
    enrolment_cohort: npt.NDArray[np.floating],
    trial_cohort: npt.NDArray[np.floating],
    top: int = TOP,
    floor: float = FLOOR,
) -> Array:
    """The mean of the scores normalised on either side, ``[model, trial]``.

    1/2 [(s - mu_e) / sigma_e + (s - mu_t) / sigma_t], the deviations being unbiased.

    Args:
        scores: ``[model, trial]``.
        enrolment_cohort: of models against the cohort, ``[model, cohort]``.
        trial_cohort: of trials against the cohort, ``[trial, cohort]``.
        top: number of highest cohort scores; all, where there are fewer.
        floor: least sigma, in the units of the scores.

    Raises:
        VoicenymError: shapes that do not fit, ``top`` or a cohort below 2.

    Example:
        >>> cohort = np.array([[0.0, 1.0, 2.0]])
        >>> as_norm(np.array([[3.0]]), cohort, 2 * cohort)
        array([[1.25]])
    """
    s = np.asarray(scores, dtype=np.float64)
    if s.ndim != 2 or len(enrolment_cohort) != s.shape[0] or len(trial_cohort) != s.shape[1]:
        raise VoicenymError(
            f"scores {list(s.shape)} do not fit cohort scores of {len(enrolment_cohort)} models "
            f"and {len(trial_cohort)} trials"
        )
    by_model = normalised(s, enrolment_cohort, top, floor)
    by_trial = normalised(s.T, trial_cohort, top, floor).T
    both: Array = 0.5 * (by_model + by_trial)
    return both


def normalised(
    scores: npt.NDArray[np.floating],
    cohort: npt.NDArray[np.floating],
    top: int = TOP,
    floor: float = FLOOR,
) -> Array:
    """Rows of scores ``[row, n]``, normalised by their highest cohort scores ``[row, cohort]``.

    Raises:
        VoicenymError: ``top`` or the cohort is below 2.
    """
    c = np.asarray(cohort, dtype=np.float64)
    if c.ndim != 2 or c.shape[1] < 2 or top < 2:
        raise VoicenymError("a cohort needs two scores at least, and top must be 2 or more")
    if top < c.shape[1]:
        c = np.partition(c, c.shape[1] - top, axis=1)[:, -top:]
    mean = c.mean(1, keepdims=True)
    sigma = np.maximum(c.std(1, ddof=1, keepdims=True), floor)
    result: Array = (np.asarray(scores, dtype=np.float64) - mean) / sigma
    return result


@dataclass(frozen=True)
class ASNorm:
    """A back end with normalised scores.

    Args:
        backend: computes the scores.
        cohort: one vector for each of the cohort's speakers, ``[cohort, d]``, such as the mean of
            the speaker's recordings; none of them is enrolled or on trial.
        top: see :func:`as_norm`.
        floor: see :func:`as_norm`.

    Raises:
        VoicenymError: from :meth:`score`: as :func:`as_norm` and the back end do.
    """

    backend: Backend
    cohort: npt.NDArray[np.floating]
    top: int = TOP
    floor: float = FLOOR

    def score(self, enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
        """``[model, trial]``."""
        return as_norm(
            self.backend.score(enrolment, trials),
            self.backend.score(enrolment, self.cohort),
            self.backend.score([vector[None] for vector in self.cohort], trials).T,
            self.top,
            self.floor,
        )
