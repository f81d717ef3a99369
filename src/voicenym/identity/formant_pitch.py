"""Formant and F0 scaling as the identity method (Yao et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.method import Identity, Sex
from voicenym.pseudonym import Pseudonym


@dataclass(frozen=True)
class FormantPitch(Identity):
    """The vector [F0, F1, ..., Fn] in Hz, with F0 scaled by one factor and all formants by another.

    For synthesizers conditioned on formants and F0 instead of a speaker vector: the encoder
    :class:`voicenym.nets.speakers.formant_pitch_encoder.Formants` measures them, and pipelines with
    ``f0=moved`` scale the F0 contour by the factor of the first element. Each factor is log-uniform
    within its range, up or down with equal probability. It is published that formants share one
    factor and that factors trade privacy for utility; their sizes, the number of formants and the
    estimator are not known, so that the ranges are approximations. Yao et al. (2024) report for
    this method, on the challenge's data, an EER of 48.6 % (ignorant) and 40.8 % (lazy-informed).

    Args:
        pitch: smallest and largest factor of F0, at least 1; its inverse has the same probability.
        formants: the same of all formants.

    Source: Yao et al., "Distinguishable speaker anonymization based on formant and fundamental
    frequency scaling", ICASSP 2023 (Formant of Yao et al. 2024).
    """

    pitch: tuple[float, float] = (1.1, 1.35)
    formants: tuple[float, float] = (1.06, 1.2)

    name: ClassVar[str] = "formant-pitch"
    source: ClassVar[str] = "Yao et al. 2023 (Formant of Yao et al. 2024), factors approximated"
    hertz: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for field in ("pitch", "formants"):
            low, high = getattr(self, field)
            if not 1.0 <= low <= high < 10.0:
                raise UnknownSystemError(
                    f"formant-pitch: {field} needs two factors from 1 to 10, the smaller first, "
                    f"not {low} and {high}"
                )

    def own_voice(self, direction: bool = False) -> str:
        if self.pitch[0] > 1.0 or self.formants[0] > 1.0:
            return ""
        return "both factors may be 1"

    def anonymize(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None],
    ) -> torch.Tensor:
        if vectors.shape[1] < 2 or (vectors <= 0).any():
            raise VoicenymError(
                "formant-pitch wants [F0, F1, ...] in Hz, all above 0: give measured frequencies, "
                "not a speaker vector"
            )
        factors = torch.ones(vectors.shape, dtype=torch.float64)
        for row, pseudonym in enumerate(pseudonyms):
            factors[row, 0] = self._factor(pseudonym, "pitch", self.pitch)
            factors[row, 1:] = self._factor(pseudonym, "formants", self.formants)
        return vectors.double() * factors.to(vectors.device)

    @staticmethod
    def _factor(pseudonym: Pseudonym, what: str, limits: tuple[float, float]) -> float:
        low, high = limits
        share = pseudonym.uniform(f"formant-pitch.{what}")
        factor: float = low * (high / low) ** share
        return factor if pseudonym.index(f"formant-pitch.{what}.sign", 2) else 1.0 / factor
