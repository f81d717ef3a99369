"""Inversion: an attacker that undoes a system for many guesses of its voice.

A system that moves formants along a monotone axis, or pitch by a factor, is inverted by the same
code with the opposite change. A guess is a voice that the system itself draws, at shares of its
ranges that the attacker chooses (:class:`ChosenPseudonym`); ranges and dependences between draws
are thus the system's own.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from voicenym.anonymizer import system_class
from voicenym.attack.attacker_resources import Resources
from voicenym.attack.attackers import Attacker, enrolment_vectors, trial_vectors
from voicenym.attack.scenario import Scenario
from voicenym.attack.searches.key_search import PER_TRIAL, chosen_concentration, marginal
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import RATE, Recording
from voicenym.corpus.transforms import Step, Undo
from voicenym.errors import VoicenymError
from voicenym.pseudonym import Pseudonym
from voicenym.systems.formant import WARP_CAP, Formant, Voice
from voicenym.systems.pv_tsm import PvTsm
from voicenym.systems.vtln import Vtln
from voicenym.verification.verifier import Verifier

if TYPE_CHECKING:
    import torch

    from voicenym.anonymizer import Anonymizer
    from voicenym.dsp.pitch_changes.psola import Retuning
    from voicenym.dsp.voice_measurement import Reading

GRID = 4097
"""Grid points of an inverted warp."""
GUESSED: dict[str, tuple[tuple[str, int], tuple[str, int]]] = {
    "vtln": (("vtln.sign", 2), ("vtln.beta", 0)),
    "pv-tsm": (("pv-tsm.sign", 2), ("pv-tsm.semitones", 0)),
    "formant": (("formant.phi", 0), ("formant.pitch", 0)),
}
"""The two draws that a grid of guesses covers, and the number of values of the first, 0 if open."""


class ChosenPseudonym(Pseudonym):
    """A pseudonym with chosen draws: for each purpose a share of its range, from 0 to 1.

    Args:
        shares: by purpose; 0.5 for other purposes.

    Example:
        >>> ChosenPseudonym({"size": 0.25}).uniform("size", 0.0, 8.0)
        2.0
        >>> ChosenPseudonym({}).index("place", 9)
        4
    """

    __slots__ = ("_shares",)

    def __init__(self, shares: Mapping[str, float]) -> None:
        self._shares = dict(shares)
        # other shares are another pseudonym, in comparisons and caches too
        secret = hashlib.sha256(repr(sorted(self._shares.items())).encode()).digest()
        super().__init__(secret, None)

    def uniforms(
        self, purpose: str, count: int, low: float = 0.0, high: float = 1.0
    ) -> list[float]:
        """The chosen share of the way from ``low`` to ``high``, ``count`` times."""
        return [low + (high - low) * self._shares.get(purpose, 0.5)] * count

    def index(self, purpose: str, count: int) -> int:
        """The chosen share of the way through ``count`` choices."""
        return min(int(self._shares.get(purpose, 0.5) * count), count - 1)


class InverseVtln(Vtln):
    """Inverse of ``vtln``: S(w) = S'(h^-1(w)), h being a voice's warp."""

    def warped(self, pseudonym: Pseudonym, omega: torch.Tensor) -> torch.Tensor:
        import torch

        grid = np.linspace(0.0, np.pi, GRID)
        return torch.from_numpy(np.interp(omega.numpy(), _warped(self, pseudonym), grid))


@lru_cache(maxsize=64)
def _warped(system: Vtln, pseudonym: Pseudonym) -> np.ndarray:
    """H on the grid; cached, since it takes longer than the inversion of a short recording."""
    import torch

    grid = torch.linspace(0.0, torch.pi, GRID, dtype=torch.float64)
    return Vtln.warped(system, pseudonym, grid).numpy()


class InversePvTsm(PvTsm):
    """Inverse of ``pv-tsm``: as many semitones in the opposite direction."""

    def semitones(self, pseudonym: Pseudonym) -> float:
        return -super().semitones(pseudonym)


class InverseFormant(Formant):
    """Approximate inverse of ``formant``: factors on formants and pitch.

    The factors are free, because the original speaker is unknown. The drawn levels of the bands and
    the range of pitch stay.
    """

    def voice(self, pseudonym: Pseudonym) -> Voice:
        """Factors on logarithmic ranges as wide as the system's own limits."""
        formants, pitch = (
            limit ** pseudonym.uniform(purpose, -1.0, 1.0)
            for limit, purpose in ((WARP_CAP, "formant.phi"), (self.cap, "formant.pitch"))
        )
        return Voice(formants, (), (), pitch, 1.0, 0.0)

    def voice_for(self, reading: Reading, pseudonym: Pseudonym) -> Voice:
        return self.voice(pseudonym)

    def _retuning(self, reading: Reading, voice: Voice) -> Retuning:
        if reading.pitch is None:
            return super()._retuning(reading, replace(voice, pitch=1.0))
        return super()._retuning(reading, replace(voice, pitch=voice.pitch * reading.pitch))

    def _warp(
        self, reading: Reading, voice: Voice, rate: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from voicenym.dsp.voice_measurement import USUAL_NEUTRAL

        target = replace(
            voice,
            phi=voice.phi * (reading.neutral or USUAL_NEUTRAL),
            phis=tuple(voice.phi * phi for phi in reading.neutral_formants),
            levels=(0.0,) * 6,
        )
        knots, middles, changes = super()._warp(reading, target, rate)
        return knots, middles, 0.0 * changes


INVERSES: dict[str, type[Anonymizer]] = {
    "vtln": InverseVtln,
    "pv-tsm": InversePvTsm,
    "formant": InverseFormant,
}
"""Inverses by the name of the system."""


@lru_cache(maxsize=256)
def _loaded(system: str, parameters: tuple[tuple[str, Any], ...]) -> Anonymizer:
    if system not in INVERSES:
        raise VoicenymError(f"{system} has no inverse; there are: {', '.join(INVERSES)}")
    return INVERSES[system](**dict(parameters))


@dataclass(frozen=True)
class Inverted:
    """A step that inverts a system for one guess of its voice.

    Args:
        system: one of :data:`INVERSES`.
        shares: of the ranges of the voice's draws, as pairs of purpose and share.
        parameters: of the system, as pairs.
    """

    system: str
    shares: tuple[tuple[str, float], ...]
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def description(self) -> str:
        return f"undoing {self.system}"

    def identity(self, recording: Recording) -> str:
        return f"backwards {self.system} {self.parameters} {self.shares}"

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        import torch

        from voicenym.audio import Audio

        system = _loaded(self.system, self.parameters)
        found = system(Audio(torch.from_numpy(samples), RATE), ChosenPseudonym(dict(self.shares)))
        return found.samples.numpy()


@dataclass(frozen=True)
class Inversion(Attacker):
    """Inverts a system under many guesses of its voice and marginalises over them.

    Args:
        guesses: steps that invert the protection, one for each guess (:func:`inversions`).
        concentration: as in :class:`KeySearch`.
    """

    guesses: tuple[Step, ...]
    concentration: float | None = None

    name = "inversion"
    knows = "knows the system, not the key; undoes it under many guesses"
    reference = PER_TRIAL

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        guesses = inversions(resources.system, resources.parameters)
        return [cls(guesses)] if guesses else []

    def scores(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        models = enrolment_vectors(scenario, verifier, embedder, scenario.original)
        scores = [
            verifier.score(models, trial_vectors(scenario, verifier, embedder, undo))
            for undo in self.guesses
        ]
        return marginal(np.stack(scores), chosen_concentration(self.concentration, verifier))


def inversions(
    system: str | None, parameters: Mapping[str, Any] | None = None, count: int = 12
) -> tuple[Step, ...]:
    """Steps that invert a system, for about ``count`` guesses of its voice; empty for most systems.

    ``mcadams``: the exponent 1 / alpha on the angles phi^alpha (exact up to another prediction;
    radii of ``mcadams-radius`` stay wide). ``vtln``: the inverse warp, for both signs of alpha and
    a grid over the values of beta that the system allows. ``pv-tsm``: a grid over the semitones,
    up and down. ``formant``: a grid over factors on formants and on pitch, since the original voice
    is unknown; the drawn levels of its bands stay.

    Args:
        system: name; None where only its files are known.
        parameters: of the system; they bound the guesses.
        count: number of guesses.
    """
    if system in ("mcadams", "mcadams-radius"):
        fields = {f.name: f.default for f in dataclasses.fields(system_class(system))}
        chosen = {**fields, **(parameters or {})}
        bent = np.round(1.0 / np.linspace(chosen["low"], chosen["high"], count), 4).tolist()
        return tuple(Undo("mcadams", (("low", x), ("high", x))) for x in bent)
    if system not in GUESSED:
        return ()
    (first, least), (second, _) = GUESSED[system]
    rows = least or round(math.sqrt(4 / 3 * count))
    fixed = tuple(sorted((parameters or {}).items()))
    return tuple(
        Inverted(system, ((first, x), (second, y)), fixed)
        for x in _steps(rows)
        for y in _steps(max(1, count // rows))
    )


def _steps(count: int) -> list[float]:
    """Midpoints of ``count`` equal parts of a range, as shares of it."""
    return [(place + 0.5) / count for place in range(count)]
