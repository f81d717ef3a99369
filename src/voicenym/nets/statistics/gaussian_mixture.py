"""Gaussian mixture models of speech frames: densities, Baum-Welch statistics, MAP adaptation.

As universal background models: Reynolds, Quatieri and Dunn, "Speaker verification using adapted
Gaussian mixture models", Digital Signal Processing 10, 2000. Frames are processed in blocks, in
bounded memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import torch

BLOCK_NUMBERS = 1 << 23
"""Largest number of elements of an intermediate table (64 MB in float64)."""
RELEVANCE = 16.0
"""Reynolds's relevance factor: after so many frames, an adapted mean is half the speaker's."""


@dataclass(frozen=True)
class Mixture:
    """Gaussian mixture model; its tensors share a type and a device.

    Args:
        weights: ``[component]``, positive, of sum 1.
        means: ``[component, d]``.
        covariances: variances ``[component, d]``, or matrices ``[component, d, d]``.

    Example:
        >>> one = Mixture(torch.ones(1), torch.zeros(1, 2), torch.ones(1, 2))
        >>> one.log_densities(torch.zeros(1, 2))  # -ln(2 pi)
        tensor([-1.8379])
    """

    weights: torch.Tensor
    means: torch.Tensor
    covariances: torch.Tensor

    @property
    def components(self) -> int:
        return len(self.weights)

    @property
    def dimension(self) -> int:
        """Elements of a frame."""
        return self.means.shape[1]

    @property
    def full(self) -> bool:
        """Whether the covariances are matrices."""
        return self.covariances.ndim == 3

    def to(self, target: torch.dtype | torch.device | str) -> Mixture:
        """The mixture in another type or on another device."""
        return Mixture(self.weights.to(target), self.means.to(target), self.covariances.to(target))

    def with_means(self, means: torch.Tensor) -> Mixture:
        """The mixture with other means ``[component, d]``, as a speaker model."""
        return replace(self, means=means)

    @cached_property
    def _natural(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Origin ``[d]``, table ``[moment, component]`` and constant ``[component]``.

        Log joint densities are ``moments @ table + constant``, moments being taken around the
        origin: squares of large numbers lose digits.
        """
        weights, means = self.weights.double(), self.means.double()
        origin = weights @ means / weights.sum()
        means = means - origin
        if self.full:
            root = torch.linalg.cholesky(self.covariances.double())
            precision = torch.cholesky_inverse(root)
            linear = torch.einsum("cij,cj->ci", precision, means)
            volume = 2.0 * root.diagonal(dim1=1, dim2=2).log().sum(1)
            # a matrix's halves are one entry of the packed triangle
            quadratic = -pack(precision)
            quadratic[:, diagonal_places(self.dimension)] *= 0.5
        else:
            precision = 1.0 / self.covariances.double()
            linear = precision * means
            volume = self.covariances.double().log().sum(1)
            quadratic = -0.5 * precision
        constant = -0.5 * (self.dimension * math.log(2.0 * math.pi) + volume)
        constant += weights.log() - 0.5 * (linear * means).sum(1)
        table = torch.cat([linear, quadratic], dim=1).T
        kind = self.means.dtype
        return origin.to(kind), table.contiguous().to(kind), constant.to(kind)

    @property
    def origin(self) -> torch.Tensor:
        """The mixture's mean ``[d]``, around which :meth:`moments` are taken."""
        return self._natural[0]

    def moments(self, frames: torch.Tensor) -> torch.Tensor:
        """``[frame, d]`` around the mixture's mean, with squares: ``[frame, moment]``."""
        x = frames - self.origin
        return torch.cat([x, packed_squares(x) if self.full else x.square()], dim=1)

    def log_joint(self, moments: torch.Tensor) -> torch.Tensor:
        """Log joint densities ``[frame, component]`` from :meth:`moments`."""
        _, table, constant = self._natural
        return torch.addmm(constant, moments, table)

    def blocks(self, frames: torch.Tensor) -> Iterator[torch.Tensor]:
        """Frames ``[n, d]`` in blocks of bounded size."""
        d = self.dimension
        widest = max(self.components, d + d * (d + 1) // 2 if self.full else 2 * d)
        for block in frames.split(max(1, BLOCK_NUMBERS // widest)):
            yield block.to(self.means)

    def log_densities(self, frames: torch.Tensor) -> torch.Tensor:
        """Log densities ``[n]`` of frames ``[n, d]``, in nats."""
        found = [self.log_joint(self.moments(b)).logsumexp(1) for b in self.blocks(frames)]
        return torch.cat(found) if found else self.means.new_zeros(0)

    def statistics(
        self, frames: torch.Tensor, squares: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Baum-Welch statistics of one recording.

        Args:
            frames: ``[n, d]``; ``n`` may be 0.
            squares: to which sums of weighted squares are added, float64: packed x x'
                ``[component, d (d + 1) / 2]``, or squares along the axes ``[component, d]``.

        Returns:
            Counts ``[component]``, sums of posteriors; and sums of frames that these weigh,
            ``[component, d]``.
        """
        counts = torch.zeros_like(self.weights)
        sums = torch.zeros_like(self.means)
        for block in self.blocks(frames):
            shares = self.log_joint(self.moments(block)).softmax(1)
            counts += shares.sum(0)
            sums += shares.T @ block
            if squares is not None:
                squares += shares.T @ (packed_squares(block) if self.full else block.square())
        return counts, sums

    def no_squares(self) -> torch.Tensor:
        """Zero accumulator of squares for :meth:`statistics`."""
        d = self.dimension
        shape = (self.components, d * (d + 1) // 2 if self.full else d)
        return torch.zeros(shape, dtype=torch.float64, device=self.means.device)

    def adapted_means(
        self, counts: torch.Tensor, sums: torch.Tensor, relevance: float = RELEVANCE
    ) -> torch.Tensor:
        """MAP-adapted means ``[..., component, d]``.

        (sum + r mean) / (count + r), Reynolds et al. 2000, eqs. 11 to 14, means alone.

        Args:
            counts: ``[..., component]``, those of several recordings of a speaker added up.
            sums: ``[..., component, d]``.
            relevance: r, in frames.
        """
        return (sums + relevance * self.means) / (counts + relevance)[..., None]

    def whitened(self, deviations: torch.Tensor) -> torch.Tensor:
        """``[..., component, d]`` in units of each component's covariance."""
        if not self.full:
            return deviations / self.covariances.sqrt()
        root = torch.linalg.cholesky(self.covariances)
        return torch.linalg.solve_triangular(root, deviations[..., None], upper=False)[..., 0]


def pack(matrices: torch.Tensor) -> torch.Tensor:
    """Upper triangles ``[..., d (d + 1) / 2]`` of symmetric ``[..., d, d]``."""
    row, column = torch.triu_indices(*matrices.shape[-2:], device=matrices.device)
    return matrices[..., row, column]


def unpack(triangles: torch.Tensor, d: int) -> torch.Tensor:
    """Symmetric ``[..., d, d]`` from upper triangles of :func:`pack`."""
    row, column = torch.triu_indices(d, d, device=triangles.device)
    place = torch.empty(d, d, dtype=torch.long, device=triangles.device)
    place[row, column] = place[column, row] = torch.arange(len(row), device=triangles.device)
    return triangles[..., place]


def diagonal_places(d: int) -> torch.Tensor:
    """Indices of the diagonal in :func:`pack`."""
    step = torch.arange(d)
    return step * d - step * (step - 1) // 2


def packed_squares(vectors: torch.Tensor) -> torch.Tensor:
    """``pack(x x')`` of vectors ``[n, d]``: ``[n, d (d + 1) / 2]``."""
    d = vectors.shape[1]
    found = vectors.new_empty(len(vectors), d * (d + 1) // 2)
    # a row of the triangle at a time: gathering both factors takes six times as long
    for i, row in enumerate(found.split([*range(d, 0, -1)], dim=1)):
        torch.mul(vectors[:, i, None], vectors[:, i:], out=row)
    return found
