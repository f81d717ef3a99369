"""A verifier of seven voice statistics: pitch, formants and spectral tilt, without trained weights.

The statistics are robust averages over the voiced frames of a recording. The verifier is the
baseline of every evaluation: one that finds fewer speakers than this measures no protection.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voicenym.verification.given_recordings import checked_recordings
from voicenym.verification.scoring import DiagonalGaussian
from voicenym.verification.verifier import Verifier

if TYPE_CHECKING:
    from voicenym.dsp.voice_measurement import Reading

RATE = 16_000
NAMES = (
    "log F0",
    "log F0 spread",
    "log F1",
    "log F2",
    "log F3",
    "log F4",
    "tilt",
)
"""Measures of a recording: logarithms of Hz; of semitones; dB an octave."""
FORMANTS = 4
LEAST_SPREAD = 0.3
"""Semitones added to the spread of F0, whose logarithm would otherwise have no floor."""
TILT_FROM, TILT_TO = 100.0, 5_000.0
"""Hz; the measurement ends at 5,500 Hz."""
BANDS_PER_OCTAVE = 3
METHOD = 1
"""Version of the measures."""


@dataclass(frozen=True)
class Population:
    """Distribution of the measures of :data:`NAMES`.

    Args:
        mean: over recordings.
        deviation: over recordings.
        within: share of the variance that lies within speakers.
    """

    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    within: tuple[float, ...]


USUAL = Population(
    mean=(5.286, 1.023, 6.169, 7.260, 7.883, 8.209, -2.991),
    deviation=(0.272, 0.532, 0.197, 0.199, 0.094, 0.064, 2.594),
    within=(0.068, 0.676, 0.444, 0.448, 0.485, 0.454, 0.120),
)
"""Measured by :meth:`VoiceStatistics.fitted` on the ``train`` part of speechocean762 (Zhang et al.,
Interspeech 2021), as 30 kbit/s Opus: 2,500 recordings of 4 s, 125 speakers, half of them children,
English read by natives of Mandarin. Each was recorded in one session, so that the small share of
the tilt within speakers is in part that of microphones."""


class VoiceStatistics(Verifier):
    """A verifier of voice statistics, scored by log-likelihood ratios.

    Args:
        population: standardises the measures.

    Attributes:
        name: for reports.
        version: of the method and the population.

    Example:
        >>> noise = np.random.default_rng(0).normal(size=16_000).astype(np.float32)
        >>> VoiceStatistics().embed([0.1 * noise]).shape
        (1, 7)
    """

    def __init__(self, population: Population = USUAL) -> None:
        self.name = "voice statistics"
        self.concentration = 1.0  # scores are log-likelihood ratios
        self.population = population
        self.version = hashlib.sha256(f"{METHOD} {population}".encode()).hexdigest()[:16]

    @classmethod
    def fitted(
        cls, recordings: Sequence[npt.NDArray[np.float32]], speakers: Sequence[str]
    ) -> VoiceStatistics:
        """A verifier with the population of this speech, such as anonymized speech.

        Args:
            recordings: ``[time]`` each, mono float32 at 16 kHz.
            speakers: of each recording.

        Raises:
            VoicenymError: fewer than two voiced speakers, or none with two voiced recordings.
        """
        numbers = measure(recordings)
        voiced = np.isfinite(numbers).all(1)
        model = DiagonalGaussian.train(numbers[voiced], np.array(speakers)[voiced])
        variance = np.maximum(model.within + model.between, 1e-12)
        return cls(
            Population(
                tuple(model.mean.tolist()),
                tuple(np.sqrt(variance).tolist()),
                tuple((model.within / variance).tolist()),
            )
        )

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """Standardised measures ``[recording, 7]``; 0, the population's mean, where nothing is
        voiced.

        Args:
            recordings: ``[time]`` each, mono float32 at 16 kHz.
        """
        population = self.population
        standard = (
            measure(checked_recordings(recordings)) - population.mean
        ) / population.deviation
        return np.nan_to_num(standard).astype(np.float32)

    def backend(self) -> DiagonalGaussian:
        """Log-likelihood ratios in the population."""
        within = np.array(self.population.within)
        return DiagonalGaussian(np.zeros(len(NAMES)), within, 1.0 - within)

    def adapted(
        self, vectors: npt.NDArray[np.floating], speakers: Sequence[str]
    ) -> DiagonalGaussian:
        """Log-likelihood ratios with the variances of these vectors; a few dozen speakers suffice.

        Args:
            vectors: ``[recording, 7]``.
            speakers: of each vector.

        Raises:
            VoicenymError: fewer than two speakers, or none with two recordings.
        """
        return DiagonalGaussian.train(vectors, speakers)


def measure(recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float64]:
    """Measures of :data:`NAMES`, ``[recording, 7]``; NaN where hardly anything is voiced.

    :class:`voicenym.dsp.voice_measurement.Reader` measures them; it substitutes a neutral tube's
    formants where it finds five below 5.5 kHz in fewer than 20 frames (some children: 1.3 % of
    speechocean762).

    Args:
        recordings: ``[time]`` each, mono float32 at 16 kHz.
    """
    import torch

    from voicenym.dsp.voice_measurement import Reader

    numbers = np.full((len(recordings), len(NAMES)), np.nan)
    # One at a time: a tenth slower than sixteen, and no number depends on who else is measured.
    for row, samples in enumerate(recordings):
        reader = Reader(1, RATE)
        reader.push(torch.from_numpy(np.array(samples, dtype=np.float32))[None])
        numbers[row] = _numbers(reader.result()[0])
    return numbers


def _numbers(reading: Reading) -> tuple[float, ...]:
    if reading.pitch is None:
        return (math.nan,) * len(NAMES)
    return (
        math.log(reading.pitch),
        math.log(reading.spread + LEAST_SPREAD),
        *(math.log(formant) for formant in reading.formants[:FORMANTS]),
        _tilt(np.array(reading.spectrum), reading.nyquist),
    )


def _tilt(power: npt.NDArray[np.float64], nyquist: float) -> float:
    """Slope in dB an octave of the line through the levels of third octaves."""
    hertz = np.linspace(0.0, nyquist, len(power))
    count = math.floor(BANDS_PER_OCTAVE * math.log2(TILT_TO / TILT_FROM))
    octaves = np.arange(count + 1) / BANDS_PER_OCTAVE
    place = np.searchsorted(hertz, TILT_FROM * 2.0**octaves)
    inside = [power[a:b].mean() for a, b in pairwise(place)]
    level = 10.0 * np.log10(np.maximum(inside, 1e-12 * power.max()))
    slope: float = np.polyfit(octaves[1:], level, 1)[0]
    return float(slope)
