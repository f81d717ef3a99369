"""Effective number of voices: entropy of the Gaussian mixture of the speakers, with bounds.

Turner et al. 2022 (equation 2, appendix A) measure the diversity of a pool of pseudo-voices by the
entropy of the Gaussian mixture that they are drawn from. For other systems the mixture is that of
the anonymized speakers: each is a Gaussian around the mean of the speaker's vectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voicenym.metrics import mixture_entropy
from voicenym.metrics.metric import NO_INTERVAL, Display, Estimate, Measured, Metric
from voicenym.metrics.metric_inputs import VoiceVectors
from voicenym.verification.scoring import class_means

MOST_DIMENSIONS = 8
"""Principal components of the originals in which voices are compared. More dimensions separate
more voices, and overestimate their number by chance: of 4 voices, each shared by 10 speakers with 6
recordings, 8 dimensions give 7 and 16 give 11."""
PER_DIMENSION = 6
"""Recordings, beyond one per speaker, for each dimension of the covariance within speakers."""
ALIKE = 1e-9
"""Share of the variance of all vectors up to which that within speakers is rounding alone."""
ROUNDING = 1e-13
"""The same share of the mean squared length of vectors."""
FIGURES = ("entropy", "entropy, lower bound", "entropy, upper bound", "effective voices")


@dataclass(frozen=True)
class Axes:
    """Coordinates in which entropies are compared: principal components of original speech.

    Args:
        centre: ``[dimension]``.
        basis: ``[dimension, kept]``, orthonormal.
    """

    centre: np.ndarray
    basis: np.ndarray

    @classmethod
    def of(cls, vectors: np.ndarray, speakers: np.ndarray) -> Axes | None:
        """Axes of original vectors ``[recording, dimension]``; None if there are too few."""
        people = len(set(speakers.tolist()))
        kept = min(
            MOST_DIMENSIONS, people - 1, (len(vectors) - people) // PER_DIMENSION, vectors.shape[1]
        )
        if kept < 1:
            return None
        centre = vectors.mean(0)
        _, _, rows = np.linalg.svd(vectors - centre, full_matrices=False)
        return cls(centre, rows[:kept].T)

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """``[recording, kept]``."""
        found: np.ndarray = (vectors - self.centre) @ self.basis
        return found


def measure(
    vectors: np.ndarray, speakers: np.ndarray, axes: Axes, seed: int = 0
) -> dict[str, Measured]:
    """Entropy in nats with its bounds, and the number of equally likely voices with this entropy.

    A voice is the mean of a speaker's vectors, shrunk towards the global mean by the sampling
    variance of such means; all voices have the covariance within speakers. The number of voices is
    exp(H - H of one voice): 1 if all voices are equal, the number of speakers if all are well
    separated. It is too high if many speakers share a few voices, because means of few vectors
    differ by chance.

    Args:
        vectors: ``[recording, dimension]``.
        speakers: of each.
        axes: of the originals.
        seed: of the samples.

    Returns:
        Figures: ``entropy`` with the interval of its sampling (without a bootstrap over speakers,
        because a mixture in which speakers occur twice has less entropy), ``entropy, lower bound``
        and ``upper bound``, and ``effective voices`` from bound to bound. Empty if a covariance is
        singular, as that of speakers whose recordings are all the same.
    """
    x = axes(vectors)
    _, index, count = np.unique(speakers, return_inverse=True, return_counts=True)
    means = class_means(x, index, count)
    rest = x - means[index]
    within = rest.T @ rest / (len(x) - len(count))
    spread = float(np.trace(within))
    size = float(np.square(vectors).sum(1).mean())
    if not spread > max(ALIKE * float(np.square(x - x.mean(0)).sum(1).mean()), ROUNDING * size):
        return {}
    within += 1e-9 * spread * np.eye(len(within))
    try:
        root = np.linalg.cholesky(within)
    except np.linalg.LinAlgError:
        return {}
    white = np.linalg.solve(root, (means - means.mean(0)).T).T
    between = np.maximum(white.var(0, ddof=1) - np.mean(1.0 / count), 0.0)
    voices = white * between / (between + 1.0 / count[:, None])
    people, kept = voices.shape
    found = mixture_entropy(np.ones(people), voices, np.ones((people, kept)), seed=seed)
    volume = float(np.log(np.diagonal(root)).sum())
    one = 0.5 * kept * (math.log(2.0 * math.pi) + 1.0)
    low, high = found.interval
    number = [
        min(math.exp(max(h - one, 0.0)), float(people))
        for h in (max(found.value, found.lower), found.lower, found.upper)
    ]
    return {
        FIGURES[0]: Measured(found.value + volume, low + volume, high + volume, "nat"),
        FIGURES[1]: Measured(found.lower + volume, unit="nat"),
        FIGURES[2]: Measured(found.upper + volume, unit="nat"),
        FIGURES[3]: Measured(number[0], number[1], max(number[0], number[2]), "voices"),
    }


def _figures(voices: VoiceVectors) -> dict[str, Measured]:
    """:func:`measure` of published vectors, in the coordinates of the originals."""
    axes = Axes.of(voices.original, voices.speakers)
    return {} if axes is None else measure(voices.published, voices.speakers, axes)


def _metric(
    name: str, unit: str, interval: str, definition: str, heading: str = ""
) -> Metric[VoiceVectors]:
    def of_these(voices: VoiceVectors) -> Estimate | None:
        found = voices.once(_figures).get(name)
        if found is None:
            return None
        if found.low is None or found.high is None:
            return Estimate(found.value)
        return Estimate(found.value, (found.low, found.high))

    return Metric(
        name=name,
        unit=unit,
        better="higher",
        chance=None,
        interval=interval,
        definition=definition,
        data=VoiceVectors,
        measure=of_these,
        display=Display(table="diversity", digits=1, heading=heading),
        originals=True,
    )


ENTROPY, LOWER_BOUND, UPPER_BOUND, EFFECTIVE_VOICES = (
    _metric(
        FIGURES[0],
        "nat",
        "sampling error of the Monte Carlo estimate",
        "Differential entropy of the Gaussian mixture of the speakers' voices (Turner et al. 2022)",
        "entropy, nats",
    ),
    _metric(FIGURES[1], "nat", NO_INTERVAL, "Lower bound of the entropy, without sampling"),
    _metric(FIGURES[2], "nat", NO_INTERVAL, "Upper bound of the entropy, without sampling"),
    _metric(
        FIGURES[3],
        "voices",
        "the number for the lower and the upper bound of the entropy",
        "Number of equally frequent, well separated voices that have the same entropy",
    ),
)
