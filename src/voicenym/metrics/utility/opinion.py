"""DNSMOS: mean opinion score of speech, predicted by a neural network.

Reddy, Gopal, Cutler, "DNSMOS P.835", ICASSP 2022, through the package speechmos, which carries its
models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voicenym.errors import DependencyError, UnmeasurableError
from voicenym.libraries import without_local_settings
from voicenym.metrics.intervals.interval import Interval, ratio_of_sums
from voicenym.metrics.metric import BOOTSTRAP, Axis, Display, Metric
from voicenym.metrics.metric_inputs import SpeechPairs

RATE = 16_000
SHORTEST = 0.5
"""Seconds below which nothing is predicted."""
WINDOW = int(9.01 * RATE)
"""Samples of the model's input."""
Rating = tuple[float, float, float, float]
"""Predicted opinion: overall, signal, background, and overall by P.808."""


@dataclass(frozen=True)
class Opinion:
    """Mean over recordings, on the scale 1 (bad) to 5 (excellent).

    Args:
        value: overall.
        interval: of it, by bootstrap over speakers (recordings, where they are unknown); NaN of a
            single one.
        signal, background, p808: the other scales.
        recordings: that could be rated.
    """

    value: float
    interval: Interval
    signal: float
    background: float
    p808: float
    recordings: int
    unit: str = "of 5"


def mean_opinion(
    recordings: Sequence[np.ndarray],
    speakers: Sequence[str] | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> Opinion:
    """DNSMOS of recordings; silent ones and those under half a second are left out.

    The model's answer to silence means nothing: it gives digital silence 1.84 of 5 and loud noise
    1.10. ``recordings`` of the result says how many were rated.

    A recording shorter than the model's window of 9.01 s is repeated to fill one.

    Args:
        recordings: ``[time]`` each, mono at 16 kHz in [-1, 1].
        speakers: of each.
        level, replicates, seed: of the bootstrap.

    Raises:
        DependencyError: speechmos is not installed.
        UnmeasurableError: nothing can be rated.
    """
    ratings = [rating(samples) for samples in recordings]
    return _mean(ratings, speakers, level=level, replicates=replicates, seed=seed)


def rating(recording: np.ndarray) -> Rating | None:
    """Predicted opinion of one recording.

    Args:
        recording: ``[time]``, mono at 16 kHz in [-1, 1].

    Returns:
        None where it is too short or silent.

    Raises:
        DependencyError: speechmos is not installed.
        UnmeasurableError: integers, which are of another scale; another shape; NaN or infinity.
    """
    given = np.asarray(recording)
    if given.dtype.kind != "f" or given.ndim != 1 or not np.isfinite(given).all():
        raise UnmeasurableError(
            f"an opinion is predicted of a list of recordings [time] of finite floats, not of "
            f"{given.dtype} {list(given.shape)}"
        )
    try:
        with without_local_settings("numba"):  # which librosa imports when it is first used
            from speechmos import dnsmos
    except ImportError as error:
        raise DependencyError("predicted opinion: pip install 'voicenym[evaluate]'") from error
    samples = np.clip(given.astype(np.float64), -1.0, 1.0)
    if len(samples) < SHORTEST * RATE or not np.any(samples):
        return None
    if len(samples) < WINDOW:  # the package would repeat it to several windows
        samples = np.resize(samples, WINDOW)
    found = dnsmos.run(samples, sr=RATE)
    overall, signal, background, p808 = (
        float(found[f"{scale}_mos"]) for scale in ("ovrl", "sig", "bak", "p808")
    )
    return overall, signal, background, p808


def _mean(
    ratings: Sequence[Rating | None], speakers: Sequence[str] | None, **options: Any
) -> Opinion:
    """The mean of ratings that there are."""
    known = [i for i, rated in enumerate(ratings) if rated is not None]
    if not known:
        raise UnmeasurableError("no recording is long and loud enough to be rated")
    values = np.array([ratings[i] for i in known], dtype=np.float64)
    who = [str(i) if speakers is None else speakers[i] for i in known]
    overall, signal, background, p808 = (float(v) for v in values.mean(0))
    interval = ratio_of_sums(values[:, 0], np.ones(len(values)), who, **options)
    return Opinion(overall, interval, signal, background, p808, len(values))


def _changed(_: np.ndarray, changed: np.ndarray, __: int) -> Rating | None:
    return rating(changed)


def _measure(speech: SpeechPairs) -> Opinion:
    return _mean(speech.each(_changed), speech.speakers, **speech.bootstrap)


def _left_out(speech: SpeechPairs) -> str:
    """A sentence on recordings without a rating."""
    ratings = speech.each(_changed)
    rated = sum(one is not None for one in ratings)
    if rated == len(ratings):
        return ""
    return (
        f"DNSMOS was measured on {rated} of {len(ratings)} recordings: the model cannot rate those "
        f"that are silent or shorter than {SHORTEST:g} s, so that they do not lower the mean"
    )


PREDICTED_OPINION = Metric(
    name="DNSMOS",
    unit="of 5",
    better="higher",
    chance=None,
    interval=BOOTSTRAP,
    definition="Naturalness from 1 (bad) to 5 (excellent) as a neural network predicts listeners' "
    "opinion (Reddy et al. 2022)",
    data=SpeechPairs,
    measure=_measure,
    display=Display(
        table=None,
        heading="DNSMOS, 1 to 5",
        summary=True,
        compared=True,
        card=True,
        axis=Axis("sounds natural\n(DNSMOS)", worst=1.0, best=4.0),
        subject="naturalness",
    ),
    originals=True,
    note=_left_out,
)
