"""Back ends that compare speaker vectors: cosine, and a Gaussian model with diagonal covariances.

A verifier turns recordings into vectors and its back end compares them
(:mod:`voicenym.verification.verifier`). The class method ``train(embeddings, speakers)`` fits a
back end that has parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from voicenym.errors import VoicenymError

Array = npt.NDArray[np.float64]


class Backend(Protocol):
    """Compares enrolled speakers with trials."""

    def score(self, enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
        """Scores ``[model, trial]``, higher for the same speaker.

        Args:
            enrolment: vectors ``[n_i, d]`` of each model; the ``n_i`` may differ.
            trials: ``[trial, d]``.
        """


@dataclass(frozen=True)
class Cosine:
    """The cosine of a trial and the mean of the enrolment's unit vectors.

    Raises:
        VoicenymError: from :meth:`score`: a model without vectors, or of another dimension.

    Example:
        >>> Cosine().score([np.eye(2)], np.array([[1.0, 1.0]])).round(3)
        array([[1.]])
    """

    def score(self, enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
        trials = checked(enrolment, trials)
        models = [unit(np.asarray(vectors, dtype=np.float64)).mean(0) for vectors in enrolment]
        return unit(np.stack(models)) @ unit(trials).T


COSINE = Cosine()


@dataclass(frozen=True)
class DiagonalGaussian:
    """Log-likelihood ratio of a two-covariance model with diagonal covariances.

    A vector is ``mean + speaker + rest``; speaker and rest are Gaussian. The model is PLDA without
    correlations and needs only a few dozen speakers.

    Args:
        mean: of the population, ``[d]``.
        within: variance within speakers, ``[d]``, positive.
        between: variance between speakers, ``[d]``, not negative.

    Example:
        >>> backend = DiagonalGaussian(np.zeros(1), np.ones(1), np.full(1, 9.0))
        >>> backend.score([np.full((4, 1), 3.0)], np.array([[3.0], [-3.0]])).round(2)
        array([[  1.49, -12.6 ]])
    """

    mean: Array
    within: Array
    between: Array

    @classmethod
    def train(
        cls, embeddings: npt.NDArray[np.floating], speakers: Sequence[str] | np.ndarray
    ) -> DiagonalGaussian:
        """Variances by analysis of variance (the unbalanced one-way layout).

        Args:
            embeddings: ``[n, d]``.
            speakers: of each embedding, ``[n]``.

        Raises:
            VoicenymError: fewer than two speakers, or none with two recordings.
        """
        x, index, count = grouped(embeddings, speakers)
        means = class_means(x, index, count)
        groups, total = len(count), len(x)
        within = np.square(x - means[index]).sum(0) / (total - groups)
        within = np.maximum(within, 1e-6 * x.var(0) + np.finfo(np.float64).tiny)
        usual = (total - np.square(count).sum() / total) / (groups - 1)
        spread = (count[:, None] * np.square(means - x.mean(0))).sum(0) / (groups - 1)
        return cls(means.mean(0), within, np.maximum((spread - within) / usual, 0.0))

    def score(self, enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
        trials = checked(enrolment, trials)
        models = np.stack([np.asarray(v, dtype=np.float64).mean(0) for v in enrolment])
        count = np.array([len(v) for v in enrolment])
        scale = 1.0 / np.sqrt(self.within)
        return diagonal_llr(
            (models - self.mean) * scale,
            count,
            (trials - self.mean) * scale,
            self.between / self.within,
        )


def diagonal_llr(models: Array, count: np.ndarray, trials: Array, psi: Array) -> Array:
    """LLR in nats ``[model, trial]`` where within-speaker covariance is I and between is diag psi.

    ln N(t; n psi / (n psi + 1) m, 1 + psi / (n psi + 1)) - ln N(t; 0, 1 + psi): the predictive
    density of a trial after ``n`` vectors of mean ``m``, against that of the population (Ioffe
    2006, "Probabilistic linear discriminant analysis", as Kaldi computes it).

    Args:
        models: mean vectors ``[model, d]``.
        count: number of vectors behind each mean, ``[model]``.
        trials: ``[trial, d]``.
        psi: ``[d]``, not negative.
    """
    n = np.asarray(count, dtype=np.float64)[:, None]
    expected = n * psi / (n * psi + 1.0) * models
    inverse = 1.0 / (1.0 + psi / (n * psi + 1.0))
    squares = np.square(trials)
    distance = inverse @ squares.T - 2.0 * (expected * inverse) @ trials.T
    distance += (np.square(expected) * inverse).sum(1)[:, None]
    anybody = squares @ (1.0 / (1.0 + psi))
    volume = np.log(inverse).sum(1)[:, None] + np.log1p(psi).sum()
    ratio: Array = 0.5 * (volume - distance + anybody)
    return ratio


def unit(vectors: npt.NDArray[np.floating]) -> Array:
    """Vectors ``[n, d]`` of length one; zero stays zero."""
    x = np.asarray(vectors, dtype=np.float64)
    length: Array = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.maximum(length, np.finfo(np.float64).tiny)


def checked(enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
    """The trials in double precision, after a check of the shapes.

    Raises:
        VoicenymError: a model does not fit; the message names it.
    """
    x = np.asarray(trials, dtype=np.float64)
    if x.ndim != 2:
        raise VoicenymError(f"trials must be [trial, d], not {list(x.shape)}")
    if not enrolment:
        raise VoicenymError("there is no model to compare with; enrol a speaker")
    for number, vectors in enumerate(enrolment):
        shape = np.shape(vectors)
        if len(shape) != 2 or not shape[0] or shape[1] != x.shape[1]:
            raise VoicenymError(
                f"model {number} must be [n, {x.shape[1]}] with n > 0, not {list(shape)}"
            )
    return x


def grouped(
    embeddings: npt.NDArray[np.floating], speakers: Sequence[str] | np.ndarray
) -> tuple[Array, np.ndarray, np.ndarray]:
    """Embeddings ``[n, d]`` in double precision, speaker indices ``[n]``, and the number of
    embeddings of each speaker ``[speaker]``.

    Raises:
        VoicenymError: shapes that differ, values that are not finite, fewer than two speakers,
            or no speaker with two recordings.
    """
    x = np.asarray(embeddings, dtype=np.float64)
    if x.ndim != 2 or len(x) != len(speakers):
        raise VoicenymError(f"{len(speakers)} speakers do not fit embeddings {list(x.shape)}")
    if not np.isfinite(x).all():
        raise VoicenymError("an embedding is not finite; leave its recording out")
    names, index, count = np.unique(speakers, return_inverse=True, return_counts=True)
    if len(names) < 2 or count.max() < 2:
        raise VoicenymError("training needs two speakers, and one of them with two recordings")
    return x, index, count


def class_means(x: Array, index: np.ndarray, count: np.ndarray) -> Array:
    """Mean of each class ``[class, d]``."""
    sums = np.zeros((len(count), x.shape[1]))
    np.add.at(sums, index, x)
    means: Array = sums / count[:, None]
    return means
