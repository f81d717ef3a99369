"""The attacker that every other must beat: pitch, formants and tilt, and no learnt weights.

Seven numbers a recording, all robust averages over voiced frames, which a phonetician could read
off a screen. A verifier that finds fewer speakers than this is no measure of protection; and where
this one finds them, nobody needs a neural network.
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

from voicenym.verification.scoring import DiagonalGaussian
from voicenym.verification.verifier import TEACHING, Teaching, Verifier

if TYPE_CHECKING:
    from pathlib import Path

    from voicenym.dsp.voice_measurement import Reading
    from voicenym.training.speakers.train_ubm import Spoken

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
"""What is measured: logarithms of Hz; of semitones; dB an octave."""
FORMANTS = 4
LEAST_SPREAD = 0.3
"""Semitones added to the spread of F0, whose logarithm would otherwise have no floor."""
TILT_FROM, TILT_TO = 100.0, 5_000.0
"""Hz; the reading ends at 5,500 Hz."""
BANDS_PER_OCTAVE = 3
METHOD = 1
"""Counts the changes to what is measured."""


@dataclass(frozen=True)
class Population:
    """How the numbers of :data:`NAMES` are distributed.

    Args:
        mean: over recordings.
        deviation: over recordings.
        within: share of the variance that recordings of one speaker have among each other.
    """

    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    within: tuple[float, ...]


USUAL = Population(
    mean=(5.286, 1.023, 6.169, 7.260, 7.883, 8.209, -2.991),
    deviation=(0.272, 0.532, 0.197, 0.199, 0.094, 0.064, 2.594),
    within=(0.068, 0.676, 0.444, 0.448, 0.485, 0.454, 0.120),
)
"""Measured by :meth:`VoiceStatistics.train` on the ``train`` part of speechocean762 (Zhang et al.,
Interspeech 2021), as 30 kbit/s Opus: 2,500 recordings of 4 s, 125 speakers, half of them children,
English read by natives of Mandarin. Each was recorded in one session, so that the small share of
the tilt within speakers is in part that of microphones."""


class VoiceStatistics(Verifier):
    """A verifier that measures.

    Args:
        population: by which the numbers are standardised.

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
    def train(
        cls,
        speech: Sequence[Spoken],
        folder: Path | None = None,
        held_out: Sequence[Spoken] = (),
        how: Teaching = TEACHING,
    ) -> VoiceStatistics:
        """With the population of this speech, such as anonymized speech.

        Args:
            speech: to measure.
            folder, held_out, how: not used: seven means need no file.

        Raises:
            VoicenymError: fewer than two voiced speakers, or none with two voiced recordings.
        """
        numbers = measure([recording.samples() for recording in speech])
        voiced = np.isfinite(numbers).all(1)
        speakers = np.array([recording.speaker for recording in speech])
        model = DiagonalGaussian.train(numbers[voiced], speakers[voiced])
        variance = np.maximum(model.within + model.between, 1e-12)
        return cls(
            Population(
                tuple(model.mean.tolist()),
                tuple(np.sqrt(variance).tolist()),
                tuple((model.within / variance).tolist()),
            )
        )

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """Standardised numbers ``[recording, 7]``; 0, the population's mean, where no voice is.

        Args:
            recordings: ``[time]`` each, mono float32 at 16 kHz.
        """
        population = self.population
        standard = (measure(recordings) - population.mean) / population.deviation
        return np.nan_to_num(standard).astype(np.float32)

    def backend(self) -> DiagonalGaussian:
        """What scores these vectors where nothing better was trained: LLR in the population."""
        within = np.array(self.population.within)
        return DiagonalGaussian(np.zeros(len(NAMES)), within, 1.0 - within)

    def adapted(
        self, vectors: npt.NDArray[np.floating], speakers: Sequence[str]
    ) -> DiagonalGaussian:
        """The same with the variances of such vectors; a few dozen speakers suffice.

        Args:
            vectors, speakers: as for every verifier.

        Raises:
            VoicenymError: fewer than two speakers, or none with two recordings.
        """
        return DiagonalGaussian.train(vectors, speakers)


def measure(recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float64]:
    """The numbers of :data:`NAMES`, ``[recording, 7]``; NaN where hardly anything is voiced.

    By :class:`voicenym.dsp.voice_measurement.Reader`, which puts a neutral tube's formants where it
    finds five below 5.5 kHz in fewer than 20 frames (some children: 1.3 % of speechocean762).

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
