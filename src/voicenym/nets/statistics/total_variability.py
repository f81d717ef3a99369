"""Total variability model and i-vector extraction.

Dehak, Kenny, Dehak, Dumouchel and Ouellet, "Front-end factor analysis for speaker verification",
IEEE Trans. Audio, Speech and Language Processing 19, 2011; the algebra is that of Kenny, Boulianne
and Dumouchel, "Eigenvoice modeling with sparse training data", IEEE Trans. Speech and Audio
Processing 13, 2005. Given which component of a universal background model each frame belongs to,
the frames of recording u in component c are Gaussian with mean m_c + T_c w_u and covariance S_c,
where w_u ~ N(0, I) is the recording's own. Its i-vector is the mean of w_u given the frames.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch

from voicenym.nets.statistics.gaussian_mixture import Mixture, pack, unpack

BLOCK_NUMBERS = 1 << 22
"""Largest number of elements of an intermediate table (32 MB in float64)."""


@dataclass(frozen=True)
class Posterior:
    """Posterior of w given recordings.

    Args:
        mean: i-vectors ``[recording, r]``, float64.
        covariance: ``[recording, r, r]``, float64.
        evidence: ``[recording]``, ln of how much likelier the frames are with T than without, in
            nats: b' L^-1 b / 2 - ln|L| / 2.
    """

    mean: torch.Tensor
    covariance: torch.Tensor
    evidence: torch.Tensor


@dataclass(frozen=True)
class TotalVariability:
    """Total variability model; its tensors share a type and a device.

    Args:
        means: m, ``[component, d]``.
        factors: T, ``[component, d, r]``.
        covariances: S, variances ``[component, d]`` or matrices ``[component, d, d]``.
    """

    means: torch.Tensor
    factors: torch.Tensor
    covariances: torch.Tensor

    @property
    def rank(self) -> int:
        """Elements of an i-vector."""
        return self.factors.shape[2]

    def to(self, target: torch.dtype | torch.device | str) -> TotalVariability:
        """The model in another type or on another device."""
        return TotalVariability(
            self.means.to(target), self.factors.to(target), self.covariances.to(target)
        )

    @cached_property
    def _tables(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Precomputed matrices for posteriors.

        Returns:
            S^-1 T as ``[component d, r]``, T' S^-1 T packed ``[component, r (r + 1) / 2]``, and
            T' S^-1 m ``[component, r]``.
        """
        components, d, rank = self.factors.shape
        weighted = torch.empty_like(self.factors)
        information = self.means.new_empty(components, rank * (rank + 1) // 2)
        for some in torch.arange(components).split(max(1, BLOCK_NUMBERS // max(d, rank) ** 2)):
            factors, covariances = self.factors[some].double(), self.covariances[some].double()
            if covariances.ndim == 2:
                solved = factors / covariances[..., None]
            else:
                solved = torch.cholesky_solve(factors, torch.linalg.cholesky(covariances))
            weighted[some] = solved.to(weighted)
            information[some] = pack(factors.mT @ solved).to(information)
        offset = torch.einsum("cdr,cd->cr", weighted, self.means)
        return weighted.reshape(components * d, rank), information, offset

    def blocks(
        self, counts: torch.Tensor, sums: torch.Tensor
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Statistics of recordings in blocks of bounded size."""
        widest = max(self.rank**2, self.means.numel())
        rows = max(1, BLOCK_NUMBERS // widest)
        for n, f in zip(counts.split(rows), sums.split(rows), strict=True):
            yield n.to(self.means), f.to(self.means)

    def posterior(self, counts: torch.Tensor, sums: torch.Tensor) -> Posterior:
        """Posteriors of w for a block of recordings; see :meth:`blocks`.

        Precision L = I + sum_c N_c T_c' S_c^-1 T_c, mean L^-1 b with
        b = sum_c T_c' S_c^-1 (F_c - N_c m_c) (Kenny et al. 2005, proposition 1).

        Args:
            counts: N, ``[recording, component]``.
            sums: F, ``[recording, component, d]``.
        """
        found, root, mean = self._solved(counts, sums)
        volume = 2.0 * root.diagonal(dim1=1, dim2=2).log().sum(1)
        evidence = 0.5 * ((found * mean).sum(1) - volume)
        return Posterior(mean, torch.cholesky_inverse(root), evidence)

    def _solved(
        self, counts: torch.Tensor, sums: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Vectors b, Cholesky factors of L, and L^-1 b."""
        weighted, information, offset = self._tables
        found = (sums.flatten(1) @ weighted - counts @ offset).double()
        precision = unpack((counts @ information).double(), self.rank)
        precision.diagonal(dim1=1, dim2=2).add_(1.0)
        root = torch.linalg.cholesky(precision)
        return found, root, torch.cholesky_solve(found[..., None], root)[..., 0]

    def ivectors(self, counts: torch.Tensor, sums: torch.Tensor) -> torch.Tensor:
        """i-vectors ``[recording, r]``, float64; 0, the prior mean, without frames.

        Args:
            counts: ``[recording, component]``.
            sums: ``[recording, component, d]``.
        """
        found = [self._solved(n, f)[2] for n, f in self.blocks(counts, sums)]
        return torch.cat(found) if found else self.means.new_zeros(0, self.rank).double()


def start(
    mixture: Mixture, rank: int, generator: torch.Generator, spread: float = 0.1
) -> TotalVariability:
    """Initial model: means and covariances of the mixture, random T.

    Args:
        mixture: the universal background model.
        rank: numbers in an i-vector.
        generator: of the draw, on the CPU.
        spread: deviation of a component's mean over recordings, as a share of its own deviation.
    """
    shape = (mixture.components, mixture.dimension, rank)
    drawn = torch.randn(shape, generator=generator).to(mixture.means) * (spread * rank**-0.5)
    if mixture.full:
        factors = torch.linalg.cholesky(mixture.covariances) @ drawn
    else:
        factors = mixture.covariances.sqrt()[..., None] * drawn
    return TotalVariability(mixture.means, factors, mixture.covariances)
