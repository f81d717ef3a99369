"""Drawn accents: random changes of word vectors before the codebook.

The mean and the spread of an encoder's vectors over a recording tell whose speech it was: they are
what is left of the accent. A drawn accent moves the vectors of all recordings under one pseudonym
along the directions in which recordings of different speakers differ most, by a random amount of
twice what the recordings of one speaker differ by (``docs/research/word-codes-native.md``), and
stretches each element a little. Silent places stay silent.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

DIRECTIONS = 32
"""Of the largest ratio of variances between and within speakers (linear discriminant analysis)."""
FAR = 2.0
"""Deviation of the shift along a direction, in deviations of the recordings of one speaker."""
STRETCH = 0.1
"""Deviation of the logarithm of the factor of an element."""
REGULAR = 1e-3
"""Share of the mean variance that is added to each element's."""


class DrawnAccent(NamedTuple):
    """A change of vectors, one a row.

    Args:
        shift: ``[row, element]``, added.
        factor: ``[row, element]``, of the distance from the centre.
    """

    shift: torch.Tensor
    factor: torch.Tensor

    def of(self, rows: list[int]) -> DrawnAccent:
        """The changes of some rows."""
        return DrawnAccent(self.shift[rows], self.factor[rows])


def drawn(directions: torch.Tensor, numbers: torch.Tensor) -> DrawnAccent:
    """The change that standard normal numbers stand for.

    Args:
        directions: ``[direction, element]``, of unit steps times :data:`FAR`.
        numbers: ``[row, direction + element]``.
    """
    count = len(directions)
    moved, stretched = numbers[:, :count], numbers[:, count:]
    return DrawnAccent(
        moved.to(directions) @ directions, (STRETCH * stretched).to(directions).exp()
    )


def changed(vectors: torch.Tensor, centre: torch.Tensor, accent: DrawnAccent) -> torch.Tensor:
    """Vectors ``[row, vector, element]`` with an accent, ``centre + factor (x - centre) + shift``.

    Args:
        vectors: of an encoder of word codes.
        centre: ``[element]``, the mean of the vectors of many recordings.
        accent: of the rows.
    """
    return centre + (vectors - centre) * accent.factor[:, None] + accent.shift[:, None]


def speaker_directions(
    means: torch.Tensor, speakers: torch.Tensor, count: int = DIRECTIONS
) -> torch.Tensor:
    """Directions ``[count, element]`` in which speakers differ most, of :data:`FAR` deviations of
    the recordings of one speaker (linear discriminant analysis, Fisher 1936).

    Args:
        means: ``[recording, element]``, means over the recordings' speech.
        speakers: ``[recording]``, their numbers.
        count: of the directions, at most as many as elements.

    Raises:
        ValueError: fewer than two speakers, or no speaker with two recordings.
    """
    known, place, sizes = speakers.unique(return_inverse=True, return_counts=True)
    if len(known) < 2 or int(sizes.max()) < 2:
        raise ValueError("directions need two speakers, and two recordings of one")
    x = means.double()
    each = torch.zeros(len(known), x.shape[1], dtype=x.dtype).index_add_(0, place, x)
    each = each / sizes[:, None]
    residue = x - each[place]
    within = residue.T @ residue / max(1, len(x) - len(known))
    size = within.shape[0]
    within += REGULAR * within.trace() / size * torch.eye(size, dtype=x.dtype)
    between = torch.cov(each.T)
    # whitened by the recordings of one speaker, eigenvectors are the directions
    root = torch.linalg.cholesky(within)
    half = torch.linalg.solve_triangular(root, between, upper=False)
    whitened = torch.linalg.solve_triangular(root, half.T, upper=False)
    _, vectors = torch.linalg.eigh((whitened + whitened.T) / 2.0)
    best = vectors.flip(1)[:, : min(count, size)]
    # signs that do not depend on the library
    best = best * torch.where(
        best[best.abs().argmax(0), torch.arange(best.shape[1])] < 0, -1.0, 1.0
    )
    return FAR * (root @ best).T.float()


def speech_mean(vectors: torch.Tensor, silent: torch.Tensor) -> torch.Tensor:
    """Mean ``[element]`` of a recording's vectors ``[vector, element]`` outside silence, or of all
    where hardly anything is left.
    """
    some = vectors[~silent]
    return (some if len(some) > 5 else vectors).mean(0)
