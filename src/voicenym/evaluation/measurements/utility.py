"""Utility of anonymized recordings: words, naturalness, intonation, noise and computing time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from voicenym.corpus.recording import RATE, Recording
from voicenym.corpus.transforms import OtherFiles, Step, Transform
from voicenym.errors import VoicenymError
from voicenym.evaluation import reported_metrics
from voicenym.evaluation.reported_metrics import RETRAINED
from voicenym.evaluation.results import Measured
from voicenym.evaluation.trial_plans.conditions import FEWEST_SPEAKERS, Condition
from voicenym.metrics import intonation, normalise, word_error_rate
from voicenym.metrics.metric_inputs import RecognisedPhones, RecognisedWords, SpeechPairs, Tally
from voicenym.recognition import PhoneRecogniser, Recogniser, Transcripts, pronounced

NO_PHONES = "phones were not measured: no recogniser of phones was asked for (--phones small)"
NO_SPEED = "speed was not measured: the recordings were anonymized elsewhere"


@dataclass(frozen=True)
class Utility:
    """Figures of a sample of recordings.

    Args:
        figures: by metric.
        notes: what could not be measured, and why.
        tallies: of ``WER``, ``WER retrained`` and ``rho_F0``, if measured.
    """

    figures: dict[str, Measured]
    notes: tuple[str, ...]
    tallies: dict[str, Tally] = field(default_factory=dict)


def measure(
    recordings: Sequence[Recording],
    transform: Transform,
    recogniser: Recogniser | None,
    *,
    transcripts: Transcripts | None = None,
    retrained: Recogniser | None = None,
    phones: PhoneRecogniser | None = None,
    only: Sequence[str] = (),
    conditions: Sequence[Condition] = (),
    line: Sequence[Step] = (),
    replicates: int,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Utility:
    """Utility figures of transformed recordings, or of originals if the transform is the line
    alone.

    Args:
        recordings: a sample of a corpus; word errors are counted in those with text.
        transform: from original to published recordings.
        recogniser: for words; None leaves them out.
        transcripts: of an external recogniser, which replace those of ``recogniser``.
        line: last steps of the transform, which also apply to originals.
        retrained: a recogniser that was trained on the output of this system (ASR_eval^anon).
        phones: for the phone error rate; None leaves it out.
        only: metrics of sound to measure, each by a part of its name; empty for all. Words and
            phones are measured in any case.
        conditions: with figures of their own.
        replicates, seed: of the bootstrap.
        say: receives a line of progress.
    """
    options: dict[str, Any] = {"replicates": replicates, "seed": seed}
    originals = len(transform.steps) == len(line)
    notes: list[str] = []
    say("utility: anonymizing a sample")
    speech = _pairs(recordings, transform, line, options)
    if not speech.seconds and transform.steps:
        notes.append(NO_SPEED)
    figures = reported_metrics.measure(
        speech,
        originals=originals,
        only=lambda metric: not only or any(part in metric.name for part in only),
        notes=notes,
        say=lambda subject: say(f"utility: {subject}"),
    )
    for condition in conditions if not only else ():
        part = speech.part(condition.places(speech.names))
        if _enough(part.speakers):
            figures.update(
                reported_metrics.of_condition(part, condition.name, originals=originals, notes=[])
            )
    tallies: dict[str, Tally] = {}
    if intonation.INTONATION.name in figures:
        tallies[intonation.INTONATION.name] = speech.once(intonation.tally)
    try:
        say(f"utility: words, {transcripts.source if transcripts else _name(recogniser)}")
        words = _words(recordings, speech.changed, recogniser, transcripts, options)
        figures.update(reported_metrics.measure(words, originals=originals))
        figures.update(_words_by_condition(words, conditions))
        tallies["WER"] = word_error_rate.tally(words)
        if transcripts is None:
            notes.extend(getattr(recogniser, "notes", ()))
    except VoicenymError as error:
        notes.append(f"words were not measured: {error}")
    if phones is None:
        notes.append(NO_PHONES)
    else:
        say(f"utility: phones, {phones.name}")
        try:
            found = _phones(recordings, speech.changed, phones, notes, options)
            figures.update(reported_metrics.measure(found, originals=originals))
            for condition in conditions:
                part_of = found.part(condition.places(found.names))
                if _enough(part_of.speakers):
                    figures.update(reported_metrics.of_condition(part_of, condition.name))
        except VoicenymError as error:
            notes.append(f"phones were not measured: {error}")
    if retrained is not None:
        say(f"utility: words, {retrained.name}")
        try:
            words = _words(recordings, speech.changed, retrained, None, options)
            # rates without the kinds of errors, which cards do not show
            rates = reported_metrics.measure(words, only=lambda metric: metric.display.card)
            figures.update({f"{name} {RETRAINED}": figure for name, figure in rates.items()})
            figures.update(_words_by_condition(words, conditions, RETRAINED))
            tallies[f"WER {RETRAINED}"] = word_error_rate.tally(words)
            notes.extend(getattr(retrained, "notes", ()))
        except VoicenymError as error:
            notes.append(f"words were not measured by a retrained recogniser: {error}")
    return Utility(figures, tuple(notes), tallies)


def _words_by_condition(
    words: RecognisedWords, conditions: Sequence[Condition], mark: str = ""
) -> dict[str, Measured]:
    """Error rates of each condition, such as ``WER f`` and ``WER retrained f``."""
    figures: dict[str, Measured] = {}
    for condition in conditions:
        part = words.part(condition.places(words.names))
        if _enough(part.speakers) and any(normalise(text) for text in part.references):
            name = f"{mark} {condition.name}".strip()
            figures.update(reported_metrics.of_condition(part, name))
    return figures


def _enough(speakers: Sequence[str]) -> bool:
    """Whether a sample has enough of a condition's speakers for figures."""
    return len(set(speakers)) >= FEWEST_SPEAKERS


def _pairs(
    recordings: Sequence[Recording],
    transform: Transform,
    line: Sequence[Step],
    options: dict[str, Any],
) -> SpeechPairs:
    """Recordings before and after, with the system's processor time for each; without times of
    files that were anonymized elsewhere, which are only read.
    """
    from voicenym.nets.words.code_memory import fresh_memory

    bare = [recording.samples() for recording in recordings]
    steps = transform.steps[: len(transform.steps) - len(line)]
    elsewhere = any(isinstance(step, OtherFiles) for step in steps)
    _changed(steps, recordings[0], bare[0])  # loads weights, which is not timed
    originals, changed, seconds = [], [], []
    for recording, samples in zip(recordings, bare, strict=True):
        started = time.process_time()
        with fresh_memory():  # as a user waits for a recording
            found = _changed(steps, recording, samples)
        seconds.append(time.process_time() - started)
        changed.append(_changed(line, recording, found))
        originals.append(_changed(line, recording, samples))
    return SpeechPairs(
        originals,
        changed,
        RATE,
        [recording.name for recording in recordings],
        [recording.speaker for recording in recordings],
        [recording.text for recording in recordings],
        () if elsewhere else seconds,
        **options,
    )


def _name(recogniser: Recogniser | None) -> str:
    return "no recogniser" if recogniser is None else recogniser.name


def _changed(steps: Sequence[Step], recording: Recording, samples: np.ndarray) -> np.ndarray:
    for step in steps:
        samples = step(samples, recording)
    return samples


def _words(
    recordings: Sequence[Recording],
    changed: Sequence[np.ndarray],
    recogniser: Recogniser | None,
    transcripts: Transcripts | None,
    options: dict[str, Any],
) -> RecognisedWords:
    """References and hypotheses of the recordings with text.

    Raises:
        VoicenymError: no references, or no recogniser.
    """
    spoken = [i for i, r in enumerate(recordings) if normalise(r.text)]  # "..." has no words
    if not spoken:
        raise VoicenymError(
            "no recording has a text; add UTTERANCE.txt beside it, or a column text to the manifest"
        )
    if transcripts is not None:
        found = transcripts.of([recordings[i].name for i in spoken])
    elif recogniser is None:
        raise VoicenymError(
            "there is no recogniser without knowledge of the texts here (voicenym models pull "
            "whisper-tiny.en, choose a --recogniser, or give --transcripts)"
        )
    else:
        unpronounceable = getattr(recogniser, "left_out", {})
        spoken = [i for i in spoken if normalise(recordings[i].text) not in unpronounceable]
        if not spoken:
            raise VoicenymError(f"{recogniser.name} can pronounce no sentence of the sample")
        found = recogniser.transcribe([changed[i] for i in spoken])
    return RecognisedWords(
        [recordings[i].text for i in spoken],
        found,
        [recordings[i].name for i in spoken],
        [recordings[i].speaker for i in spoken],
        **options,
    )


def _phones(
    recordings: Sequence[Recording],
    changed: Sequence[np.ndarray],
    recogniser: PhoneRecogniser,
    notes: list[str],
    options: dict[str, Any],
) -> RecognisedPhones:
    """Pronunciations and phones of the recordings whose words all have a pronunciation.

    Raises:
        VoicenymError: there are none.
    """
    spoken = [i for i, recording in enumerate(recordings) if recording.text]
    known = pronounced(recordings[i].text for i in spoken)
    references = {i: words for i, words in zip(spoken, known, strict=True) if words}
    if not references:
        raise VoicenymError(
            "no recording has a text whose words are all in pocketsphinx's dictionary"
        )
    if len(references) < len(spoken):
        notes.append(
            f"PER leaves out {len(spoken) - len(references)} of {len(spoken)} recordings, which "
            "have words that are not in the dictionary"
        )
    return RecognisedPhones(
        list(references.values()),
        recogniser.phones([changed[i] for i in references]),
        [recordings[i].name for i in references],
        [recordings[i].speaker for i in references],
        **options,
    )
