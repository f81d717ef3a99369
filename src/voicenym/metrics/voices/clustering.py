"""Linkability by clustering: how well anonymized recordings fall into groups by speaker.

Listeners of the VoicePrivacy 2020 Challenge sorted anonymized recordings into clusters of one voice
(O'Brien et al., "Anonymous speaker clusters", Interspeech 2021). Here a verifier does: average
linkage of cosine similarities into as many clusters as there are speakers. The agreement of the
clusters with the speakers is the adjusted Rand index (Hubert and Arabie, "Comparing partitions",
Journal of Classification 2, 1985).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voicenym.errors import DependencyError, ScoreError
from voicenym.metrics.intervals.interval import Interval, enough, percentiles, varied
from voicenym.metrics.metric import Display, Metric
from voicenym.metrics.metric_inputs import VoiceVectors
from voicenym.metrics.trials.scores import Array
from voicenym.metrics.trials.speaker_pairs import drawn_times, steps


@dataclass(frozen=True)
class Clustering:
    """Agreement of clusters with speakers.

    Args:
        value: adjusted Rand index: 1 where each cluster is a speaker, 0 on average for clusters
            that have nothing to do with speakers.
        interval: by bootstrap over speakers, the clusters being fixed; NaN where all draws are
            alike, as of clusters that are speakers throughout.
        clusters: ``[recording]``.
    """

    value: float
    interval: Interval
    clusters: np.ndarray
    unit: str = ""


def link(
    vectors: np.ndarray,
    speakers: np.ndarray,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> Clustering:
    """Cluster recordings by average linkage, and compare the clusters with the speakers.

    Args:
        vectors: ``[recording, dimension]`` of length one.
        speakers: of the recordings; two at least, and one with two recordings.
        level, replicates, seed: of the bootstrap over speakers.

    Raises:
        ScoreError: one speaker, or no speaker with two recordings.
        DependencyError: no scipy.

    Example:
        >>> link(np.repeat(np.eye(3), 2, axis=0), np.array(list("aabbcc")), replicates=9).value
        1.0
    """
    names, index = np.unique(np.asarray(speakers), return_inverse=True)
    if not 1 < len(names) < len(index):
        raise ScoreError("clusters need two speakers, and one of them with two recordings")
    try:
        from scipy.cluster.hierarchy import fcluster, linkage
    except ImportError as error:
        raise DependencyError("clusters need scipy: pip install 'voicenym[evaluate]'") from error
    tree = linkage(_distances(vectors), "average")
    clusters = fcluster(tree, len(names), "maxclust")
    pairs = _pairs(index, clusters, len(names))
    rng = np.random.default_rng(seed)
    times = drawn_times(replicates, len(names), rng).astype(np.float64)
    value = float(_index(pairs, np.ones(len(names))))
    limits = enough(len(names), varied(percentiles(_index(pairs, times), level)))
    return Clustering(value, limits, clusters)


def _distances(vectors: np.ndarray) -> Array:
    """1 - cosine of all pairs of recordings, the upper half of the matrix by rows."""
    count = len(vectors)
    found = np.empty(count * (count - 1) // 2)
    done = 0
    for rows in steps(count, count):
        block = vectors[rows] @ vectors[rows.start :].T
        upper = np.arange(block.shape[1]) > np.arange(len(block))[:, None]
        part = found[done : done + int(upper.sum())]
        np.maximum(1.0 - block[upper], 0.0, out=part)
        done += len(part)
    return found


def _pairs(speakers: np.ndarray, clusters: np.ndarray, count: int) -> tuple[Array, Array]:
    """Pairs of recordings by their two speakers: all, and those in one cluster."""
    table = np.zeros((count, int(clusters.max()) + 1))
    np.add.at(table, (speakers, clusters), 1.0)
    sizes = table.sum(1)
    every, joined = np.outer(sizes, sizes), table @ table.T
    for matrix in (every, joined):  # of one speaker, a recording is not paired with itself
        matrix[np.diag_indices(count)] -= sizes
    return every, joined


def _index(pairs: tuple[Array, Array], times: Array) -> Array:
    """Adjusted Rand index from counts of pairs, speakers being drawn ``[..., speaker]`` times.

    2 (a d - b c) / ((a + b) (b + d) + (a + c) (c + d)): a pairs of one speaker in one cluster, b of
    one speaker in two clusters, c of two speakers in one cluster, d of two speakers in two
    clusters.
    """
    # two draws of a speaker are no pair of two speakers
    (own, others), (a, c) = (_totals(matrix, times) for matrix in pairs)
    b, d = own - a, others - c
    below = np.asarray((a + b) * (b + d) + (a + c) * (c + d))
    found = np.full(below.shape, math.nan)
    np.divide(2.0 * (a * d - b * c), below, out=found, where=below != 0)
    return found


def _totals(matrix: Array, times: Array) -> tuple[Array, Array]:
    """Weighted sums over the pairs of one speaker and over those of two, ``[...]``."""
    own = np.diagonal(matrix)
    everything = ((times @ matrix) * times).sum(-1)
    return times @ own, everything - (times * times) @ own


def _measure(voices: VoiceVectors) -> Clustering | None:
    if not 1 < len(set(voices.speakers.tolist())) < len(voices.speakers):
        return None
    return link(voices.published, voices.speakers, **voices.bootstrap)


CLUSTERS = Metric(
    name="cluster ARI",
    unit="",
    better="lower",
    chance=0.0,
    interval="percentiles of a bootstrap over speakers, the clusters being fixed, which hold no "
    "clusters of other recordings; none where all draws are alike",
    definition="Linkability by clustering: adjusted Rand index of the speakers and of the clusters "
    "into which a verifier sorts recordings as they are published, 0 (chance) to 1 (each cluster "
    "is a speaker); voices that are drawn per speaker are meant to be linkable",
    data=VoiceVectors,
    measure=_measure,
    display=Display(table="diversity", heading="cluster ARI"),
    originals=True,
)
