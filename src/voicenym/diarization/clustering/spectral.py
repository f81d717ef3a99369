"""Spectral clustering with an affinity that tunes itself.

After Park, Han, Kumar and Narayanan, "Auto-tuning spectral clustering for speaker diarization using
normalized maximum eigengap", IEEE Signal Processing Letters 2020: each row of the cosine affinity
keeps its p largest entries; p is the one with the least ratio of p to the normalised largest gap of
the Laplacian's eigenvalues, whose place is the number of speakers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voicenym.diarization.clustering.linkage import MOST_AT_ONCE, Labels, agglomerative

MOST_SPEAKERS = 10
"""Largest number of speakers that is found by itself."""
STEPS = 12
"""Numbers of neighbours that are tried."""
MOST_SHARE = 0.25
"""Largest number of neighbours as a share of the vectors."""
LEAST_NEIGHBOURS = 4


def spectral(vectors: npt.NDArray[np.floating], count: int | None = None) -> Labels:
    """Labels ``[n]`` from 0.

    Of many vectors, clusters of a few neighbours are clustered in their place.

    Args:
        vectors: ``[n, d]`` of unit length.
        count: of speakers; None finds it.
    """
    if len(vectors) > MOST_AT_ONCE:
        inner = agglomerative(vectors, -1.0, MOST_AT_ONCE // 2)
        centres = np.array([vectors[inner == i].mean(0) for i in range(inner.max() + 1)])
        return spectral(centres / np.linalg.norm(centres, axis=1, keepdims=True), count)[inner]
    total = len(vectors)
    if total < 2 * LEAST_NEIGHBOURS or count == 1:
        return agglomerative(vectors, 0.0, count or 1)
    affinity = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    most = max(LEAST_NEIGHBOURS, round(MOST_SHARE * total))
    tried = np.unique(np.linspace(LEAST_NEIGHBOURS, most, STEPS).round().astype(int))
    best = min((_solution(affinity, int(p), count) for p in tried), key=lambda found: found[0])
    _, speakers, rows = best
    return _nearest(rows[:, :speakers], speakers)


def _solution(
    affinity: npt.NDArray[np.float64], neighbours: int, count: int | None
) -> tuple[float, int, npt.NDArray[np.float64]]:
    """Ratio of neighbours to gap, number of speakers, and eigenvectors ``[n, speaker]``."""
    order = np.argsort(-affinity, axis=1, kind="stable")[:, :neighbours]
    kept = np.zeros_like(affinity)
    np.put_along_axis(kept, order, 1.0, axis=1)
    kept = 0.5 * (kept + kept.T)
    np.fill_diagonal(kept, 0.0)
    values, rows = np.linalg.eigh(np.diag(kept.sum(1)) - kept)
    most = min(MOST_SPEAKERS, len(values) - 1)
    gaps = np.diff(values[: most + 1])
    place = int(np.argmax(gaps))
    gap = gaps[place] / (values[-1] + 1e-10)
    speakers = min(count, len(values)) if count is not None else place + 1
    return neighbours / len(affinity) / (gap + 1e-10), speakers, rows[:, : max(speakers, 1)]


def _nearest(rows: npt.NDArray[np.float64], count: int, rounds: int = 30) -> Labels:
    """k-means from centres that lie farthest from each other; no draw is random."""
    centres = [rows[int(np.argmax(np.square(rows - rows.mean(0)).sum(1)))]]
    while len(centres) < count:
        distance = np.min([np.square(rows - centre).sum(1) for centre in centres], axis=0)
        centres.append(rows[int(np.argmax(distance))])
    found = np.array(centres)
    labels = np.zeros(len(rows), dtype=np.int64)
    for _ in range(rounds):
        new = np.square(rows[:, None] - found[None]).sum(2).argmin(1)
        if (new == labels).all() and _:
            break
        labels = new
        for i in range(count):
            if (labels == i).any():
                found[i] = rows[labels == i].mean(0)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
