"""A verifier of prosody trajectories: the movement of level and pitch, and the level of pauses.

Systems keep timing and level, and most keep the shape of the pitch contour, because these carry the
expression of an utterance. They also identify the speaker, as does the noise of a room and a
microphone in the pauses. The verifier measures nothing else, so that a change of voice does not
affect it. PLDA, trained on other speakers, scores the measures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from voicenym.errors import VoicenymError
from voicenym.verification.given_recordings import checked_recordings
from voicenym.verification.ivector import SpeakerSpace
from voicenym.verification.plda import PLDA, TwoCovariance
from voicenym.verification.scoring import Array
from voicenym.verification.verifier import Verifier

RATE, HOP = 16_000, 160
FRAMES_A_SECOND = RATE / HOP
QUANTILES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Of the frames' levels."""
MOVEMENTS = (0.3, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Hz, band edges of the level's modulation spectrum."""
AUDIBLE, SPEAKING = -25.0, -12.0
"""dB from the mean level: floor of the level trajectory, and threshold of speech."""
LEAST_POWER = 1e-9
SMOOTH = 5
"""Frames over which the level is averaged before its slope is taken."""
FARTHEST = 0.5
"""Distance of ln F0 from its median; larger ones are octave errors of the pitch tracker."""
STEEPEST = 0.1
"""Difference of ln F0 between two frames; larger ones are octave errors as well."""
LEAST_FRAMES, LEAST_VOICED = 30, 10
"""Frames below which nothing is measured, and voiced frames below which pitch is not."""
NAMES = (
    *(f"level that {100 * q:.0f} % stay below, dB from the mean" for q in QUANTILES),
    *(
        f"log share of the level's movements, {low:g} to {high:g} Hz"
        for low, high in pairwise(MOVEMENTS)
    ),
    "share of time spoken",
    "beginnings of speech a second",
    "slope of level, dB a frame",
    "voiced frames by spoken ones",
    "beginnings of voice a second",
    "log length of voiced stretches",
    "log spread of log F0",
    "skew of log F0",
    "log slope of log F0",
    "log ratio of the slope's median and mean",
    "fall of log F0 a second",
)
"""Measures of a recording."""
OF_PITCH = 8
"""Measures of pitch, the last of :data:`NAMES`."""
KIND = "course"
"""Kind of model in a folder's configuration; the word of earlier releases."""
METHOD = 1
"""Version of the measures."""


class ProsodyVerifier(Verifier):
    """A verifier of prosody trajectories.

    Args:
        folder: that its training wrote
            (:func:`voicenym.training.speakers.verifier_training.train_verifier`).

    Attributes:
        name: for reports.
        version: of the measures and of the trained parameters.

    Raises:
        VoicenymError: the folder's configuration cannot be read; at the first use, the folder holds
            another kind of model.
    """

    concentration = 1.0  # scores are log-likelihood ratios

    def __init__(self, folder: Path) -> None:
        from voicenym.nets.checkpoint import version

        self.name = "prosody trajectories"
        self.folder = folder
        self.version = f"{METHOD} {version(folder)}"

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """Standardised measures ``[recording, measure]``; 0, the training's mean, where one is
        unknown.

        Args:
            recordings: ``[time]`` each, mono float32 at 16 kHz.
        """
        mean, scale, _ = _loaded(self.folder, self.version)
        return np.nan_to_num((measure(checked_recordings(recordings)) - mean) / scale).astype(
            np.float32
        )

    def backend(self) -> PLDA:
        """PLDA of the training's measures."""
        return _loaded(self.folder, self.version)[2]


@lru_cache(maxsize=4)
def _loaded(folder: Path, version: str) -> tuple[Array, Array, PLDA]:
    from voicenym.nets.checkpoint import read, rebuilding

    _, tensors = read(folder)
    space = SpeakerSpace.of(tensors)
    if space is None or "scale" not in tensors:
        raise VoicenymError(f"{folder}: holds no prosody model; give one that training wrote")
    with rebuilding(folder):
        model = TwoCovariance(space.mean, space.within, space.between)
        plda = PLDA(space.centre, space.projection, model, normalise=False)
        return tensors["mean"].double().numpy(), tensors["scale"].double().numpy(), plda


def measure(recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float64]:
    """Measures of :data:`NAMES`, ``[recording, measure]``; NaN where one cannot be measured.

    Args:
        recordings: ``[time]`` each, mono float32 at 16 kHz.
    """
    from voicenym.dsp.pitch.online import track

    numbers = np.full((len(recordings), len(NAMES)), math.nan)
    for row, samples in enumerate(recordings):
        frames = len(samples) // HOP
        if frames < LEAST_FRAMES or not np.any(samples):
            continue
        level = levels(samples)
        numbers[row, :-OF_PITCH] = _of_level(level)
        f0 = np.zeros(frames)
        tracked = track(samples, RATE)[:frames]
        f0[: len(tracked)] = tracked
        numbers[row, -OF_PITCH:] = _of_pitch(f0, level)
    return numbers


def levels(samples: npt.NDArray[np.floating]) -> Array:
    """Level ``[frame]`` of each 10 ms in dB, minus a mean that weights loud frames more.

    Args:
        samples: ``[time]`` at 16 kHz.
    """
    frames = samples[: len(samples) // HOP * HOP].reshape(-1, HOP).astype(np.float64)
    level: Array = 10.0 * np.log10(np.square(frames).mean(1) + LEAST_POWER)
    weights = 10.0 ** (level / 40.0)
    return level - (weights @ level) / weights.sum()


def _of_level(level: Array) -> list[float]:
    spoken = level > SPEAKING
    audible = np.maximum(level, AUDIBLE)
    smooth = np.convolve(audible, np.full(SMOOTH, 1.0 / SMOOTH), "valid")
    seconds = len(level) / FRAMES_A_SECOND
    return [
        *np.quantile(level, QUANTILES),
        *_movements(audible),
        float(spoken.mean()),
        len(_stretches(spoken)) / seconds,
        float(np.abs(np.diff(smooth)).mean()),
    ]


def _movements(level: Array) -> list[float]:
    """Log power in bands of the modulation spectrum, relative to its mean power."""
    points = max(1024, len(level))
    power = np.square(np.abs(np.fft.rfft((level - level.mean()) * np.hanning(len(level)), points)))
    hertz = np.fft.rfftfreq(points, 1.0 / FRAMES_A_SECOND)
    usual = power.mean() + 1e-9
    bands = [power[(hertz >= low) & (hertz < high)] for low, high in pairwise(MOVEMENTS)]
    return [math.log(band.mean() / usual + 1e-9) for band in bands]


def _of_pitch(f0: Array, level: Array) -> list[float]:
    """Measures of voicing and of the pitch trajectory, independent of the mean pitch."""
    voiced = (f0 > 0.0) & (level > AUDIBLE)
    if voiced.sum() < LEAST_VOICED:
        return [math.nan] * OF_PITCH
    log_f0 = np.log(np.maximum(f0, 1.0))
    about = log_f0 - np.median(log_f0[voiced])
    sure = voiced & (np.abs(about) < FARTHEST)
    if sure.sum() < LEAST_VOICED:  # two registers, and nothing between
        return [math.nan] * OF_PITCH
    own = about[sure] - about[sure].mean()
    spread = float(own.std())
    slopes = np.abs(np.diff(log_f0)[voiced[1:] & voiced[:-1]])
    slopes = slopes[slopes < STEEPEST]
    mean, median = (float(slopes.mean()), float(np.median(slopes))) if len(slopes) else (0.0, 0.0)
    seconds = np.flatnonzero(sure) / FRAMES_A_SECOND
    stretches = _stretches(voiced)
    return [
        float(voiced.sum()) / max(1, int((level > SPEAKING).sum())),
        len(stretches) / (len(f0) / FRAMES_A_SECOND),
        math.log(float(np.mean(stretches))),
        math.log(spread + 0.01),
        float((own**3).mean()) / (spread + 0.02) ** 3,
        math.log(mean + 1e-3),
        math.log((median + 1e-4) / (mean + 1e-4)),
        float(np.polyfit(seconds, own, 1)[0]),
    ]


def _stretches(inside: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Lengths of the runs of frames inside."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(np.int8), [0]])))
    lengths: npt.NDArray[np.int64] = edges[1::2] - edges[::2]
    return lengths
