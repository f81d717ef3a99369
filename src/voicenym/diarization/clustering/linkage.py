"""Agglomerative clustering with average linkage or Ward's, by the chain of nearest neighbours.

The chain (Benzécri 1982; Murtagh 1983) merges pairs of clusters that are nearest neighbours of each
other; for these linkages, whose distances never shrink, the merges sorted by their distance are
those of the greedy algorithm.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.int64]
MOST_AT_ONCE = 1500
"""Vectors whose distances are computed at once; of more, parts are clustered first."""


def linkage(
    distances: npt.NDArray[np.floating],
    weights: npt.NDArray[np.floating] | None = None,
    *,
    by_ward: bool = False,
) -> list[tuple[float, int, int]]:
    """Merges ``(distance, one, other)`` by rising distance; clusters are named by a member.

    Args:
        distances: ``[n, n]``, symmetric.
        weights: ``[n]``, how many vectors each stands for; 1 unless given.
        by_ward: the distances are what a merge adds to the sum of squares within clusters (Ward
            1963), and are updated as such (Lance and Williams 1967).

    Example:
        >>> linkage(np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]]))
        [(1.0, 0, 1), (3.0, 0, 2)]
    """
    count = len(distances)
    d = np.array(distances, dtype=np.float64)
    np.fill_diagonal(d, np.inf)
    size = np.ones(count) if weights is None else np.array(weights, dtype=np.float64)
    alive = np.ones(count, dtype=bool)
    merges: list[tuple[float, int, int]] = []
    chain: list[int] = []
    while len(merges) < count - 1:
        if not chain:
            chain.append(int(np.argmax(alive)))
        last = chain[-1]
        nearest = int(np.argmin(d[last]))
        if len(chain) > 1 and d[last, chain[-2]] <= d[last, nearest]:
            nearest = chain[-2]
        if len(chain) < 2 or nearest != chain[-2]:
            chain.append(nearest)
            continue
        del chain[-2:]
        one, other = sorted((last, nearest))
        merges.append((float(d[one, other]), one, other))
        both = size[one] + size[other]
        row = size[one] * d[one] + size[other] * d[other]
        if by_ward:
            row[~alive] = np.inf  # so that no infinity meets another
            row = (row + size * (d[one] + d[other] - d[one, other])) / (both + size)
        else:
            row /= both
        size[one] += size[other]
        alive[other] = False
        row[~alive] = row[one] = np.inf
        d[one], d[:, one] = row, row
        d[other], d[:, other] = np.inf, np.inf
    return sorted(merges)


def agglomerative(
    vectors: npt.NDArray[np.floating],
    threshold: float,
    count: int | None = None,
    most: int | None = None,
    weights: npt.NDArray[np.floating] | None = None,
) -> Labels:
    """Labels ``[n]`` from 0, by the average cosine of clusters.

    More than :data:`MOST_AT_ONCE` vectors are clustered in parts first, down to a tenth, and then
    the means of these clusters: memory grows with the number of vectors and not with its square.

    Args:
        vectors: ``[n, d]`` of unit length.
        threshold: cosine below which clusters are not merged.
        count: of clusters, instead of the threshold; fewer where there are fewer vectors.
        most: of clusters, besides the threshold.
        weights: ``[n]``, how much each vector stands for; 1 unless given.
    """
    total = len(vectors)
    sizes = np.ones(total) if weights is None else np.asarray(weights, dtype=np.float64)
    if total <= MOST_AT_ONCE:
        return _clusters(vectors, sizes, threshold, count, most)
    parts = np.array_split(np.arange(total), -(-total // MOST_AT_ONCE))
    inner = np.zeros(total, dtype=np.int64)
    means: list[npt.NDArray[np.floating]] = []
    together: list[float] = []
    for part in parts:
        own = _clusters(vectors[part], sizes[part], -1.0, max(1, len(part) // 10), None)
        inner[part] = own + len(together)
        for label in range(own.max() + 1):
            members, share = vectors[part][own == label], sizes[part][own == label]
            means.append(
                members.mean(0) if weights is None else np.average(members, axis=0, weights=share)
            )
            together.append(float(share.sum()))
    centres = np.array(means)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    if len(centres) > MOST_AT_ONCE:
        again = None if weights is None else np.array(together)
        return agglomerative(centres, threshold, count, most, again)[inner]
    return _clusters(centres, np.array(together), threshold, count, most)[inner]


def ward(
    vectors: npt.NDArray[np.floating], weights: npt.NDArray[np.floating], count: int
) -> Labels:
    """Labels ``[n]`` from 0 of ``count`` clusters, by Ward's method, or of fewer vectors.

    Large clusters resist being joined more than small ones, so that an odd vector of little weight
    gets no cluster of its own while two people share one.

    Args:
        vectors: ``[n, d]``.
        weights: ``[n]``, how much each stands for.
        count: of clusters.
    """
    if len(vectors) > MOST_AT_ONCE:
        inner = agglomerative(vectors, -1.0, MOST_AT_ONCE // 2, weights=weights)
        total = np.asarray(np.bincount(inner, weights), dtype=np.float64)
        centres = np.zeros((len(total), vectors.shape[1]))
        np.add.at(centres, inner, vectors * weights[:, None])
        return ward(centres / total[:, None], total, count)[inner]
    squares = np.square(vectors).sum(1)
    distances = np.maximum(squares[:, None] + squares - 2.0 * vectors @ vectors.T, 0.0)
    distances *= weights[:, None] * weights / (weights[:, None] + weights)
    merges = linkage(distances, weights, by_ward=True)
    root = np.arange(len(vectors))
    for _, one, other in merges[: max(0, len(vectors) - count)]:
        root[root == root[other]] = root[one]
    return np.unique(root, return_inverse=True)[1].astype(np.int64)


def _clusters(
    vectors: npt.NDArray[np.floating],
    weights: npt.NDArray[np.float64],
    threshold: float,
    count: int | None,
    most: int | None,
) -> Labels:
    total = len(vectors)
    if not total:
        return np.zeros(0, dtype=np.int64)
    root = np.arange(total)
    groups = total
    for distance, one, other in linkage(1.0 - vectors @ vectors.T, weights):
        if count is not None:
            if groups <= count:
                break
        elif distance > 1.0 - threshold and (most is None or groups <= most):
            break
        root[root == root[other]] = root[one]
        groups -= 1
    return np.unique(root, return_inverse=True)[1].astype(np.int64)
