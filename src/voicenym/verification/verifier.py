"""Verifier: the interface of models that embed recordings and score the vectors.

:mod:`voicenym.training.speakers.verifier_training` trains verifiers;
:mod:`voicenym.verification.verifiers` makes them by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import nan

import numpy as np
import numpy.typing as npt

from voicenym.verification.plda import PLDA
from voicenym.verification.scoring import COSINE, Array, Backend

CONCENTRATION = 60.0
"""Default concentration; chosen for Resemblyzer on half of the speakers of a corpus."""
UNKNOWN = (nan, nan)


class Verifier(ABC):
    """A speaker verification model; worker processes receive it pickled.

    A verifier is itself a :class:`~voicenym.verification.scoring.Backend`.

    Attributes:
        name: for reports.
        version: changes when the same recording would get another vector.
        concentration: weight of a unit of score in nats, for attackers that marginalise over
            guesses (:class:`voicenym.attack.searches.key_search.KeySearch`): for cosines, the
            concentration of a speaker's vectors about their mean; 1 for log-likelihood ratios.
        calibration: slope and offset that map the score of two recordings to a log-likelihood ratio
            in nats; NaN where they are unknown.
        device: that :meth:`embed` computes on.
    """

    name: str
    version: str
    concentration: float = CONCENTRATION
    calibration: tuple[float, float] = UNKNOWN
    device: str = "cpu"

    def on(self, device: str) -> Verifier:
        """The verifier on a device, if it is a network; others compute on the processor.

        Args:
            device: as of :func:`voicenym.anonymizer.devices.check_device`.
        """
        return self

    @abstractmethod
    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """Vectors ``[recording, dimension]`` of mono float32 recordings ``[time]`` at 16 kHz.

        Raises:
            AudioError: integers, another shape, NaN or infinity.
        """

    def backend(self) -> Backend:
        """The back end that compares the vectors: cosine, unless a subclass has another."""
        return COSINE

    def score(self, enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
        """Scores ``[model, trial]`` of vectors; higher for the same speaker.

        Args:
            enrolment: vectors ``[n_i, dimension]`` of each model.
            trials: ``[trial, dimension]``.
        """
        return self.backend().score(enrolment, trials)

    def adapted(self, vectors: npt.NDArray[np.floating], speakers: Sequence[str]) -> Backend:
        """A back end fitted to vectors of other speakers: PLDA, unless a subclass has another.

        Args:
            vectors: ``[recording, dimension]``.
            speakers: of each vector; none of them takes part in a trial.

        Raises:
            VoicenymError: fewer than two speakers, or none with two recordings.
        """
        return PLDA.train(vectors, speakers)
