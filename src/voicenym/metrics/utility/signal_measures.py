"""Signal-to-noise ratio of a change, and real-time coefficient."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from voicenym.errors import UnmeasurableError, counted
from voicenym.metrics.intervals.interval import Interval, ratio_of_sums
from voicenym.metrics.metric import BOOTSTRAP, Display, Metric
from voicenym.metrics.metric_inputs import SpeechPairs

PARTS = 20
"""Parts of a single recording, which are resampled where there are no other recordings."""


@dataclass(frozen=True)
class SignalToNoise:
    """SNR of a change.

    Args:
        value: in dB, the mean over recordings; infinite where nothing changed.
        interval: over speakers; over parts of equal length, of a single recording; NaN where there
            is nothing to draw from.
        recordings: how many.
    """

    value: float
    interval: Interval
    recordings: int
    unit: str = "dB"


@dataclass(frozen=True)
class RealTime:
    """Real-time coefficient: seconds of processing per second of speech.

    Args:
        value: below 1 is faster than speech.
        interval: over speakers (recordings, where they are unknown); NaN of a single one.
    """

    value: float
    interval: Interval
    unit: str = "of real time"


def signal_to_noise(
    original: npt.ArrayLike | Sequence[npt.ArrayLike],
    changed: npt.ArrayLike | Sequence[npt.ArrayLike],
    speakers: Sequence[str] | np.ndarray | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> SignalToNoise:
    """SNR in dB of a change: 10 log10 (|x|^2 / |x - y|^2); the mean over recordings.

    Deng et al., "V-Cloak", USENIX Security 2023, section 5.1. It says something of systems that
    add a little to the waveform; one that makes the waveform anew is at about -3 dB, good or bad.

    Args:
        original, changed: a recording ``[time]``, or several, of one length in each pair.
        speakers: of several recordings.
        level, replicates, seed: of the bootstrap.

    Raises:
        UnmeasurableError: lengths or numbers that differ, or no recording.

    Example:
        >>> found = signal_to_noise([1.0, -1.0], [1.1, -1.1])
        >>> round(found.value, 6), found.unit
        (20.0, 'dB')
    """
    before, after = _recordings(original), _recordings(changed)
    if len(before) != len(after) or not before:
        raise UnmeasurableError(
            f"{counted(len(before), 'original')} but {counted(len(after), 'changed recording')}"
        )
    options: dict[str, Any] = {"level": level, "replicates": replicates, "seed": seed}
    powers = [_powers(x, y) for x, y in zip(before, after, strict=True)]
    values = np.array([_decibels(float(p.sum()), float(n.sum())) for p, n in powers])
    if len(powers) == 1:
        low, high = ratio_of_sums(*powers[0], np.arange(len(powers[0][0])), **options)
        return SignalToNoise(float(values[0]), (_decibels(low, 1.0), _decibels(high, 1.0)), 1)
    people = np.arange(len(values)) if speakers is None else np.asarray(speakers)
    if len(people) != len(values):
        raise UnmeasurableError(
            f"{counted(len(values), 'recording')} but {counted(len(people), 'speaker')}"
        )
    with np.errstate(invalid="ignore"):  # infinities of both signs have no mean
        interval = ratio_of_sums(values, np.ones(len(values)), people, **options)
        return SignalToNoise(float(values.mean()), interval, len(values))


def _recordings(signals: npt.ArrayLike | Sequence[npt.ArrayLike]) -> list[np.ndarray]:
    """One recording ``[time]`` as a list of it; several as they are."""
    several = len(signals) > 0 and np.ndim(signals[0]) > 0  # type: ignore[arg-type,index]
    return [
        np.asarray(s, dtype=np.float64).reshape(-1)
        for s in (signals if several else [signals])  # type: ignore[union-attr]
    ]


def _powers(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Energies of signal and change in each of some parts."""
    if x.size != y.size:
        raise UnmeasurableError(f"lengths differ: {x.size} and {y.size} samples")
    signal, noise = (
        np.array([np.sum(part**2) for part in np.array_split(values, min(PARTS, max(1, x.size)))])
        for values in (x, x - y)
    )
    return signal, noise


def _decibels(power: float, noise: float) -> float:
    if math.isnan(power):
        return math.nan
    if noise == 0.0 or power == math.inf:
        return math.inf
    return 10.0 * math.log10(power / noise) if power > 0.0 else -math.inf


def real_time_coefficient(
    processing: npt.ArrayLike,
    duration: npt.ArrayLike,
    speakers: Sequence[str] | np.ndarray | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> RealTime:
    """RTC: seconds of processing over seconds of speech, of all recordings together.

    V-Cloak, section 5.1. Its interval says how recordings differ, not how machines do.

    Args:
        processing, duration: in seconds, of one recording or ``[recording]``.
        speakers: of each recording.
        level, replicates, seed: of the bootstrap.

    Raises:
        UnmeasurableError: a duration that is not positive, or numbers that differ.

    Example:
        >>> real_time_coefficient(3.0, 60.0).value
        0.05
    """
    spent, lasted = (np.atleast_1d(np.asarray(v, dtype=np.float64)) for v in (processing, duration))
    if spent.shape != lasted.shape or not spent.size:
        spans = counted(spent.size, "time of processing", "times of processing")
        raise UnmeasurableError(f"{spans} but {counted(lasted.size, 'duration')}")
    if not (lasted > 0.0).all():
        raise UnmeasurableError(f"a duration is positive, not {lasted.min()}")
    people = np.arange(spent.size) if speakers is None else np.asarray(speakers)
    if len(people) != spent.size:
        raise UnmeasurableError(
            f"{counted(spent.size, 'recording')} but {counted(len(people), 'speaker')}"
        )
    interval = ratio_of_sums(spent, lasted, people, level=level, replicates=replicates, seed=seed)
    return RealTime(float(spent.sum() / lasted.sum()), interval)


def _noise(speech: SpeechPairs) -> SignalToNoise | None:
    """Signal-to-noise ratio; None if a recording changed its length."""
    if any(len(x) != len(y) for x, y in zip(speech.original, speech.changed, strict=True)):
        return None
    return signal_to_noise(speech.original, speech.changed, speech.speakers, **speech.bootstrap)


def _speed(speech: SpeechPairs) -> RealTime | None:
    if not speech.seconds:
        return None
    durations = [len(samples) / speech.rate for samples in speech.original]
    return real_time_coefficient(speech.seconds, durations, speech.speakers, **speech.bootstrap)


NOISE = Metric(
    name="SNR",
    unit="dB",
    better="higher",
    chance=None,
    interval=BOOTSTRAP,
    definition="Signal-to-noise ratio of the change to the waveform; it describes the quality of "
    "systems that add a little to the waveform, while a synthesised waveform has about "
    "\N{MINUS SIGN}3 dB at any quality (Deng et al. 2023)",
    data=SpeechPairs,
    measure=_noise,
    display=Display(table="sound", digits=1, heading="SNR, dB", card=True, subject="noise"),
)
REAL_TIME_FACTOR = Metric(
    name="RTF",
    unit="of real time",
    better="lower",
    chance=None,
    interval=BOOTSTRAP,
    definition="Computing time on one processor core as a share of the recordings' duration",
    data=SpeechPairs,
    measure=_speed,
    display=Display(table=None, digits=4, summary=True, card=True, subject="speed"),
    subgroups=False,
)
