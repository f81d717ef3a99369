"""K-means centroids of a pool, deterministic on any machine."""

from __future__ import annotations

from functools import lru_cache

import torch

from voicenym.errors import VoicenymError
from voicenym.identity.method import Sex
from voicenym.identity.pools.speaker_pool import Pool, unit

ROUNDS = 50


@lru_cache(maxsize=16)
def centroids(pool: Pool, sex: Sex | None, count: int) -> torch.Tensor:
    """K-means centroids of speakers of one sex, or of all, ``[count, element]``, double precision.

    Lloyd's algorithm on unit vectors. The initialisation is deterministic: the speaker nearest to
    the mean, then the farthest from all chosen before.

    Raises:
        VoicenymError: fewer speakers than clusters.
    """
    rows = pool.rows(sex)
    if len(rows) < count:
        raise VoicenymError(
            f"the pool has {len(rows)} such speakers, and {count} clusters are asked for: set "
            "fewer clusters, or add speakers to the pool"
        )
    raw = pool.vectors[rows].double()
    points = unit(raw)
    begin = int((points - points.mean(0)).square().sum(1).argmin())
    picked = [begin]
    away = (points - points[begin]).square().sum(1)
    while len(picked) < count:
        picked.append(int(away.argmax()))
        away = torch.minimum(away, (points - points[picked[-1]]).square().sum(1))
    centres = points[picked]
    labels = torch.full((len(points),), -1)
    for _ in range(ROUNDS):
        distance = torch.stack([(points - centre).square().sum(1) for centre in centres])
        found = distance.argmin(0)
        if torch.equal(found, labels):
            break
        labels = found
        centres = _means(points, labels, centres)
    return _means(raw, labels, raw[picked])


def _means(points: torch.Tensor, labels: torch.Tensor, otherwise: torch.Tensor) -> torch.Tensor:
    """Means of the points of each label; empty clusters keep their centre."""
    count = len(otherwise)
    sums = torch.zeros_like(otherwise).index_add_(0, labels, points)
    sizes = torch.bincount(labels, minlength=count)[:, None]
    return torch.where(sizes > 0, sums / sizes.clamp_min(1), otherwise)


def least_like(vector: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """Indices of the centres in ascending order of their cosine with a vector ``[element]``."""
    cosine = (unit(centres) * unit(vector[None])).sum(1)
    return torch.argsort(cosine, stable=True)
