"""Clusters that are one person, by the cosines of their mean vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voicenym.diarization.clustering.linkage import Labels, agglomerative

ONE_PERSON = 0.7
"""Average cosine of clusters from which they are one person, by ``ecapa-small``: clusters of
different people had 0.68 at most on the speakers of the settings
(docs/measuring/diarization.md)."""

Array = npt.NDArray[np.float64]


def same_people(means: Array, weights: Array, least: float, similar: float) -> Labels:
    """Person of each cluster ``[cluster]``, from 0.

    Args:
        means: of the clusters' vectors, ``[cluster, d]``, of unit length.
        weights: windows of each, ``[cluster]``.
        least: windows below which a mean vector is too uncertain to stand alone: who has fewer
            joins the most similar person.
        similar: least cosine of that one.
    """
    labels = agglomerative(means, ONE_PERSON, weights=weights)
    while len(labels):
        total = np.bincount(labels, weights)
        centres = np.zeros((len(total), means.shape[1]))
        np.add.at(centres, labels, means * weights[:, None])
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
        cosines = centres @ centres.T
        np.fill_diagonal(cosines, -1.0)
        small = np.flatnonzero((total < least) & (cosines.max(1) >= similar))
        if not len(small):
            break
        one = small[np.argmin(total[small])]
        labels = np.where(labels == one, cosines[one].argmax(), labels)
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return labels
