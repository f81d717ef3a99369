"""Clustering of a long recording: speakers of its parts, then who of them are one person.

The evidence that a clustering by a model has grows with the recording, and what it holds against
another speaker does not: of the speech of two people it makes the more speakers the longer they
talk. Parts of two minutes are as long as the conversations that its settings know. Speakers of the
parts are joined by their mean vectors, whatever their part: what a part divides may be one person,
too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from voicenym.diarization.linkage import Labels, agglomerative, ward
from voicenym.diarization.speaker_means import Posteriors, Vectors, means_of

LONG = 960
"""Windows, of four minutes of speech, up to which a recording is clustered as a whole."""
PART = 480
"""Windows of a part at most."""
ONE_PERSON = 0.7
"""Average cosine of speakers of parts from which they are one person, by ``ecapa-small``. This and
what follows is chosen on the speakers of the settings (docs/measuring/diarization.md)."""
LEAST = 80
"""Windows, of 20 s of speech, below which a speaker's mean vector is too uncertain to stand alone:
who has fewer joins the most similar speaker."""
SIMILAR = 0.3
"""Least cosine of that one."""

Array = npt.NDArray[np.float64]


def in_parts(
    vectors: Vectors, cluster: Callable[[Vectors], Posteriors], count: int | None = None
) -> Posteriors:
    """Posteriors of the speakers of a recording whose parts are clustered.

    Time grows with the length, and memory beyond the vectors and posteriors hardly does.

    Args:
        vectors: ``[window, d]`` of unit length, in order of time.
        cluster: posteriors of the speakers of a part.
        count: number of speakers, by Ward's method; None finds it. Fewer where the parts have
            fewer.
    """
    parts = np.array_split(np.arange(len(vectors)), -(-len(vectors) // PART))
    found = [cluster(vectors[part]) for part in parts]
    means = np.concatenate(
        [means_of(vectors[part], own) for part, own in zip(parts, found, strict=True)]
    )
    weights = np.concatenate([own.sum(0) for own in found])
    if count is None:
        people = agglomerative(means, ONE_PERSON, weights=weights)
        people = _without_small(means, weights, people)
    else:
        people = ward(means, weights, count)
    posteriors = np.zeros((len(vectors), int(people.max()) + 1))
    first = 0
    for part, own in zip(parts, found, strict=True):
        for speaker, share in enumerate(own.T):
            posteriors[part, people[first + speaker]] += share
        first += own.shape[1]
    return posteriors


def _without_small(means: Array, weights: Array, labels: Labels) -> Labels:
    """Labels of which those of little weight are that of the most similar one, smallest first."""
    while True:
        total = np.bincount(labels, weights)
        centres = np.zeros((len(total), means.shape[1]))
        np.add.at(centres, labels, means * weights[:, None])
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
        cosines = centres @ centres.T
        np.fill_diagonal(cosines, -1.0)
        small = np.flatnonzero((total < LEAST) & (cosines.max(1) >= SIMILAR))
        if not len(small):
            return labels
        one = small[np.argmin(total[small])]
        labels = np.where(labels == one, cosines[one].argmax(), labels)
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
