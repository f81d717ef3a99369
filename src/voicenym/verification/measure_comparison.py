"""Comparison of measures of speech: standardisation, and PLDA on other people's measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.errors import VoicenymError
from voicenym.verification.plda import PLDA
from voicenym.verification.scoring import Array

CLIP = 5.0
"""Standard deviations beyond which a measure is taken for an outlier."""


@dataclass(frozen=True)
class MeasureComparison:
    """Log-likelihood ratios of measures; a back end.

    Args:
        mean: of each measure, ``[measure]``.
        scale: their standard deviations, ``[measure]``.
        plda: of the standardised measures that vary.
        varying: which measures vary, ``[measure]`` bool.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> speakers = np.repeat(np.arange(40), 4)
        >>> x = 3.0 * rng.normal(size=(40, 5))[speakers] + rng.normal(size=(160, 5))
        >>> back_end = MeasureComparison.train(x[8:], speakers[8:])
        >>> scores = back_end.score([x[:3], x[4:7]], x[[3, 7]])
        >>> bool(scores[0, 0] > 0 > scores[0, 1])
        True
    """

    mean: Array
    scale: Array
    plda: PLDA
    varying: npt.NDArray[np.bool_]

    @classmethod
    def train(cls, measures: Array, speakers: Sequence[str] | np.ndarray) -> MeasureComparison:
        """Fit to measures of speakers that take part in no trial.

        Args:
            measures: ``[recording, measure]``, NaN where one is unknown.
            speakers: of each recording.

        Raises:
            VoicenymError: no measure varies, fewer than two speakers, or none with two recordings.
        """
        numbers = np.asarray(measures, dtype=np.float64)
        known = np.isfinite(numbers)
        measured = known.any(1)
        numbers, known = numbers[measured], known[measured]
        if not len(numbers):
            raise VoicenymError("nothing can be measured in the speech of other people")
        count = known.sum(0).clip(1)
        mean = np.where(known, numbers, 0.0).sum(0) / count
        variance = np.where(known, np.square(numbers - mean), 0.0).sum(0) / count
        varying = variance > 1e-12 * np.maximum(np.square(mean), 1.0)
        if not varying.any():
            raise VoicenymError("the measures of other people's speech do not vary")
        scale = np.where(varying, np.sqrt(variance), 1.0)
        standard = _standard(numbers, mean, scale, varying)
        plda = PLDA.train(standard, np.asarray(speakers)[measured], normalise=False)
        return cls(mean, scale, plda, varying)

    def score(self, enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
        """LLR in nats ``[model, trial]``; unknown measures count as usual ones."""
        return self.plda.score(
            [_standard(x, self.mean, self.scale, self.varying) for x in enrolment],
            _standard(trials, self.mean, self.scale, self.varying),
        )


def _standard(
    numbers: npt.NDArray[np.floating], mean: Array, scale: Array, varying: npt.NDArray[np.bool_]
) -> Array:
    found: Array = np.nan_to_num((np.asarray(numbers, dtype=np.float64) - mean) / scale)
    return np.clip(found, -CLIP, CLIP)[:, varying]
