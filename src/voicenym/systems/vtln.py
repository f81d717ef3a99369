"""VoiceMask and HideBehind: bilinear and quadratic warping of the frequency axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

import torch

from voicenym.anonymizer import Anonymizer, Card, Core
from voicenym.anonymizer.live_delay import SHORT, USUAL, check_delay
from voicenym.dsp.analysis_memory import analysed
from voicenym.dsp.envelopes import envelope
from voicenym.dsp.envelopes.frequency_warps import bilinear, quadratic
from voicenym.dsp.overlap_add import OverlapAdd, root_hann
from voicenym.errors import UnknownSystemError
from voicenym.pseudonym import Pseudonym

REFERENCE_RATE = 16_000
"""Rate whose Nyquist frequency is pi in the published functions."""
GRID_STEPS = 1000
"""Steps of the grid of beta in 1."""
BETA_GRID = [i / GRID_STEPS for i in range(-2 * GRID_STEPS, 2 * GRID_STEPS)]
COARSE = 40
"""Steps between the values of beta that are tried first; they divide the grid."""
INTEGRATION_POINTS = 513
SPEECH_BAND = (300.0, 3500.0)
"""Band of the formants that distinguish speakers, in Hz."""
LEAST_SHIFT, MOST_SHIFT = 0.17, 0.30
"""Limits of the mean change of ln frequency over the speech band (revision 2)."""
WIDER = 1.2
"""Factor on the largest distortion, which leaves enough warps between these limits (revision 2)."""
FRAMES: Mapping[str, tuple[float, int]] = {USUAL: (0.008, 4), SHORT: (0.010, 2)}
"""Hop in seconds, and hops of a window, by the delay that is asked for."""


def distortion(warped: torch.Tensor, omega: torch.Tensor) -> torch.Tensor:
    """Distortion dist(h) = integral over [0, pi] of |h(w) - w| dw, along the last axis."""
    return torch.trapezoid((warped - omega).abs(), omega)


def shift(warped: torch.Tensor, omega: torch.Tensor) -> torch.Tensor:
    """Mean of |ln h(w) - ln w| over ln w within the speech band, along the last axis."""
    low, high = (math.pi * hertz / (REFERENCE_RATE / 2) for hertz in SPEECH_BAND)
    inside = (omega >= low) & (omega <= high)
    logs = omega[inside].log()
    moved = (warped[..., inside].log() - logs).abs()
    return torch.trapezoid(moved, logs) / (logs[-1] - logs[0])


@lru_cache(maxsize=64)
def _valid_betas(alpha: float | None, least: float, most: float, away: bool) -> Sequence[int]:
    """Places in the grid of the betas that a pseudonym may get; the same for all its recordings.

    Args:
        alpha: of the bilinear warp before; None without one.
        least, most: limits of the distortion.
        away: whether the warp must move the speech band, too.

    Raises:
        UnknownSystemError: there is none.
    """
    omega = torch.linspace(0.0, math.pi, INTEGRATION_POINTS, dtype=torch.float64)
    first = omega if alpha is None else bilinear(omega, alpha)
    x = first / math.pi
    bend = x - x * x
    grid = torch.tensor(BETA_GRID, dtype=torch.float64)[:, None]
    # A step of beta changes the distortion by no more than the bend's integral: only the
    # neighbours of betas that come near the limits are looked at one by one.
    coarse = distortion(first + grid[::COARSE] * bend, omega)
    reach = 1.01 * COARSE / GRID_STEPS * float(torch.trapezoid(bend, omega))
    near = (coarse >= least - reach) & (coarse <= most + reach)
    places = (near.nonzero() * COARSE + torch.arange(COARSE)).reshape(-1)
    candidates = first + grid[places] * bend
    dist = distortion(candidates, omega)
    monotonic = (candidates.diff(dim=1) > 0).all(1)
    within = (dist >= least) & (dist <= most) & monotonic
    if not within.any():
        raise UnknownSystemError(
            f"vtln: no beta gives a distortion of {least} to {most}; widen the limits"
        )
    if away:
        candidates, places = candidates[within], places[within]
        moved = shift(candidates, omega)
        within = (moved >= LEAST_SHIFT) & (moved <= MOST_SHIFT)
    valid: list[int] = places[within].tolist()
    if not valid:
        raise UnknownSystemError(
            f"vtln: within a distortion of {least} to {most} no warp moves speech by "
            f"{LEAST_SHIFT} to {MOST_SHIFT}: less would leave the voice; raise low, high, "
            "least and most"
        )
    return valid


@dataclass(frozen=True)
class Vtln(Anonymizer):
    """Vocal-tract length "normalisation" toward a random length: S'(w) = S(g_beta(f_alpha(w))).

    |alpha| ~ U(0.08, 0.10) with a random sign; beta uniform among the values of a 0.001 grid on
    [-2, 2) for which the composed warp is monotonic and its distortion lies within the published
    limits [0.32, 0.40]. The warp acts on the envelope of 32 ms frames; harmonics stay in place.

    The distortion weighs high frequencies most; some of these warps change little below 4 kHz.
    Revision 2 draws beta among those that move formants from 300 to 3500 Hz by 0.17 to 0.30 of ln
    frequency in the mean (19 to 35 %), within a distortion of 0.32 to 0.48; with
    ``warp="bilinear"`` there is no beta, and no such limit.

    Args:
        low, high: limits of |alpha|.
        least, most: limits of the distortion.
        warp: ``composed`` (published), ``bilinear`` or ``quadratic`` alone.
        delay: ``usual``, with windows of 32 ms, or ``short``, of 20 ms: live, the sound comes
            12 ms sooner; the envelope follows less of a frame.

    Source: Qian et al., VoiceMask (arXiv 1711.11460) and HideBehind (SenSys 2018).
    """

    low: float = 0.08
    high: float = 0.10
    least: float = 0.32
    most: float = 0.40
    warp: str = "composed"
    delay: str = USUAL

    unnamed_values: ClassVar[Mapping[str, Any]] = {"delay": USUAL}
    revisions: ClassVar[tuple[int, ...]] = (1, 2)
    card: ClassVar[Card] = Card(
        name="vtln",
        title="Random frequency warping of the spectral envelope (VoiceMask, HideBehind)",
        paper="Qian, Du, Hou, Chen, Jung, Li, 'Hidebehind: Enjoy Voice Input with Voiceprint "
        "Unclonability and Anonymity', SenSys 2018; 'VoiceMask', arXiv 1711.11460",
        year=2018,
        equations=(
            "f_alpha(w) = w + 2 atan(alpha sin w / (1 - alpha cos w)), |alpha| ~ U(0.08, 0.10)",
            "g_beta(w) = w + beta (w/pi - (w/pi)^2), beta on a 0.001 grid in [-2, 2)",
            "h = g_beta(f_alpha(w)), integral of |h(w) - w| in [0.32, 0.40]; S'(w) = S(h(w))",
        ),
        needs="no weights; 8 kHz or more; CPU or GPU",
        protects="casual listeners and ignorant verifiers, in part",
        promises=(
            "length, channels and level are kept; live latency is 32 ms at 16 kHz, 39 ms at 48 kHz"
            "; 12 ms less with delay=short",
            "pitch, rhythm and words are those of the speaker",
            "the warp moves 300 to 3500 Hz by 0.17 to 0.30 of ln frequency (19 to 35 %) in the "
            "mean (revision 2; not with warp=bilinear)",
        ),
        fails=(
            "does not stop an attacker who knows the system: two numbers describe the warp; an "
            "attacker can search for them and invert it",
            "pitch and intonation still identify speakers",
            "an attacker who tries keys has an EER of 1.6 % (0.8 to 3.1), one who inverts the warp "
            "an EER of 1.7 % (0.9 to 2.5), and a verifier trained on the output an EER of 8.5 % "
            "(5.6 to 10.6)",
        ),
        approximations=(
            "a filter applies the warped envelope instead of WORLD's vocoder, so pitch and voice "
            "source are the speaker's own; the optional F0 transfer is left out",
            "revision 2 allows a distortion of 0.48 (published: 0.40) and draws among the warps "
            "that move the speech band; revision 1 draws among all within the published limits",
            "values of alpha and the limits are those of a published reimplementation",
        ),
    )

    def __post_init__(self) -> None:
        if not 0.0 <= self.low <= self.high < 1.0:
            raise UnknownSystemError(
                f"vtln: |alpha| needs 0 <= low <= high < 1, not {self.low} and {self.high}"
            )
        if not 0.0 <= self.least < self.most:
            raise UnknownSystemError(
                f"vtln: distortion needs 0 <= least < most, not {self.least} and {self.most}"
            )
        if self.warp not in ("composed", "bilinear", "quadratic"):
            raise UnknownSystemError(
                f"vtln: warp is composed, bilinear or quadratic, not {self.warp!r}"
            )
        check_delay(self.card.name, self.delay)

    def warped(self, pseudonym: Pseudonym, omega: torch.Tensor) -> torch.Tensor:
        """Warp h(w) of a pseudonym at ``omega`` in [0, pi], float64."""
        alpha = pseudonym.uniform("vtln.alpha", self.low, self.high)
        if pseudonym.uniform("vtln.sign") < 0.5:
            alpha = -alpha
        if self.warp == "bilinear":
            return bilinear(omega, alpha)
        if self.warp == "quadratic":
            return quadratic(omega, self._beta(pseudonym, None))
        return quadratic(bilinear(omega, alpha), self._beta(pseudonym, alpha))

    def _beta(self, pseudonym: Pseudonym, alpha: float | None) -> float:
        away = self.revision_for(pseudonym) > 1
        most = WIDER * self.most if away else self.most
        valid = _valid_betas(alpha, self.least, most, away)
        return BETA_GRID[valid[pseudonym.index("vtln.beta", len(valid))]]

    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        seconds, overlap = FRAMES[self.delay]
        hop = round(seconds * rate)
        length = overlap * hop
        bins = length // 2 + 1
        # A lower rate sees the lower part of the same warp.
        omega = torch.linspace(0.0, math.pi * rate / REFERENCE_RATE, bins, dtype=torch.float64)
        hertz = torch.stack([self.warped(p, omega) for p in pseudonyms]) * REFERENCE_RATE / rate
        positions = (hertz / math.pi * (bins - 1)).float().to(self.device)
        window = root_hann(length).to(self.device)
        coefficients = round(envelope.QUEFRENCY * rate)

        def process(frames: torch.Tensor) -> torch.Tensor:
            windowed = frames * window
            spectrum = torch.fft.rfft(windowed)
            kind = ("envelope", self.delay, rate, self.device)
            log_envelope = analysed(
                frames, kind, partial(envelope.of_spectrum, spectrum, coefficients)
            )
            gain = envelope.warp_bins(log_envelope, positions).sub_(log_envelope)
            gain = gain.clamp_(-envelope.MAX_GAIN, envelope.MAX_GAIN).exp_()
            changed = torch.fft.irfft(spectrum.mul_(gain), n=length)
            # sqrt-Hann twice adds up to half the number of hops in a window
            changed, original = changed.mul_(window), windowed.mul_(window)
            return envelope.keep_energy(changed, original, 2.0 / overlap)

        return OverlapAdd(len(pseudonyms), length, hop, process, self.device)
