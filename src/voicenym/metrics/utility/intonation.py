"""Correlation of the fundamental frequency before and after anonymization."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.errors import DependencyError, UnmeasurableError
from voicenym.metrics.interval_options import normal_quantile
from voicenym.metrics.intervals.interval import Interval, ratio_of_sums
from voicenym.metrics.metric import BOOTSTRAP, Axis, Display, Estimate, Metric
from voicenym.metrics.metric_inputs import SpeechPairs, Tally

LONGEST_LAG = 20
"""Frames: 0.2 s at 10 ms."""
FEWEST = 10
"""Frames voiced in both, below which a correlation says nothing."""
LOWEST, HIGHEST = 75.0, 500.0
LONGEST_MEMORY = 100
"""Frames over which a melody is taken to depend on itself: 1 s."""
NOTHING = (math.nan, math.nan)


@dataclass(frozen=True)
class PitchCorrelation:
    """rho_F0.

    Args:
        value: -1 to 1; NaN where fewer than ten frames are voiced in both, or F0 is constant.
        lag: frames by which the second track is late.
        frames: that were compared.
        interval: by Fisher's z for as many independent frames as a smooth melody is worth; it
            knows nothing of the choice of the lag. NaN where the value is, and in ``compat``.
    """

    value: float
    lag: int
    frames: int
    interval: Interval = NOTHING
    unit: str = ""


def pitch_correlation(
    original: npt.ArrayLike,
    anonymized: npt.ArrayLike,
    mode: str = "voiced",
    longest_lag: int = LONGEST_LAG,
    level: float = 0.95,
) -> PitchCorrelation:
    """Pearson correlation of two tracks of F0, every 10 ms.

    ``voiced``: over frames voiced in both, at the lag (within ``longest_lag``) at which most frames
    are voiced in both; of several such lags, the nearest to 0. Voiced frames that the tracker
    misses therefore suggest no lag. The lag that correlates best would find melody in unrelated
    tracks: 0.2 on average over 41 lags of 3 s. The pitch of all sentences falls towards their end,
    so that the correlation has to be compared with that of other recordings: tracks of different
    sentences in the ``dev`` part of speechocean762 correlate at 0.08 on average.
    ``compat``: the VoicePrivacy Challenge's program (2022): the shorter track is stretched to the
    longer one, the lag is unbounded and wraps around, and unvoiced frames stay in as zeros, so that
    two unrelated melodies with one rhythm of voicing correlate at 0.99; only for comparison with
    its published figures.

    Args:
        original, anonymized: F0 in Hz ``[frame]``, 0 where unvoiced.
        mode: ``voiced`` or ``compat``.
        longest_lag: frames, for ``voiced``.
        level: of the interval.

    Example:
        >>> melody = 120 + 30 * np.sin(np.arange(50) / 5)
        >>> round(pitch_correlation(melody, 1.5 * melody).value, 6)
        1.0
    """
    first, second = (np.asarray(x, dtype=np.float64).reshape(-1) for x in (original, anonymized))
    if mode == "compat":
        return _compat(first, second)
    if mode != "voiced":
        raise UnmeasurableError(f"mode is voiced or compat, not {mode!r}")
    best = PitchCorrelation(math.nan, 0, 0)
    # Dice's coefficient of the voicing of both whole tracks is this number of frames over a
    # constant; over the overlap alone it would rise where a lag crops what does not agree
    most = FEWEST - 1
    for lag in sorted(range(-longest_lag, longest_lag + 1), key=abs):
        a = first[max(0, -lag) :]
        b = second[max(0, lag) :]
        length = min(len(a), len(b))
        a, b = a[:length], b[:length]
        both = (a > 0) & (b > 0)
        frames = int(both.sum())
        if frames > most:  # nearer lags come first and win ties
            value = _pearson(a[both], b[both])
            interval = _fisher(value, _worth(a, b, both), level)
            best, most = PitchCorrelation(value, lag, frames, interval), frames
    return best


def _worth(a: np.ndarray, b: np.ndarray, both: np.ndarray) -> float:
    """Effective number of independent frames of two autocorrelated tracks.

    n^2 / sum over pairs of frames of r_a r_b at their distance (Bartlett 1935), the products of
    autocorrelations being summed up to the first that is not positive.
    """
    frames = int(both.sum())
    tracks = [np.where(both, x - x[both].mean(), 0.0) for x in (a, b)]
    powers = [float(x @ x) / frames for x in tracks]
    if min(powers) <= 1e-9:
        return math.nan
    total = float(frames)
    for distance in range(1, min(LONGEST_MEMORY, len(both) - 1) + 1):
        pairs = int((both[distance:] & both[:-distance]).sum())
        if not pairs:
            continue
        first, second = (
            float(x[distance:] @ x[:-distance]) / pairs / power
            for x, power in zip(tracks, powers, strict=True)
        )
        if min(first, second) <= 0.0:
            break
        total += 2.0 * pairs * min(first, 1.0) * min(second, 1.0)
    return frames * frames / total


def _fisher(value: float, worth: float, level: float) -> Interval:
    """Tanh (atanh r -+ z / sqrt(n - 3)); -1 to 1 with three effective frames or fewer."""
    if math.isnan(value) or math.isnan(worth):
        return NOTHING
    if worth <= 3.0:
        return -1.0, 1.0
    centre = math.atanh(min(max(value, -1.0 + 1e-12), 1.0 - 1e-12))
    half = normal_quantile(level) / math.sqrt(worth - 3.0)
    return min(math.tanh(centre - half), value), max(math.tanh(centre + half), value)


def _pearson(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a - a.mean(), b - b.mean()
    energy = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / energy if energy > 1e-9 else math.nan


def _compat(a: np.ndarray, b: np.ndarray) -> PitchCorrelation:
    length = max(len(a), len(b))
    if not length:
        return PitchCorrelation(math.nan, 0, 0)
    tracks = []
    for track in (a, b):
        place = np.linspace(0, len(track) - 1, length)
        stretched = np.interp(place, np.arange(len(track)), track)
        tracks.append(np.where((stretched < LOWEST) | (stretched > HIGHEST), 0.0, stretched))
    correlation = np.correlate(tracks[1], tracks[0], "full")
    lag = int(correlation.argmax()) - (length - 1)
    value = _pearson(tracks[0], np.roll(tracks[1], -lag))
    return PitchCorrelation(0.0 if math.isnan(value) else value, lag, length)


def pitch_contour(samples: np.ndarray, rate: int) -> np.ndarray:
    """F0 in Hz every 10 ms by Praat, as the VoicePrivacy Challenges measure it; 0 where unvoiced.

    The project's own tracker is made for streams; it calls more frames voiced, where F0 is a guess.

    Args:
        samples: ``[time]``.
        rate: in Hz.

    Raises:
        DependencyError: praat-parselmouth is not installed.
    """
    try:
        import parselmouth
    except ImportError as error:
        raise DependencyError("pip install 'voicenym[evaluate]'") from error
    sound = parselmouth.Sound(samples.astype(np.float64), rate)
    track = sound.to_pitch_ac(time_step=0.01, pitch_floor=LOWEST, pitch_ceiling=HIGHEST)
    return np.asarray(track.selected_array["frequency"])


def tally(speech: SpeechPairs) -> Tally:
    """Correlation of each recording with itself after anonymization.

    A recording without a melody of its own, whose F0 is unknown or constant, is left out. One that
    loses its melody counts 0, as in the VoicePrivacy Challenge's program (2022): it is silent or
    unvoiced afterwards, or its F0 is constant, or is not where it was.
    """
    return _correlations(speech, *_contours(speech))


def _contours(speech: SpeechPairs) -> tuple[list[np.ndarray], list[np.ndarray]]:
    both = speech.each(_both)
    return [before for before, _ in both], [after for _, after in both]


def _both(original: np.ndarray, changed: np.ndarray, rate: int) -> tuple[np.ndarray, np.ndarray]:
    return pitch_contour(original, rate), pitch_contour(changed, rate)


def _correlations(
    speech: SpeechPairs, before: Sequence[np.ndarray], after: Sequence[np.ndarray]
) -> Tally:
    values = np.array([pitch_correlation(x, y).value for x, y in zip(before, after, strict=True)])
    known = [
        i
        for i, (value, track) in enumerate(zip(values, before, strict=True))
        if math.isfinite(value) or _has_melody(track)
    ]
    return Tally(
        np.nan_to_num(values[known]),
        np.ones(len(known)),
        tuple(speech.names[i] for i in known),
        tuple(speech.speakers[i] for i in known),
    )


def _has_melody(track: np.ndarray) -> bool:
    return math.isfinite(pitch_correlation(track, track, longest_lag=0).value)


def _note(speech: SpeechPairs) -> str:
    """A sentence on recordings that are left out or count 0."""
    values = speech.once(tally).above
    total, measured, lost = len(speech.names), len(values), int((values == 0.0).sum())
    parts = []
    if measured < total:
        parts.append(
            f"rho_F0 was measured on {measured} of {total} recordings: the originals of the others "
            f"have fewer than {FEWEST} voiced frames, or constant F0"
        )
    if lost:
        parts.append(
            f"rho_F0 counts {lost} of {measured} recordings as 0: they are voiced before "
            "anonymization, and have no F0 to compare after it"
        )
    return "; ".join(parts)


def _mean(speech: SpeechPairs, correlations: Tally) -> Estimate:
    if not correlations.names:
        return Estimate(math.nan)
    above, below = correlations.above, correlations.below
    interval = ratio_of_sums(above, below, correlations.speakers, **speech.bootstrap)
    return Estimate(float(above.mean()), interval)


def _own(speech: SpeechPairs) -> Estimate:
    return _mean(speech, speech.once(tally))


def _by_chance(speech: SpeechPairs) -> Estimate | None:
    """Each original against the anonymized form of a recording of another text."""
    before, after = _contours(speech)
    places = [other_text(speech.texts, i) for i in range(len(speech.texts))]
    others = [after[place] for place in places if place is not None]
    if len(others) < len(places):
        return None
    return _mean(speech, _correlations(speech, before, others))


def other_text(texts: Sequence[str], place: int) -> int | None:
    """The next recording with another text; any other recording where the text is unknown."""
    count = len(texts)
    turns = [(place + step) % count for step in range(1, count)]
    return next((i for i in turns if not texts[place] or texts[i] != texts[place]), None)


INTONATION = Metric(
    name="rho_F0",
    unit="",
    better="higher",
    chance=None,
    interval=BOOTSTRAP,
    definition="Mean correlation of the fundamental frequency before and after, over frames that "
    "are voiced in both; 0 for a recording that has no F0 to compare afterwards",
    data=SpeechPairs,
    measure=_own,
    display=Display(
        table="sound",
        summary=True,
        card=True,
        axis=Axis("keeps melody\n(rho_F0)", worst=0.0, best=1.0),
        subject="intonation",
    ),
    note=_note,
)
INTONATION_BY_CHANCE = Metric(
    name="rho_F0 by chance",
    unit="",
    better="neither",
    chance=None,
    interval=BOOTSTRAP,
    definition="The same correlation between an original and another anonymized recording: what "
    "rho_F0 has to exceed, since the pitch of all sentences falls towards their end",
    data=SpeechPairs,
    measure=_by_chance,
    display=Display(table="sound", card=True, subject="intonation"),
)
