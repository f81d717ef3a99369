"""Probabilistic linear discriminant analysis (PLDA): the two-covariance model and its back end.

The two-covariance model ``x = mean + speaker + rest``, with ``speaker ~ N(0, B)`` and
``rest ~ N(0, W)``, behind the chain that the VoicePrivacy challenges' attackers have from Kaldi:
centre, linear discriminant analysis, length normalisation. After Ioffe, "Probabilistic linear
discriminant analysis" (ECCV 2006); length normalisation after Garcia-Romero and Espy-Wilson,
"Analysis of i-vector length normalization in speaker recognition systems" (Interspeech 2011).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from voicenym.errors import VoicenymError
from voicenym.verification.scoring import Array, checked, class_means, diagonal_llr, grouped

ITERATIONS = 10
"""Iterations of expectation maximisation, as in Kaldi."""


@dataclass(frozen=True)
class TwoCovariance:
    """The two-covariance model: Gaussian speakers and Gaussian recordings of a speaker.

    Args:
        mean: ``[d]``.
        within: covariance W of a speaker's recordings, ``[d, d]``, positive definite.
        between: covariance B of speakers, ``[d, d]``, positive semidefinite.
        log_likelihoods: of the training data in nats, before each iteration and after the last.
    """

    mean: Array
    within: Array
    between: Array
    log_likelihoods: tuple[float, ...] = ()

    @classmethod
    def fit(
        cls,
        vectors: npt.NDArray[np.floating],
        speakers: Sequence[str] | np.ndarray,
        iterations: int = ITERATIONS,
    ) -> TwoCovariance:
        """Expectation maximisation from W = B = I; the likelihood never decreases.

        For a class of ``n`` vectors with centred mean m: V = (B^-1 + n W^-1)^-1, w = n V W^-1 m;
        then B is the mean of V + w w' over classes, and W that of the scatter about class means
        plus n (V + (m - w) (m - w)') over vectors. The mean is that of class means, unweighted.

        Args:
            vectors: ``[n, d]``.
            speakers: of each vector, ``[n]``.
            iterations: at least 0.

        Raises:
            VoicenymError: fewer than two speakers, or none with two recordings.
        """
        x, index, count = grouped(vectors, speakers)
        means = class_means(x, index, count)
        rest = x - means[index]
        scatter = rest.T @ rest
        mean = means.mean(0)
        means = means - mean
        n = count[:, None].astype(np.float64)
        within = between = np.eye(x.shape[1])
        track = []
        for iteration in range(iterations + 1):
            # In the basis where W = I and B = diag(psi), V is diagonal for every class.
            basis, psi = diagonalising(within, between)
            u = means @ basis.T
            spread = n * psi + 1.0
            volume = len(x) * (_log_det(within) + x.shape[1] * math.log(2.0 * math.pi))
            inside = float(np.einsum("kd,kd->", basis @ scatter, basis))
            outside = float((np.log(spread) + n * np.square(u) / spread).sum())
            track.append(-0.5 * (volume + inside + outside))
            if iteration == iterations:
                break
            speaker = n * psi / spread * u
            doubt = psi / spread
            surprise = u - speaker
            new_between = np.diag(doubt.mean(0)) + speaker.T @ speaker / len(count)
            new_within = np.diag((n * doubt).sum(0)) + (n * surprise).T @ surprise
            back = np.linalg.inv(basis)
            between = _symmetric(back @ new_between @ back.T)
            within = _symmetric((scatter + back @ new_within @ back.T) / len(x))
        return cls(mean, within, between, tuple(track))

    @classmethod
    def mean_of(cls, models: Sequence[TwoCovariance]) -> TwoCovariance:
        """The model with the mean of means and covariances."""
        return cls(
            np.mean([model.mean for model in models], axis=0),
            np.mean([model.within for model in models], axis=0),
            np.mean([model.between for model in models], axis=0),
        )

    @cached_property
    def diagonal(self) -> tuple[Array, Array]:
        """T ``[d, d]`` and psi ``[d]`` with T W T' = I and T B T' = diag(psi)."""
        return diagonalising(self.within, self.between)

    def llr(self, models: Array, count: np.ndarray, trials: Array) -> Array:
        """Log-likelihood ratio in nats, same speaker against another: ``[model, trial]``.

        Args:
            models: means of enrolled vectors, ``[model, d]``.
            count: of how many vectors each is the mean, ``[model]``.
            trials: ``[trial, d]``.
        """
        basis, psi = self.diagonal
        u, t = (models - self.mean) @ basis.T, (trials - self.mean) @ basis.T
        return diagonal_llr(u, count, t, psi)


@dataclass(frozen=True)
class PLDA:
    """PLDA as a back end: centring, projection, length normalisation and the two-covariance model.

    Args:
        centre: subtracted from a vector, ``[d]``.
        projection: then applied to it, ``[kept, d]``.
        model: of the projected vectors.
        normalise: whether vectors are scaled to the length that the model expects: to sqrt(kept)
            after the projection, and by sqrt(kept / sum(u^2 / (psi + 1 / n))) in the model's
            basis, ``n`` being the number of averaged vectors. The result is a likelihood ratio for
            vectors on a sphere, and nearly so for others.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> speakers = np.repeat(np.arange(50), 6)
        >>> x = 3 * rng.normal(size=(50, 20))[speakers] + rng.normal(size=(300, 20))
        >>> plda = PLDA.train(x[12:], speakers[12:])
        >>> scores = plda.score([x[:5], x[6:11]], x[[5, 11]])
        >>> bool(scores[0, 0] > 0 > scores[0, 1])
        True
    """

    centre: Array
    projection: Array
    model: TwoCovariance
    normalise: bool = True

    @classmethod
    def train(
        cls,
        embeddings: npt.NDArray[np.floating],
        speakers: Sequence[str] | np.ndarray,
        *,
        lda: int | None = None,
        normalise: bool = True,
        iterations: int = ITERATIONS,
        shrinkage: float | None = None,
        recordings: Sequence[str] | None = None,
    ) -> PLDA:
        """Fit the model to speakers that take part in no trial.

        The projection makes the covariance within speakers I, so that EM starts in coordinates
        that do not depend on the scale of the vectors. That covariance is shrunk toward a
        multiple of I, or it could not be inverted where recordings are few; and where the
        speakers are no more than the dimensions, only ``speakers - 1`` dimensions are kept,
        since the means of speakers span no more and B would be unknown in the others. With
        d-vectors and the 125 speakers of speechocean762's ``train``, keeping 100, 50 or 30
        dimensions gave no fewer errors on ``dev``.

        Args:
            embeddings: ``[n, d]``.
            speakers: of each embedding, ``[n]``.
            lda: dimensions kept, those with the largest ratio of covariance between to within
                speakers; None for all that the speakers span.
            normalise: see :class:`PLDA`.
            iterations: of expectation maximisation.
            shrinkage: 0 (none) to 1 (a multiple of I); None for :func:`ledoit_wolf`.
            recordings: that each embedding is of, where several are copies of one recording, such
                as under several keys. Copies that hardly differ would count as recordings of a
                speaker who hardly varies. The model is the mean of several, each fitted to one copy
                of every recording, and each copy is part of one.

        Raises:
            VoicenymError: fewer than two speakers, none with two recordings, a covariance that
                cannot be inverted, ``lda`` larger than what the speakers span.
        """
        x, index, count = grouped(embeddings, speakers)
        dimensions = x.shape[1]
        spanned = min(dimensions, len(count) - 1)
        if lda is not None and not 1 <= lda <= spanned:
            raise VoicenymError(
                f"lda={lda}: {len(count)} speakers and {dimensions} dimensions allow 1 to {spanned}"
            )
        centre: Array = x.mean(0)
        means = class_means(x, index, count)
        rest = x - means[index]
        within = rest.T @ rest / (len(x) - len(count))
        amount = ledoit_wolf(rest) if shrinkage is None else shrinkage
        usual = float(np.trace(within)) / dimensions
        within = (1.0 - amount) * within + amount * usual * np.eye(dimensions)
        spread = (means - centre) * np.sqrt(count / len(x))[:, None]
        projection, _ = diagonalising(within, spread.T @ spread)
        projection = projection[: lda or spanned]
        vectors = (x - centre) @ projection.T
        if normalise:
            vectors = _to_sphere(vectors)
        parts = [np.arange(len(x))] if recordings is None else _one_copy_each(index, recordings)
        models = [TwoCovariance.fit(vectors[rows], index[rows], iterations) for rows in parts]
        model = models[0] if len(models) == 1 else TwoCovariance.mean_of(models)
        return cls(centre, projection, model, normalise)

    def score(self, enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
        """LLR in nats ``[model, trial]``; the vectors of a model are averaged first."""
        trials = checked(enrolment, trials)
        models = np.stack([np.asarray(v, dtype=np.float64).mean(0) for v in enrolment])
        count = np.array([len(v) for v in enrolment])
        basis, psi = self.model.diagonal
        u = self._in_basis(models, count, basis, psi)
        t = self._in_basis(trials, np.ones(len(trials)), basis, psi)
        return diagonal_llr(u, count, t, psi)

    def _in_basis(self, vectors: Array, count: np.ndarray, basis: Array, psi: Array) -> Array:
        projected: Array = (vectors - self.centre) @ self.projection.T
        if not self.normalise:
            return (projected - self.model.mean) @ basis.T
        u = (_to_sphere(projected) - self.model.mean) @ basis.T
        expected = (np.square(u) / (psi + 1.0 / count[:, None])).sum(1, keepdims=True)
        scaled: Array = u * np.sqrt(u.shape[1] / np.maximum(expected, np.finfo(np.float64).tiny))
        return scaled


def _one_copy_each(
    speakers: npt.NDArray[np.integer], recordings: Sequence[str]
) -> list[npt.NDArray[np.integer]]:
    """Rows with one copy of every recording: the n-th recording of a speaker has the (n + k)-th of
    its copies in part k. All rows in one part where no speaker has two recordings.
    """
    copies: dict[tuple[int, str], list[int]] = {}
    for row, of in enumerate(zip(speakers.tolist(), recordings, strict=True)):
        copies.setdefault(of, []).append(row)
    who = np.array([speaker for speaker, _ in copies])
    turn = [int((who[:place] == speaker).sum()) for place, speaker in enumerate(who)]
    if not any(turn):
        return [np.arange(len(speakers))]
    return [
        np.array([rows[(n + k) % len(rows)] for n, rows in zip(turn, copies.values(), strict=True)])
        for k in range(max(len(rows) for rows in copies.values()))
    ]


def diagonalising(within: Array, between: Array) -> tuple[Array, Array]:
    """T ``[d, d]`` and psi ``[d]``, falling, with T within T' = I and T between T' = diag(psi).

    Raises:
        VoicenymError: if ``within`` is not positive definite.
    """
    values, vectors = np.linalg.eigh(within)
    if values[0] <= 1e-12 * max(values[-1], np.finfo(np.float64).tiny):
        raise VoicenymError(
            "the covariance within speakers cannot be inverted; "
            "give more recordings a speaker, or shrinkage"
        )
    whitening = vectors.T / np.sqrt(values)[:, None]
    psi, rotation = np.linalg.eigh(_symmetric(whitening @ between @ whitening.T))
    return rotation.T[::-1] @ whitening, np.maximum(psi[::-1], 0.0)


def ledoit_wolf(rest: Array) -> float:
    """Optimal shrinkage of the covariance of centred vectors ``[n, d]`` to a multiple of I.

    Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices"
    (J. Multivariate Analysis 88, 2004), the b^2 / d^2 of section 3.2: 0 with unlimited data, 1
    where the covariance does not differ significantly from a multiple of I.
    """
    n, d = rest.shape
    covariance = rest.T @ rest / n
    distance = float(np.square(covariance - np.trace(covariance) / d * np.eye(d)).sum())
    # sum over vectors of |x x' - S|^2, which is sum |x|^4 - n |S|^2
    error = (float(np.square(np.square(rest).sum(1)).sum()) / n - np.square(covariance).sum()) / n
    return float(min(max(error, 0.0) / distance, 1.0)) if distance > 0.0 else 1.0


def _to_sphere(vectors: Array) -> Array:
    """Scale vectors to length sqrt(d), that of white Gaussian vectors; zero stays zero."""
    length: Array = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Array = vectors * (
        math.sqrt(vectors.shape[1]) / np.maximum(length, np.finfo(np.float64).tiny)
    )
    return scaled


def _symmetric(matrix: Array) -> Array:
    return 0.5 * (matrix + matrix.T)


def _log_det(matrix: Array) -> float:
    return float(np.linalg.slogdet(matrix)[1])
