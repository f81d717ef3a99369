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

from voicenym.diarization.clustering.linkage import ward
from voicenym.diarization.clustering.same_people import same_people
from voicenym.diarization.clustering.speaker_means import Posteriors, Vectors, means_of

LONG = 960
"""Windows, of four minutes of speech, up to which a recording is clustered as a whole."""
PART = 480
"""Windows of a part at most."""
LEAST = 80
"""Windows, of 20 s of speech, below which a speaker's mean vector is too uncertain to stand alone:
who has fewer joins the most similar speaker. This and what follows is chosen on the speakers of the
settings (docs/measuring/diarization.md)."""
SIMILAR = 0.3
"""Least cosine of that one."""


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
        people = same_people(means, weights, LEAST, SIMILAR)
    else:
        people = ward(means, weights, count)
    posteriors = np.zeros((len(vectors), int(people.max()) + 1))
    first = 0
    for part, own in zip(parts, found, strict=True):
        for speaker, share in enumerate(own.T):
            posteriors[part, people[first + speaker]] += share
        first += own.shape[1]
    return posteriors
