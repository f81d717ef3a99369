"""What is done to a recording for anchors, gold and trapping items, and comparisons of noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from voicenym.errors import VoicenymError

Samples = npt.NDArray[np.float64]
BEEP, GAP, LEAD, TONE = 0.18, 0.22, 1.2, 1000.0
"""Seconds of a beep, between beeps and before the first one, and their frequency in Hz."""
EDGE = 500.0
"""Hz in which an anchor's response falls from 1 to 0: at 4 and 7.5 kHz nothing is left, as
ITU-R BS.1534-3 (annex 1) asks of the low and mid anchor."""
MNRU = 5.0
"""dB: speech to multiplied noise of a recording that everybody calls bad (ITU-T P.810)."""


def treated(samples: Samples, rate: int, treatment: str, rng: np.random.Generator) -> Samples:
    """Samples after a treatment.

    Args:
        samples: ``[time]``.
        rate: in Hz.
        treatment: empty or ``copy``, which change nothing; ``beeps-N``; ``mnru``;
            ``low-pass-HZ``; ``noise-DB``, a signal-to-noise ratio.
        rng: of the noise.

    Raises:
        VoicenymError: a low-pass at or above half of the rate: the anchor would be the reference.
    """
    name, _, number = treatment.rpartition("-")
    if treatment in ("", "copy"):
        return samples
    if treatment in ("mnru", "mnru-copy"):
        noise = rng.standard_normal(len(samples))
        return np.asarray(samples * (1.0 + 10.0 ** (-MNRU / 20.0) * noise))
    if name == "beeps":
        return beeped(samples, rate, int(number))
    if name == "low-pass":
        return low_passed(samples, rate, float(number))
    if name == "noise":
        power = float(np.mean(samples**2)) * 10.0 ** (-float(number) / 10.0)
        return np.asarray(samples + np.sqrt(power) * rng.standard_normal(len(samples)))
    raise ValueError(treatment)


def beeped(samples: Samples, rate: int, count: int) -> Samples:
    """A recording that beeps interrupt after :data:`LEAD` seconds, or half of a shorter one."""
    place = min(round(LEAD * rate), len(samples) // 2)
    loud = 0.5 * float(np.abs(samples).max(initial=0.0)) or 0.1
    time = np.arange(round(BEEP * rate)) / rate
    fade = np.minimum(1.0, np.minimum(time, time[::-1]) / 0.01)
    beep = loud * fade * np.sin(2.0 * np.pi * TONE * time)
    gap = np.zeros(round(GAP * rate))
    middle = [gap, *(part for _ in range(count) for part in (beep, gap))]
    return np.concatenate([samples[:place], *middle, samples[place:]])


def low_passed(samples: Samples, rate: int, edge: float) -> Samples:
    """A recording without what lies above ``edge`` Hz; see :data:`EDGE`.

    Raises:
        VoicenymError: the recording holds nothing above.
    """
    if rate / 2.0 <= edge:
        raise VoicenymError(
            f"an anchor of {edge:g} Hz of recordings at {rate} Hz would be the reference itself; "
            f"MUSHRA needs recordings of more than {2 * edge:g} Hz"
        )
    frequency = np.fft.rfftfreq(2 * len(samples), 1.0 / rate)
    fall = np.clip((frequency - edge) / EDGE, 0.0, 1.0)
    spectrum: Any = np.fft.rfft(samples, 2 * len(samples)) * 0.5 * (1.0 + np.cos(np.pi * fall))
    return np.asarray(np.fft.irfft(spectrum)[: len(samples)])
