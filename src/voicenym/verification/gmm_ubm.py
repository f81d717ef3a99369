"""GMM-UBM verification: a background mixture whose means are adapted to a speaker.

Reynolds, Quatieri and Dunn, "Speaker verification using adapted Gaussian mixture models", Digital
Signal Processing 10, 2000: the means are adapted to the enrolment, and a trial's score is the
likelihood ratio of its frames under the adapted and the background mixture. Deng et al. (2023,
Table 3) attack with such verifiers. Two fast forms of the score are implemented: the cosine of the
adapted means of both sides, and the ratio with frames aligned by the background mixture.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voicenym.errors import VoicenymError
from voicenym.verification.given_recordings import tensors
from voicenym.verification.scoring import COSINE, Array, Backend, checked
from voicenym.verification.verifier import Verifier

if TYPE_CHECKING:
    from voicenym.nets.statistics.background_model import Background

RELEVANCE = 16.0
"""Reynolds's relevance factor, in frames."""
FORMS = ("supervector", "statistics")


class GMMUBM(Verifier):
    """A verifier whose vectors are adapted means, or sufficient statistics.

    Args:
        folder: that ``voicenym train ubm`` or ``ivector`` wrote.
        form: ``supervector``: the shift of each component's mean, scaled such that the kernel of
            Campbell, Sturim and Reynolds, "Support vector machines using GMM supervectors for
            speaker verification" (IEEE Signal Processing Letters 13, 2006) is a scalar product;
            for cosine scoring. ``statistics``: counts and sums, for :class:`LikelihoodRatio`.
        relevance: frames of a component at which its mean moves half the way.

    Attributes:
        name: for reports.
        version: of the model and the form.

    Raises:
        VoicenymError: no such folder or form.
    """

    def __init__(self, folder: Path, form: str = FORMS[0], relevance: float = RELEVANCE) -> None:
        if form not in FORMS:
            raise VoicenymError(f"form is {' or '.join(FORMS)}, not {form!r}")
        self.name = "GMM-UBM"
        self.folder, self.form, self.relevance = folder, form, relevance
        self.version = fingerprint(folder, form, str(relevance))

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """``[recording, component d]``, or ``[recording, component (1 + d)]`` of statistics.

        0 for recordings without speech.

        Args:
            recordings: ``[time]`` each, mono float32 at 16 kHz.
        """
        import torch

        model = background(self.folder, self.version)
        mixture = model.mixture
        counts, sums = model.statistics(tensors(recordings))
        if self.form == "statistics":
            moved = mixture.whitened(sums - counts[..., None] * mixture.means)
            return torch.cat([counts, moved.flatten(1)], dim=1).numpy()
        moved = mixture.adapted_means(counts, sums, self.relevance) - mixture.means
        scaled = mixture.weights.sqrt()[:, None] * mixture.whitened(moved)
        return scaled.flatten(1).numpy()

    def backend(self) -> Backend:
        """:class:`LikelihoodRatio` for statistics, cosine for supervectors."""
        if self.form == "statistics":
            mixture = background(self.folder, self.version).mixture
            return LikelihoodRatio(mixture.components, self.relevance)
        return COSINE


@dataclass(frozen=True)
class LikelihoodRatio:
    """The log-likelihood ratio of a trial's frames, aligned by the background mixture.

    sum_c [D_c' S_c^-1 (F_c - N_c m_c) - N_c D_c' S_c^-1 D_c / 2] / sum_c N_c, where D_c is the
    shift of the mean of component c, adapted to all of a model's recordings together: Reynolds's
    score with the background's alignment of frames, for which statistics suffice. In nats a frame.
    Without its second term it is the "linear scoring" of Glembek, Burget, Dehak, Brümmer and Kenny,
    "Comparison of scoring methods used in speaker recognition with joint factor analysis" (ICASSP
    2009), which favours speakers who are far from the background: EER 2.8 % without the term and
    2.3 % with it, on the tuning half of speechocean762's ``dev``.

    Args:
        components: of the background model.
        relevance: see :class:`GMMUBM`.
    """

    components: int
    relevance: float = RELEVANCE

    def score(self, enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
        """``[model, trial]``; a trial without speech scores 0.

        Args:
            enrolment: statistics ``[n_i, component (1 + d)]`` of each model.
            trials: ``[trial, component (1 + d)]``.
        """
        trials = checked(enrolment, trials)
        pooled = np.stack([np.asarray(v, dtype=np.float64).sum(0) for v in enrolment])
        counts, sums = self._split(pooled)
        adapted = sums / (counts + self.relevance)[..., None]
        frames, tried = self._split(trials)
        ratio: Array = adapted.reshape(len(adapted), -1) @ tried.reshape(len(tried), -1).T
        ratio -= 0.5 * np.square(adapted).sum(2) @ frames.T
        return ratio / np.maximum(frames.sum(1), 1.0)

    def _split(self, statistics: Array) -> tuple[Array, Array]:
        counts, sums = np.split(statistics, [self.components], axis=1)
        return counts, sums.reshape(len(sums), self.components, -1)


def fingerprint(folder: Path, *more: str) -> str:
    """Digest of a model's configuration, which holds that of its weights, and of its use.

    Raises:
        VoicenymError: if the folder holds no such model.
    """
    from voicenym.nets.checkpoint import configuration
    from voicenym.nets.statistics.background_model import check_kind

    config = configuration(folder)
    check_kind(config)
    return hashlib.sha256(f"{sorted(config.items())} {more}".encode()).hexdigest()[:16]


@lru_cache(maxsize=2)
def background(folder: Path, version: str) -> Background:
    """The model in a folder, read once for each version."""
    from voicenym.nets.checkpoint import read, rebuilding
    from voicenym.nets.statistics.background_model import Background

    with rebuilding(folder):
        return Background.of(*read(folder))
