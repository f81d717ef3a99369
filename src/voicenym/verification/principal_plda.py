"""PLDA on the principal components of many measures, where recordings are few.

Statistics of a network's states have hundreds of elements, and an attacker has some hundred
speakers of a few recordings each: PLDA on all elements learns more noise than speakers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.verification.plda import PLDA
from voicenym.verification.scoring import Array, checked

COMPONENTS = 60
"""With 3,072 measures of 1,200 recordings of 125 speakers, 40 and 60 find more than 80 to 130."""
LEAST_DEVIATION = 1e-6


@dataclass(frozen=True)
class PrincipalPLDA:
    """Log-likelihood ratios of the principal components of standardised measures; a back end.

    Args:
        mean: of each measure, ``[measure]``.
        components: principal components over the measures' deviations, ``[component, measure]``.
        plda: of the components.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> speakers = np.repeat(np.arange(40), 4)
        >>> x = 3.0 * rng.normal(size=(40, 90))[speakers] + rng.normal(size=(160, 90))
        >>> back_end = PrincipalPLDA.train(x[8:], speakers[8:])
        >>> scores = back_end.score([x[:3], x[4:7]], x[[3, 7]])
        >>> bool(scores[0, 0] > 0 > scores[0, 1])
        True
    """

    mean: Array
    components: Array
    plda: PLDA

    @classmethod
    def train(
        cls, measures: npt.NDArray[np.floating], speakers: Sequence[str] | np.ndarray
    ) -> PrincipalPLDA:
        """Fit to measures of speakers that take part in no trial.

        Args:
            measures: ``[recording, measure]``.
            speakers: of each recording.

        Raises:
            VoicenymError: as :meth:`voicenym.verification.plda.PLDA.train`.
        """
        x = np.asarray(measures, dtype=np.float64)
        mean: Array = x.mean(0)
        scale = np.maximum(x.std(0), LEAST_DEVIATION)
        axes = np.linalg.svd((x - mean) / scale, full_matrices=False)[2][:COMPONENTS]
        components: Array = axes / scale
        return cls(mean, components, PLDA.train((x - mean) @ components.T, speakers))

    def score(self, enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
        """LLR in nats ``[model, trial]``."""
        trials = checked(enrolment, trials)
        return self.plda.score([self._projected(x) for x in enrolment], self._projected(trials))

    def _projected(self, measures: npt.NDArray[np.floating]) -> Array:
        found: Array = (np.asarray(measures, dtype=np.float64) - self.mean) @ self.components.T
        return found
