"""What anonymization costs: words, naturalness, intonation, time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from voicenym.attack.transforms import Transform
from voicenym.corpus.recording import RATE, Recording
from voicenym.errors import DependencyError, VoicenymError
from voicenym.evaluation.results import Measured
from voicenym.metrics import (
    mean_opinion,
    normalise,
    pitch_correlation,
    ratio_of_sums,
    real_time_coefficient,
    signal_to_noise,
    word_counts,
    word_errors,
)
from voicenym.recognition import Recogniser, Transcripts

KINDS = ("substitutions", "deletions", "insertions")
"""Of errors, as the metric names its counts."""
RETRAINED = "retrained"
"""Mark of error rates of a recogniser that was trained on the system's output."""
Limits = tuple[float | None, float | None]


@dataclass(frozen=True)
class Tally:
    """What a ratio of sums is made of: word errors over words, correlations over their number.

    Args:
        above, below: ``[recording]``.
        names, speakers: of the recordings.
    """

    above: np.ndarray
    below: np.ndarray
    names: tuple[str, ...]
    speakers: tuple[str, ...]


@dataclass(frozen=True)
class Heard:
    """Recordings in one form, and what listening by figure says of them.

    Args:
        figures: by metric.
        notes: what could not be measured, and why.
        tallies: of ``WER``, ``WER retrained`` and ``rho_F0``, as far as they were measured.
    """

    figures: dict[str, Measured]
    notes: tuple[str, ...]
    tallies: dict[str, Tally] = field(default_factory=dict)


def hear(
    recordings: Sequence[Recording],
    transform: Transform,
    recogniser: Recogniser | None,
    *,
    transcripts: Transcripts | None = None,
    retrained: Recogniser | None = None,
    replicates: int,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Heard:
    """Measure transformed recordings, and the originals where the transform has no steps.

    Args:
        recordings: a sample of a corpus; those with text count for words.
        transform: from original to published recordings.
        recogniser: for words; None leaves them out.
        transcripts: what somebody else's recogniser heard, which then counts instead.
        retrained: a recogniser that learnt from the output of this system (ASR_eval^anon).
        replicates, seed: of the bootstrap.
        say: told what is being done.
    """
    figures: dict[str, Measured] = {}
    notes: list[str] = []
    tallies: dict[str, Tally] = {}
    speakers = [recording.speaker for recording in recordings]
    options: dict[str, Any] = {"replicates": replicates, "seed": seed}
    originals = [recording.samples() for recording in recordings]
    say("utility: anonymizing a sample")
    _changed(transform, recordings[0], originals[0])  # loads what is loaded once
    timed = [_timed(transform, *pair) for pair in zip(recordings, originals, strict=True)]
    changed = [samples for samples, _ in timed]
    if transform.steps:
        spent = real_time_coefficient(
            [seconds for _, seconds in timed],
            [len(samples) / RATE for samples in originals],
            speakers,
            **options,
        )
        figures["RTF"] = _figure(spent)
        if all(len(x) == len(y) for x, y in zip(originals, changed, strict=True)):
            figures["SNR"] = _figure(signal_to_noise(originals, changed, speakers, **options))
        say("utility: pitch")
        try:
            found, tallies["rho_F0"] = _intonation(recordings, originals, changed, options)
            figures.update(found)
        except ImportError:
            notes.append("intonation was not measured: pip install 'voicenym[evaluate]'")
    say("utility: naturalness")
    try:
        figures["DNSMOS"] = _figure(mean_opinion(changed, speakers, **options))
    except (DependencyError, ValueError) as error:
        notes.append(f"naturalness was not measured: {error}")
    try:
        say(f"utility: words, {transcripts.source if transcripts else _name(recogniser)}")
        found, tallies["WER"] = _words(recordings, changed, recogniser, transcripts, options)
        figures.update(found)
    except VoicenymError as error:
        notes.append(f"words were not measured: {error}")
    if retrained is not None:
        say(f"utility: words, {retrained.name}")
        try:
            found, tallies[f"WER {RETRAINED}"] = _words(
                recordings, changed, retrained, None, options
            )
            figures.update({f"{name} {RETRAINED}": found[name] for name in ("WER", "CER")})
        except VoicenymError as error:
            notes.append(f"words were not measured by a retrained recogniser: {error}")
    return Heard(figures, tuple(notes), tallies)


def _timed(
    transform: Transform, recording: Recording, samples: np.ndarray
) -> tuple[np.ndarray, float]:
    started = time.process_time()
    changed = _changed(transform, recording, samples)
    return changed, time.process_time() - started


class _Found(Protocol):
    @property
    def value(self) -> float: ...
    @property
    def interval(self) -> tuple[float, float]: ...
    @property
    def unit(self) -> str: ...


def _figure(found: _Found) -> Measured:
    return Measured(found.value, *_known(found.interval), found.unit)


def _known(interval: tuple[float, float] | None, scale: float = 1.0) -> Limits:
    """Limits, or None where there are none."""
    if interval is None or any(math.isnan(limit) for limit in interval):
        return None, None
    return scale * interval[0], scale * interval[1]


def _name(recogniser: Recogniser | None) -> str:
    return "no recogniser" if recogniser is None else recogniser.name


def _changed(transform: Transform, recording: Recording, samples: np.ndarray) -> np.ndarray:
    for step in transform.steps:
        samples = step(samples, recording)
    return samples


def _words(
    recordings: Sequence[Recording],
    heard: Sequence[np.ndarray],
    recogniser: Recogniser | None,
    transcripts: Transcripts | None,
    options: dict[str, Any],
) -> tuple[dict[str, Measured], Tally]:
    """WER and CER, and the three kinds of errors that each is the sum of; the words' tally.

    Raises:
        VoicenymError: nothing to compare with or nobody to listen; it says which.
    """
    spoken = [i for i, r in enumerate(recordings) if r.text]
    if not spoken:
        raise VoicenymError(
            "no recording has a text; add UTTERANCE.txt beside it, or a column text to the manifest"
        )
    if transcripts is not None:
        found = transcripts.of([recordings[i].name for i in spoken])
    elif recogniser is None:
        raise VoicenymError("nobody listened; choose a --recogniser or give --transcripts")
    else:
        unheard = getattr(recogniser, "left_out", {})
        spoken = [i for i in spoken if normalise(recordings[i].text) not in unheard]
        if not spoken:
            raise VoicenymError(f"{recogniser.name} can pronounce no sentence of the sample")
        found = recogniser.transcribe([heard[i] for i in spoken])
    texts = [recordings[i].text for i in spoken]
    speakers = [recordings[i].speaker for i in spoken]
    figures = {}
    for name, characters in (("WER", False), ("CER", True)):
        errors = word_errors(texts, found, speakers, characters=characters, **options)
        figures[name] = Measured(100 * errors.value, *_known(errors.interval, 100.0), "%")
        kinds = errors.by_kind or (None, None, None)
        for kind, limits in zip(KINDS, kinds, strict=True):
            share = 100 * getattr(errors, kind) / errors.length
            figures[f"{name} {kind}"] = Measured(share, *_known(limits, 100.0), "%")
    counts = word_counts(texts, found).astype(np.float64)
    names = tuple(recordings[i].name for i in spoken)
    return figures, Tally(counts[:, :3].sum(1), counts[:, 3], names, tuple(speakers))


def _intonation(
    recordings: Sequence[Recording],
    originals: Sequence[np.ndarray],
    changed: Sequence[np.ndarray],
    options: dict[str, Any],
) -> tuple[dict[str, Measured], Tally]:
    """Mean correlation of F0 over recordings in which it can be told, and that of chance.

    Chance is the original against another recording's anonymized form: melodies fall towards the
    end whatever is said, and the best agreement in voicing is sought among some lags.
    """
    before, after = (list(map(_melody, part)) for part in (originals, changed))
    value, tally = _mean_correlation(recordings, before, after, options)
    figures = {"rho_F0": value}
    others = [_other(recordings, i) for i in range(len(recordings))]
    if all(other is not None for other in others):
        strange = [after[other] for other in others if other is not None]
        figures["rho_F0 by chance"], _ = _mean_correlation(recordings, before, strange, options)
    return figures, tally


def _other(recordings: Sequence[Recording], place: int) -> int | None:
    """The next recording in which something else is said, as far as that is known."""
    count = len(recordings)
    turns = [(place + step) % count for step in range(1, count)]
    said = recordings[place].text
    return next((i for i in turns if not said or recordings[i].text != said), None)


def _mean_correlation(
    recordings: Sequence[Recording],
    before: Sequence[np.ndarray],
    after: Sequence[np.ndarray],
    options: dict[str, Any],
) -> tuple[Measured, Tally]:
    values = np.array([pitch_correlation(x, y).value for x, y in zip(before, after, strict=True)])
    told = np.flatnonzero(np.isfinite(values)).tolist()
    tally = Tally(
        values[told],
        np.ones(len(told)),
        tuple(recordings[i].name for i in told),
        tuple(recordings[i].speaker for i in told),
    )
    if not len(told):
        return Measured(math.nan), tally
    interval = ratio_of_sums(tally.above, tally.below, tally.speakers, **options)
    return Measured(float(values[told].mean()), *_known(interval)), tally


def _melody(samples: np.ndarray) -> np.ndarray:
    """F0 in Hz every 10 ms by Praat, as the VoicePrivacy Challenges measure it; 0 where unvoiced.

    Our own tracker, made for live use, calls more frames voiced, at whose pitch it has to guess.
    """
    import parselmouth

    sound = parselmouth.Sound(samples.astype(np.float64), RATE)
    track = sound.to_pitch_ac(time_step=0.01, pitch_floor=75.0, pitch_ceiling=500.0)
    return np.asarray(track.selected_array["frequency"])
