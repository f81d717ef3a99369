"""Clusterings of windows into speakers, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from voicenym.diarization.clustering.linkage import agglomerative
from voicenym.diarization.clustering.long_recordings import LONG, in_parts
from voicenym.diarization.clustering.same_people import same_people
from voicenym.diarization.clustering.speaker_means import Posteriors, Vectors, means_of
from voicenym.diarization.clustering.spectral import spectral
from voicenym.diarization.clustering.vbx import VBxSettings, vbx
from voicenym.verification.plda import TwoCovariance

BACK_END = Path(__file__).parents[1] / "bundled" / "plda-small"
"""PLDA of vectors of windows of ``ecapa-small``."""
THRESHOLD = 0.25
"""Cosine of clusters below which the agglomerative baseline does not merge them."""
FIRST_THRESHOLD = 0.6
"""The same for VBx, which begins with too many speakers."""
MOST_FIRST = 40
"""Most speakers that VBx begins with."""
FALLING = (1.0, 0.6, 0.4, 0.2, 0.1)
"""Factors of F_B that are tried where the number of speakers is given."""
ALIKE = 0.53
"""Cosine of mean vectors of ``ecapa-small`` from which two speakers may be one. On the speakers of
the settings, different people had 0.505 at most, and the parts of one person 0.555 at least."""
LEAST = 28
"""Windows, of 7 s of speech: a speaker of VBx who has fewer joins the most similar one."""
SIMILAR = 0.5
"""Least cosine of the mean vectors of the two."""
LEAST_PRIOR = 0.01
"""Prior of a speaker below which the data do not need it."""

DIMENSIONS = 64
"""Dimensions of PLDA's basis that VBx uses: those in which speakers differ most."""
BLOCK = 4096
"""Vectors that are brought into that basis at once."""


@lru_cache(maxsize=1)
def back_end() -> TwoCovariance:
    """The bundled PLDA."""
    from voicenym.nets.checkpoint import read

    _, state = read(BACK_END)
    # of the symmetric matrices, the upper triangles are stored
    upper = {name: state[name].double().triu() for name in ("within", "between")}
    within, between = ((m + m.triu(1).mT).numpy() for m in upper.values())
    return TwoCovariance(state["mean"].double().numpy(), within, between)


def by_vbx(
    vectors: Vectors, count: int | None = None, settings: VBxSettings | None = None
) -> Posteriors:
    """VBx from an agglomerative clustering with too many speakers; of long recordings, in parts.

    Speakers whose mean vectors say that they are one person are joined. Where their number is
    given, speakers who are too many join the most similar ones, and the regularisation F_B falls
    until they are not too few; spectral clustering is the last resort.
    """
    if len(vectors) > LONG:
        joined = in_parts(vectors, lambda part: refined(part, None, settings), count)
        if count is None or len(set(joined.argmax(1).tolist())) == count:
            return joined
        return by_spectrum(vectors, count)  # the parts have fewer speakers
    gamma = refined(vectors, count, settings)
    if count is not None or not len(vectors):
        return gamma
    people = same_people(means_of(vectors, gamma), gamma.sum(0), LEAST, SIMILAR)
    return gamma @ _one_hot(people)


def refined(vectors: Vectors, count: int | None, settings: VBxSettings | None) -> Posteriors:
    """Posteriors of VBx over all windows at once; speakers who are one person are not joined.

    Args:
        vectors: ``[window, d]`` of unit length.
        count: of speakers; None finds it.
        settings: of the inference.
    """
    between = back_end().diagonal[1]
    used = np.argsort(-between)[:DIMENSIONS]
    x = _in_basis(vectors, used)
    first = agglomerative(vectors, FIRST_THRESHOLD, most=MOST_FIRST)
    how = settings or VBxSettings()
    for factor in (1.0,) if count is None else FALLING:
        now = replace(how, regularisation=factor * how.regularisation)
        found = vbx(x, between[used], first, now)
        kept = found.priors > LEAST_PRIOR
        if not kept.any():
            kept[:] = True
        gamma = found.responsibilities[:, kept]
        gamma /= np.maximum(gamma.sum(1, keepdims=True), 1e-300)
        if count is None:
            return gamma
        if gamma.shape[1] >= count:
            joined = _joined(vectors, gamma, count)
            if len(set(joined.argmax(1).tolist())) == count:
                return joined
    return by_spectrum(vectors, count)


def _in_basis(vectors: Vectors, used: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    """Vectors ``[window, len(used)]`` in PLDA's basis; in blocks, for the sake of memory."""
    basis, mean = back_end().diagonal[0], back_end().mean
    found = np.empty((len(vectors), len(used)), order="F")  # as a selection of columns
    for first in range(0, len(vectors), BLOCK):
        block = vectors[first : first + BLOCK]
        found[first : first + BLOCK] = ((block - mean) @ basis.T)[:, used]
    return found


def _joined(vectors: Vectors, gamma: Posteriors, count: int) -> Posteriors:
    """Posteriors of ``count`` speakers, of whom the most similar have become one."""
    labels = agglomerative(means_of(vectors, gamma), -1.0, count)
    return gamma @ _one_hot(labels)


def by_linkage(vectors: Vectors, count: int | None = None) -> Posteriors:
    """Agglomerative clustering with average linkage of cosines: the baseline."""
    return _one_hot(agglomerative(vectors, THRESHOLD, count))


def by_spectrum(vectors: Vectors, count: int | None = None) -> Posteriors:
    """Spectral clustering, which needs no threshold and no PLDA."""
    return _one_hot(spectral(vectors, count))


def usual(windows: int, count: int | None) -> str:
    """Name of the clustering that fits a recording best, with vectors of ``ecapa-small``.

    Args:
        windows: their number.
        count: of speakers; None if it is to be found.
    """
    return "vbx" if count is None or windows > LONG else "spectral"


CLUSTERINGS: Mapping[str, Callable[[Vectors, int | None], Posteriors]] = {
    "vbx": by_vbx,
    "spectral": by_spectrum,
    "agglomerative": by_linkage,
}
"""Clusterings by name: unit vectors ``[window, d]`` and the number of speakers, or None, to
posteriors of speakers."""


def _one_hot(labels: npt.NDArray[np.int64]) -> Posteriors:
    return np.eye(int(labels.max()) + 1 if len(labels) else 0)[labels]
