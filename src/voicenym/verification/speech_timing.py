"""Timing of speech from timed phones: rates, pauses, durations of phones, and rhythm.

The measures need no timbre, pitch or level. Rhythm measures after Ramus, Nespor and Mehler,
"Correlates of linguistic rhythm in the speech signal" (Cognition 73, 1999: %V, delta V, delta C),
Dellwo, "Rhythm and speech rate: a variation coefficient for delta C" (2006: VarcoC), and Grabe
and Low, "Durational variability in speech and the rhythm class hypothesis" (2002: nPVI, rPVI). Most
systems keep the durations of phones, which identify speakers (Franzreb et al., "Private kNN-VC:
interpretable anonymization of converted speech", Interspeech 2025).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from voicenym.verification.scoring import Array

SILENCE = "SIL"
FRAMES_A_SECOND = 100.0
LEAST_PHONES = 6
"""Phones below which nothing is measured."""
LEAST_PAUSE = 10
"""Frames (100 ms) below which a silence between phones is a closure, not a pause."""
VOWELS = frozenset(
    {
        "AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW",
    }
)  # fmt: skip
CLASSES: dict[str, frozenset[str]] = {
    "long vowels": frozenset(("AA", "AO", "AW", "AY", "ER", "EY", "IY", "OW", "OY", "UW")),
    "short vowels": frozenset(("AE", "AH", "EH", "IH", "UH")),
    "stops": frozenset(("B", "D", "G", "K", "P", "T")),
    "fricatives and affricates": frozenset(
        ("CH", "DH", "F", "HH", "JH", "S", "SH", "TH", "V", "Z", "ZH")
    ),
    "nasals": frozenset(("M", "N", "NG")),
    "liquids and glides": frozenset(("L", "R", "W", "Y")),
}
"""Classes of phones whose mean durations are measured."""
NAMES = (
    "log seconds before speech",
    "log seconds after speech",
    "pauses a second",
    "share of pauses",
    "mean log duration of pauses",
    "spread of log duration of pauses",
    "mean position of pauses, 0 to 1",
    "log phones before the first pause",
    "log phones a second, pauses included",
    "log phones a second, without pauses",
    "%V",
    "log delta V",
    "log delta C",
    "VarcoV",
    "VarcoC",
    "nPVI of vowels",
    "log rPVI of consonants",
    *(f"mean log duration of {name}" for name in CLASSES),
    "spread of log duration of phones",
    "lengthening of the last phones",
    "change of log duration over the recording",
)
"""Measures of a recording."""
METHOD = 1
"""Version of the measures."""

Timed = tuple[str, int]
"""A phone, or :data:`SILENCE`, and its number of frames of 10 ms."""


def measure(recordings: Sequence[Sequence[Timed]]) -> Array:
    """Measures of :data:`NAMES`, ``[recording, measure]``; NaN where one cannot be measured.

    Args:
        recordings: phones and silences of each, in order.

    Example:
        >>> segments = [("SIL", 30), *[("M", 8), ("AA", 12)] * 5, ("SIL", 20)]
        >>> row = dict(zip(NAMES, measure([segments])[0]))
        >>> round(row["%V"], 2), row["nPVI of vowels"], row["pauses a second"]
        (0.6, 0.0, 0.0)
    """
    found = np.full((len(recordings), len(NAMES)), math.nan)
    for row, timed in enumerate(recordings):
        inner = _between_silences(timed)
        if sum(name != SILENCE for name, _ in inner) >= LEAST_PHONES:
            found[row] = [*_edges(timed), *_pauses(inner), *_rhythm(inner), *_durations(inner)]
    return found


def _between_silences(timed: Sequence[Timed]) -> list[Timed]:
    spoken = [place for place, (name, _) in enumerate(timed) if name != SILENCE]
    return list(timed[spoken[0] : spoken[-1] + 1]) if spoken else []


def _edges(timed: Sequence[Timed]) -> tuple[float, float]:
    def silent(part: Sequence[Timed]) -> float:
        frames = 0
        for name, count in part:
            if name != SILENCE:
                break
            frames += count
        return math.log(frames / FRAMES_A_SECOND + 0.05)

    return silent(timed), silent(timed[::-1])


def _pauses(inner: Sequence[Timed]) -> list[float]:
    ends = np.cumsum([count for _, count in inner])
    total = float(ends[-1])
    is_pause = [name == SILENCE and count >= LEAST_PAUSE for name, count in inner]
    lengths = np.array([c for (_, c), one in zip(inner, is_pause, strict=True) if one], dtype=float)
    phones = [count for name, count in inner if name != SILENCE]
    rates = [
        math.log(len(phones) / total * FRAMES_A_SECOND),
        math.log(len(phones) / sum(phones) * FRAMES_A_SECOND),
    ]
    counted = [len(lengths) / total * FRAMES_A_SECOND, float(lengths.sum()) / total]
    if not len(lengths):
        return [*counted, math.nan, math.nan, math.nan, math.nan, *rates]
    logs = np.log(lengths / FRAMES_A_SECOND)
    middles = np.array([(end - c / 2) / total for end, (_, c) in zip(ends, inner, strict=True)])
    first = is_pause.index(True)
    return [
        *counted,
        float(logs.mean()),
        float(logs.std()) if len(logs) > 1 else math.nan,
        float(middles[is_pause].mean()),
        math.log(sum(name != SILENCE for name, _ in inner[:first]) + 1.0),
        *rates,
    ]


def _rhythm(inner: Sequence[Timed]) -> list[float]:
    """Of vocalic and consonantal intervals, which a pause ends; in seconds."""
    intervals: dict[bool, list[float]] = {True: [], False: []}
    for vocalic, part in groupby(
        inner, key=lambda one: None if one[0] == SILENCE else one[0] in VOWELS
    ):
        frames = sum(count for _, count in part)
        if vocalic is not None:
            intervals[vocalic].append(frames / FRAMES_A_SECOND)
    vowels, consonants = np.array(intervals[True]), np.array(intervals[False])
    share = vowels.sum() / max(vowels.sum() + consonants.sum(), 1e-9)
    return [
        float(share),
        *(_log_spread(x) for x in (vowels, consonants)),
        *(float(x.std() / x.mean()) if len(x) > 1 else math.nan for x in (vowels, consonants)),
        _npvi(vowels),
        math.log(float(np.abs(np.diff(consonants)).mean()) + 0.005)
        if len(consonants) > 1
        else math.nan,
    ]


def _log_spread(lengths: Array) -> float:
    return math.log(float(lengths.std()) + 0.005) if len(lengths) > 1 else math.nan


def _npvi(lengths: Array) -> float:
    """Normalised pairwise variability index: mean of |a - b| / ((a + b) / 2), times 100."""
    if len(lengths) < 2:
        return math.nan
    pairs = np.abs(np.diff(lengths)) / ((lengths[1:] + lengths[:-1]) / 2.0)
    return 100.0 * float(pairs.mean())


def _durations(inner: Sequence[Timed]) -> list[float]:
    names = [name for name, _ in inner if name != SILENCE]
    logs = np.log([count / FRAMES_A_SECOND for name, count in inner if name != SILENCE])
    of_class = [
        float(logs[inside].mean()) if (inside := [n in members for n in names]).count(True) else
        math.nan
        for members in CLASSES.values()
    ]  # fmt: skip
    place = np.linspace(-0.5, 0.5, len(logs))
    return [
        *of_class,
        float(logs.std()),
        float(logs[-3:].mean() - logs.mean()),
        float((place @ logs) / (place @ place)),
    ]
