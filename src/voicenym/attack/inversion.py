"""Systems run backwards: what undoes a voice that an attacker guesses.

A system that moves formants along a monotone axis, or pitch by a factor, is undone by the same
machinery with the opposite change. The guess is a voice that the system itself draws, from shares
of its ranges that the attacker chose (:class:`Chosen`), so that the ranges, and what follows from
several draws together, are the system's own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from voicenym.corpus.recording import RATE, Recording
from voicenym.errors import VoicenymError
from voicenym.pseudonym import Pseudonym
from voicenym.systems.formant import WARP_CAP, Formant, Voice
from voicenym.systems.pv_tsm import PvTsm
from voicenym.systems.vtln import Vtln

if TYPE_CHECKING:
    import torch

    from voicenym.anonymizer import Anonymizer
    from voicenym.dsp.psola import Retuning
    from voicenym.dsp.voice_measurement import Reading

GRID = 4097
"""Points on which a warp is turned round."""


class Chosen(Pseudonym):
    """A pseudonym whose draws are chosen: for each purpose a share of its range, from 0 to 1.

    Args:
        shares: by purpose; other purposes are in the middle.

    Example:
        >>> Chosen({"size": 0.25}).uniform("size", 0.0, 8.0), Chosen({}).index("place", 9)
        (2.0, 4)
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


class VtlnBack(Vtln):
    """S(w) = S'(h^-1(w)): the envelope where it was before a voice's warp h."""

    def warped(self, pseudonym: Pseudonym, omega: torch.Tensor) -> torch.Tensor:
        import torch

        grid = np.linspace(0.0, np.pi, GRID)
        return torch.from_numpy(np.interp(omega.numpy(), _warped(self, pseudonym), grid))


@lru_cache(maxsize=64)
def _warped(system: Vtln, pseudonym: Pseudonym) -> np.ndarray:
    """H on the grid; it takes longer than to undo a short recording."""
    import torch

    grid = torch.linspace(0.0, torch.pi, GRID, dtype=torch.float64)
    return Vtln.warped(system, pseudonym, grid).numpy()


class PvTsmBack(PvTsm):
    """As many semitones in the other direction."""

    def semitones(self, pseudonym: Pseudonym) -> float:
        return -super().semitones(pseudonym)


class FormantBack(Formant):
    """Formants and pitch moved by factors: how far they were moved depends on an unknown speaker.

    The drawn bands' levels are left as they are, and so is the range of pitch.
    """

    def voice(self, pseudonym: Pseudonym) -> Voice:
        """Factors, on logarithmic ranges as wide as the system's own limits."""
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


BACKWARDS: dict[str, type[Anonymizer]] = {
    "vtln": VtlnBack,
    "pv-tsm": PvTsmBack,
    "formant": FormantBack,
}
"""By the name of the system that is undone."""


@lru_cache(maxsize=256)
def _loaded(system: str, parameters: tuple[tuple[str, Any], ...]) -> Anonymizer:
    if system not in BACKWARDS:
        raise VoicenymError(f"{system} cannot be run backwards; there are: {', '.join(BACKWARDS)}")
    return BACKWARDS[system](**dict(parameters))


@dataclass(frozen=True)
class Backwards:
    """A step that undoes a system for one guess of its voice.

    Args:
        system: its name, of :data:`BACKWARDS`.
        shares: of the ranges of the voice's draws, by purpose, as pairs.
        parameters: of the system, as pairs.
    """

    system: str
    shares: tuple[tuple[str, float], ...]
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def told(self) -> str:
        return f"undoing {self.system}"

    def identity(self, recording: Recording) -> str:
        return f"backwards {self.system} {self.parameters} {self.shares}"

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        import torch

        from voicenym.audio import Audio

        system = _loaded(self.system, self.parameters)
        found = system(Audio(torch.from_numpy(samples), RATE), Chosen(dict(self.shares)))
        return found.samples.numpy()
