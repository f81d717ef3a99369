"""Formant frequencies of voiced frames by linear prediction.

Markel and Gray, "Linear Prediction of Speech", 1976, section 7; window, ceiling and number of poles
are those that Praat has become known for. High voices have harmonics where a formant should be
seen, and are measured too near to them.
"""

from __future__ import annotations

import math

import torch

from voicenym.dsp.envelopes import lpc
from voicenym.dsp.polynomials import quadratic_factors

MOST = 5
"""Largest number of formants below the ceiling."""
RATE = 11_000
"""Sample rate in Hz: twice the ceiling."""
WINDOW_SECONDS = 0.050
"""Length of the Hann window, whose effective length is 25 ms."""
EMPHASIS_FROM = 50.0
"""Corner frequency of the pre-emphasis of 6 dB an octave, in Hz."""
EDGE = 50.0
"""Least distance of formants from zero and from the ceiling, in Hz."""
LOUD_DB = 17.0
"""Frames this far below the loudest so far are skipped: hum and breath in pauses."""
FEWEST_FRAMES = 20
"""Least number of voiced frames of a measurement."""
NEUTRAL = 545.0
"""Default F1 in Hz, of a uniform tube: F_k is ``(2 k - 1)`` times it."""


def window(rate: int) -> torch.Tensor:
    """Hann window of a frame, ``[time]`` float64, of even length."""
    half = round(WINDOW_SECONDS * rate / 2)
    return torch.hann_window(2 * half, periodic=False, dtype=torch.float64)


def order(rate: int) -> int:
    """Order of the all-pole model: two poles per formant, fewer at rates below :data:`RATE`."""
    return 2 * round(MOST * rate / RATE)


def formants(
    frames: torch.Tensor, rate: int, poles: int = 0, widest: float = math.inf
) -> torch.Tensor:
    """Formant frequencies of frames.

    Args:
        frames: ``[frame, time]`` float64, windowed by :func:`window`.
        rate: in Hz; :data:`RATE` is best, and below it fewer formants are found.
        poles: of the model, an even number; :func:`order` unless given. One more pair of poles
            models the spectrum across the ceiling and its tilt, which would otherwise bias the
            formants.
        widest: bandwidth in Hz above which a resonance is no formant.

    Returns:
        ``[formant, frame]`` in Hz, ascending, ``order / 2`` and :data:`MOST` of them at most;
        infinite where a frame has fewer resonances, whose numbers are then unknown.
    """
    emphasized = frames.clone()
    share = math.exp(-2.0 * math.pi * EMPHASIS_FROM / rate)
    emphasized[:, 1:].sub_(frames[:, :-1], alpha=share)
    a, _ = lpc.levinson(lpc.autocorrelation(emphasized.T, poles or order(rate)))
    b, c = quadratic_factors.factor(a)
    angle = torch.acos((-b / (2.0 * c.clamp_min(1e-12).sqrt())).clamp(-1.0, 1.0))
    place = angle * rate / (2.0 * math.pi)
    width = -c.clamp_min(1e-12).log() * rate / (2.0 * math.pi)  # c: the poles' squared radius
    is_formant = (b * b < 4.0 * c) & (place > EDGE) & (place < rate / 2 - EDGE) & (width < widest)
    found: torch.Tensor = torch.where(is_formant, place, torch.inf).sort(dim=0).values
    return found[: min(MOST, order(rate) // 2)]
