"""Whether voices stay apart from each other, and from the originals."""

from __future__ import annotations

import numpy as np

from voicenym.attack.backend import unit
from voicenym.benchmark.results import Measured
from voicenym.benchmark.trials import Trials
from voicenym.metrics import deidentification, gain_of_voice_distinctiveness, similarity_matrix


def measure(
    original: np.ndarray, published: np.ndarray, trials: Trials, replicates: int
) -> tuple[dict[str, np.ndarray], dict[str, Measured]]:
    """Voice similarity matrices, the gain of voice distinctiveness, and de-identification.

    Args:
        original, published: vectors ``[trial, dimension]`` of the trials before and after.
        trials: whose they are.
        replicates: of the bootstrap over speakers.

    Returns:
        Matrices ``[speaker, speaker]`` named ``oo``, ``oa``, ``aa``, and figures by metric.
    """
    speakers = np.array([recording.speaker for recording in trials.recordings])
    o, a = unit(original), unit(published)
    itself = np.eye(len(speakers), dtype=bool)
    matrices = {
        name: similarity_matrix(rows @ columns.T, speakers, speakers, same_segment=itself)
        for name, rows, columns in (("oo", o, o), ("oa", o, a), ("aa", a, a))
    }
    gain = gain_of_voice_distinctiveness(matrices["oo"], matrices["aa"], replicates=replicates)
    hidden = deidentification(matrices["oo"], matrices["oa"], replicates=replicates)
    figures = {
        "G_VD": Measured(gain.value, *gain.interval, "dB"),
        "DeID": Measured(hidden.value, *hidden.interval, ""),
    }
    return {name: similarity.matrix for name, similarity in matrices.items()}, figures
