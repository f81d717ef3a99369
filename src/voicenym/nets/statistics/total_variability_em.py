"""EM training of the total variability model, with minimum divergence.

Kenny, Boulianne and Dumouchel 2005 (see :mod:`voicenym.nets.statistics.total_variability`),
proposition 3, for T and S; minimum divergence after Kenny, "Joint factor analysis of speaker and
session
variability: theory and algorithms", CRIM-06/08-13, 2005: the i-vectors' mean and covariance, which
the model says are 0 and I, are estimated too, and put into m and T. Together these are one EM step
in which the prior is free, so that the likelihood never goes down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.statistics.gaussian_mixture import Mixture, pack, packed_squares, unpack
from voicenym.nets.statistics.gaussian_mixture_em import FLOOR, floored
from voicenym.nets.statistics.total_variability import BLOCK_NUMBERS, TotalVariability, start

ITERATIONS = 10
LEAST_COUNT = 1.0
"""Least frame count of a component for an update."""

Statistics = tuple[torch.Tensor, torch.Tensor]
"""Counts ``[recording, component]`` and sums ``[recording, component, d]``."""


def fit(
    statistics: Iterable[Statistics],
    squares: torch.Tensor,
    mixture: Mixture,
    rank: int,
    *,
    iterations: int = ITERATIONS,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[TotalVariability, tuple[float, ...]]:
    """Trains T, m and S on recordings.

    Args:
        statistics: of recordings, in parts of any size; gone through at every iteration.
        squares: sums over all recordings of x x' (packed, ``[component, d (d + 1) / 2]``) or of
            x squared (``[component, d]``), weighted as the statistics are.
        mixture: the universal background model that the statistics are of; the result has its
            type and device. Sums are taken in float64.
        rank: numbers in an i-vector.
        iterations: at least 0.
        seed: of T's start.
        say: callback for progress messages.

    Returns:
        The model, and the log-likelihoods in nats of a recording, before each iteration and after
        the last.

    Raises:
        VoicenymError: fewer than two recordings.
    """
    recordings = sum(len(counts) for counts, _ in statistics)
    if recordings < 2:
        raise VoicenymError("i-vectors need two recordings at least; give more speech")
    model = start(mixture, rank, torch.Generator().manual_seed(seed))
    track = []
    for iteration in range(iterations + 1):
        sums = _Sums(model, statistics)
        track.append(sums.log_likelihood(model, squares) / recordings)
        say(f"i-vectors of {rank} numbers: {track[-1]:.1f} nats a recording")
        if iteration < iterations:
            model = sums.maximised(model, mixture, squares)
    return model, tuple(track)


class _Sums:
    """Accumulators of a pass over the recordings, in float64.

    Attributes:
        recordings: their number.
        counts: of frames ``[component]``.
        frames: their sums ``[component, d]``.
        cross: Psi, sums of (F_c - N_c m_c) w', ``[component, d, r]``.
        spread: A, sums of N_c E[w w'], packed ``[component, r (r + 1) / 2]``.
        mean: sum of w ``[r]``.
        square: sum of E[w w'], packed ``[r (r + 1) / 2]``.
        evidence: sum of the posteriors' evidence.
    """

    def __init__(self, model: TotalVariability, statistics: Iterable[Statistics]) -> None:
        components, d, r = model.factors.shape
        nothing = torch.zeros((), dtype=torch.float64, device=model.means.device)
        self.recordings = 0
        self.counts = nothing.repeat(components)
        self.frames = nothing.repeat(components, d)
        self.cross = nothing.repeat(components, d, r)
        self.spread = nothing.repeat(components, r * (r + 1) // 2)
        self.mean = nothing.repeat(r)
        self.square = nothing.repeat(r * (r + 1) // 2)
        self.evidence = 0.0
        for part in statistics:
            for counts, frames in model.blocks(*part):
                self._accumulate(model, counts, frames)

    def _accumulate(
        self, model: TotalVariability, counts: torch.Tensor, frames: torch.Tensor
    ) -> None:
        found = model.posterior(counts, frames)
        w, kind = found.mean, model.means.dtype
        centred = frames - counts[..., None] * model.means
        square = pack(found.covariance) + packed_squares(w)
        self.recordings += len(counts)
        self.counts += counts.double().sum(0)
        self.frames += frames.double().sum(0)
        self.cross += (centred.flatten(1).T @ w.to(kind)).double().view_as(self.cross)
        self.spread += (counts.T @ square.to(kind)).double()
        self.mean += w.sum(0)
        self.square += square.sum(0)
        self.evidence += float(found.evidence.sum())

    def _scatter(self, means: torch.Tensor, squares: torch.Tensor) -> torch.Tensor:
        """Sums over frames of (x - m)(x - m)', or of squares along the axes."""
        m, n = means.double(), self.counts
        if squares.shape == m.shape:
            return squares.double() - 2.0 * self.frames * m + n[:, None] * m.square()
        mixed = self.frames[:, :, None] * m[:, None, :]
        whole = unpack(squares.double(), m.shape[1])
        return whole - mixed - mixed.mT + n[:, None, None] * m[:, :, None] * m[:, None, :]

    def log_likelihood(self, model: TotalVariability, squares: torch.Tensor) -> float:
        """Log-likelihood of all recordings in nats, given the frames' components.

        Kenny et al. 2005, proposition 2.
        """
        scatter = self._scatter(model.means, squares)
        covariances = model.covariances.double()
        if covariances.ndim == 2:
            volume, inside = covariances.log().sum(1), (scatter / covariances).sum()
        else:
            root = torch.linalg.cholesky(covariances)
            volume = 2.0 * root.diagonal(dim1=1, dim2=2).log().sum(1)
            inside = torch.cholesky_solve(scatter, root).diagonal(dim1=1, dim2=2).sum()
        constant = volume + model.means.shape[1] * math.log(2.0 * math.pi)
        return self.evidence - 0.5 * float(self.counts @ constant + inside)

    def maximised(
        self, model: TotalVariability, mixture: Mixture, squares: torch.Tensor
    ) -> TotalVariability:
        """T = Psi A^-1, S from what T leaves, and the i-vectors' mean and covariance in m and T."""
        r = model.rank
        known = self.counts >= LEAST_COUNT
        factors = model.factors.double().clone()
        for some in known.nonzero()[:, 0].split(max(1, BLOCK_NUMBERS // r**2)):
            root = torch.linalg.cholesky(unpack(self.spread[some], r))
            factors[some] = torch.cholesky_solve(self.cross[some].mT, root).mT
        covariances = self._covariances(model, mixture, factors, squares, known)
        mean = self.mean / self.recordings
        prior = unpack(self.square, r) / self.recordings - mean[:, None] * mean
        means = model.means.double() + factors @ mean
        factors = factors @ torch.linalg.cholesky(prior)
        return TotalVariability(means, factors, covariances).to(model.means.dtype)

    def _covariances(
        self,
        model: TotalVariability,
        mixture: Mixture,
        factors: torch.Tensor,
        squares: torch.Tensor,
        known: torch.Tensor,
    ) -> torch.Tensor:
        """Residual covariances, none below a share of the mixture's own."""
        scatter, old = self._scatter(model.means, squares), model.covariances.double()
        count = self.counts.clamp_min(LEAST_COUNT)
        least = FLOOR * mixture.covariances.double()
        if old.ndim == 2:
            left = (scatter - (factors * self.cross).sum(2)) / count[:, None]
            return torch.where(known[:, None], floored(left, least), old)
        left = (scatter - factors @ self.cross.mT) / count[:, None, None]
        found = floored(0.5 * (left + left.mT), least)
        return torch.where(known[:, None, None], found, old)
