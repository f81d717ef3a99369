"""Clustering of a pool by affinity propagation, for dense and sparse selection.

Clusters are computed once and stored in the pool, so that voices do not depend on the release of
scikit-learn.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from voicenym.errors import DependencyError, VoicenymError
from voicenym.identity.pools.ranking import Likeness
from voicenym.identity.pools.speaker_pool import Pool

MOST = 5000
"""Most speakers of a sex: affinity propagation has quadratic cost."""


def clustered(pool: Pool, likeness: Likeness = "cosine") -> Pool:
    """The pool with clusters of its women, of its men, and of speakers of unknown sex.

    Frey and Dueck, "Clustering by passing messages between data points" (Science 2007), as
    Srivastava et al. (Interspeech 2020) use it; similarities are cosines or PLDA scores.

    Args:
        pool: with each speaker once.
        likeness: similarity measure.

    Raises:
        DependencyError: scikit-learn is missing.
        VoicenymError: more than :data:`MOST` speakers of a sex, no PLDA, or no convergence.
    """
    try:
        from sklearn.cluster import AffinityPropagation
    except ImportError as error:
        raise DependencyError("clusters of a pool: pip install 'voicenym[evaluate]'") from error
    found = torch.full((len(pool),), -1, dtype=torch.long)
    count = 0
    for sex in ("f", "m", ""):
        rows = torch.tensor([i for i, s in enumerate(pool.sexes) if s == sex], dtype=torch.long)
        if not len(rows):
            continue
        if len(rows) > MOST:
            raise VoicenymError(
                f"{len(rows)} speakers are too many to cluster, {MOST} of a sex at most: build the "
                "pool without --clusters"
            )
        alike = similarities(pool, rows, likeness).numpy()
        labels = (
            AffinityPropagation(damping=0.7, max_iter=1000, affinity="precomputed", random_state=0)
            .fit(alike)
            .labels_
        )
        if (labels < 0).any():
            raise VoicenymError(
                f"affinity propagation found no clusters among {len(rows)} speakers of sex "
                f"{sex!r}: add speakers, or build the pool without --clusters"
            )
        found[rows] = torch.as_tensor(labels, dtype=torch.long) + count
        count += int(labels.max()) + 1
    return replace(pool, clusters=found)


def similarities(pool: Pool, rows: torch.Tensor, likeness: Likeness) -> torch.Tensor:
    """Similarity matrix ``[row, row]``, double precision, symmetric."""
    if likeness == "cosine":
        return pool.unit[rows] @ pool.unit[rows].T
    if pool.affinity is None:
        raise VoicenymError("the pool has no PLDA: cluster it by cosine")
    scores = [pool.affinity.scores(pool.vectors[row], pool.vectors[rows]) for row in rows]
    table = torch.stack(scores)
    return 0.5 * (table + table.T)
