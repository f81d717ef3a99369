"""What anonymization costs: words, naturalness, intonation, time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.attack.transform import Transform
from voicenym.benchmark.results import Measured
from voicenym.corpus.recording import RATE, Recording
from voicenym.errors import DependencyError, VoicenymError
from voicenym.metrics import (
    mean_opinion,
    normalise,
    pitch_correlation,
    ratio_of_sums,
    real_time_coefficient,
    word_errors,
)
from voicenym.recognition import Recogniser


@dataclass(frozen=True)
class Heard:
    """Recordings in one form, and what listening by figure says of them.

    Args:
        figures: by metric.
        notes: what could not be measured, and why.
    """

    figures: dict[str, Measured]
    notes: tuple[str, ...]


def hear(
    recordings: Sequence[Recording],
    transform: Transform,
    recogniser: Recogniser | None,
    *,
    replicates: int,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Heard:
    """Measure transformed recordings, and the originals where the transform has no steps.

    Args:
        recordings: a sample of a corpus; those with text count for words.
        transform: from original to published recordings.
        recogniser: for words; None leaves them out.
        replicates, seed: of the bootstrap.
        say: told what is being done.
    """
    figures: dict[str, Measured] = {}
    notes: list[str] = []
    speakers = [recording.speaker for recording in recordings]
    originals = [recording.samples() for recording in recordings]
    say("utility: anonymizing a sample")
    _changed(transform, recordings[0], originals[0])  # loads what is loaded once
    started = time.process_time()
    changed = [_changed(transform, *pair) for pair in zip(recordings, originals, strict=True)]
    spent = time.process_time() - started
    if transform.steps:
        seconds = sum(map(len, originals)) / RATE
        figures["RTF"] = Measured(real_time_coefficient(spent, seconds), unit="of real time")
        say("utility: pitch")
        try:
            figures["rho_F0"] = _intonation(originals, changed, speakers, replicates, seed)
        except ImportError:
            notes.append("intonation was not measured: pip install 'voicenym[evaluate]'")
    say("utility: naturalness")
    try:
        opinion = mean_opinion(changed, speakers, replicates=replicates, seed=seed)
        figures["DNSMOS"] = Measured(opinion.value, *opinion.interval, "of 5")
    except (DependencyError, ValueError) as error:
        notes.append(f"naturalness was not measured: {error}")
    if recogniser is not None:
        say(f"utility: words, {recogniser.name}")
        try:
            figures.update(_words(recordings, changed, recogniser, replicates, seed))
        except VoicenymError as error:
            notes.append(f"words were not measured: {error}")
    return Heard(figures, tuple(notes))


def _changed(transform: Transform, recording: Recording, samples: np.ndarray) -> np.ndarray:
    for step in transform.steps:
        samples = step(samples, recording)
    return samples


def _words(
    recordings: Sequence[Recording],
    heard: Sequence[np.ndarray],
    recogniser: Recogniser,
    replicates: int,
    seed: int,
) -> dict[str, Measured]:
    unheard = getattr(recogniser, "left_out", {})
    spoken = [i for i, r in enumerate(recordings) if r.text and normalise(r.text) not in unheard]
    if not spoken:
        return {}
    found = word_errors(
        [recordings[i].text for i in spoken],
        recogniser.transcribe([heard[i] for i in spoken]),
        [recordings[i].speaker for i in spoken],
        replicates=replicates,
        seed=seed,
    )
    low, high = found.interval or (None, None)
    limits = (None if low is None else 100 * low, None if high is None else 100 * high)
    return {"WER": Measured(100 * found.value, *limits, "%")}


def _intonation(
    originals: Sequence[np.ndarray],
    changed: Sequence[np.ndarray],
    speakers: Sequence[str],
    replicates: int,
    seed: int,
) -> Measured:
    """Mean correlation of F0 over recordings, of those in which it can be told."""
    values = np.array(
        [
            pitch_correlation(_melody(before), _melody(after)).value
            for before, after in zip(originals, changed, strict=True)
        ]
    )
    told = np.isfinite(values)
    if not told.any():
        return Measured(math.nan)
    interval = ratio_of_sums(
        values[told],
        np.ones(told.sum()),
        np.array(speakers)[told],
        replicates=replicates,
        seed=seed,
    )
    return Measured(float(values[told].mean()), *interval)


def _melody(samples: np.ndarray) -> np.ndarray:
    """F0 in Hz every 10 ms by Praat, as the VoicePrivacy Challenges measure it; 0 where unvoiced.

    Our own tracker, made for live use, calls more frames voiced, at whose pitch it has to guess.
    """
    import parselmouth

    sound = parselmouth.Sound(samples.astype(np.float64), RATE)
    track = sound.to_pitch_ac(time_step=0.01, pitch_floor=75.0, pitch_ceiling=500.0)
    return np.asarray(track.selected_array["frequency"])
