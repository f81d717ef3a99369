"""Whether voices stay apart from each other, and from the originals."""

from __future__ import annotations

import numpy as np

from voicenym.evaluation.results import Measured
from voicenym.evaluation.trials import Trials
from voicenym.metrics import (
    Similarity,
    cross_similarity_distance,
    deidentification,
    gain_of_voice_distinctiveness,
    similarity_between,
    similarity_matrix,
    similarity_within,
)
from voicenym.verification.scoring import unit


def measure(
    original: np.ndarray, published: np.ndarray, trials: Trials, replicates: int
) -> tuple[dict[str, np.ndarray], dict[str, Measured]]:
    """Voice similarity matrices, their block means, G_VD, DeID, diversity.

    Single elements of a matrix have no interval: one is of two people, and people are what is
    drawn. Means of its diagonal (``own``) and of the rest (``others``) have one.

    Diversity is the Kolmogorov-Smirnov distance of how alike different speakers' voices are before
    and after (Turner et al. 2022, equation 1), each voice being the mean of a speaker's vectors.

    Args:
        original, published: vectors ``[trial, dimension]`` of the trials before and after.
        trials: whose they are.
        replicates: of the bootstrap over speakers.

    Returns:
        Matrices ``[speaker, speaker]`` named ``oo``, ``oa``, ``aa``, and figures by metric.
    """
    speakers = np.array([recording.speaker for recording in trials.recordings])
    o, a = unit(original), unit(published)
    matrices = {
        name: matrix(rows, columns, speakers)
        for name, rows, columns in (("oo", o, o), ("oa", o, a), ("aa", a, a))
    }
    gain = gain_of_voice_distinctiveness(matrices["oo"], matrices["aa"], replicates=replicates)
    hidden = deidentification(matrices["oo"], matrices["oa"], replicates=replicates)
    figures = {
        "G_VD": Measured(gain.value, *gain.interval, "dB"),
        "DeID": Measured(hidden.value, *hidden.interval, ""),
    }
    for name, similarity in matrices.items():
        for kind, mean in (("own", similarity_within), ("others", similarity_between)):
            block = mean(similarity, replicates=replicates)
            figures[f"M_{name} {kind}"] = Measured(block.value, *block.interval, block.unit)
    if len(set(speakers)) > 1:
        distance = cross_similarity_distance(voices(o, speakers), voices(a, speakers))
        low, high = distance.interval or (None, None)
        figures["D_KS"] = Measured(distance.value, low, high, distance.unit)
    return {name: similarity.matrix for name, similarity in matrices.items()}, figures


def matrix(rows: np.ndarray, columns: np.ndarray, speakers: np.ndarray) -> Similarity:
    """The voice similarity matrix of recordings in two forms, by cosine.

    Args:
        rows, columns: unit vectors ``[recording, dimension]``.
        speakers: of the recordings.
    """
    itself = np.eye(len(speakers), dtype=bool)
    return similarity_matrix(rows @ columns.T, speakers, speakers, same_segment=itself)


def voices(vectors: np.ndarray, speakers: np.ndarray) -> np.ndarray:
    """The mean vector of each speaker, ``[speaker, dimension]``, by name."""
    return np.stack([vectors[speakers == name].mean(0) for name in sorted(set(speakers))])
