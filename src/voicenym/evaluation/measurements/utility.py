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
from voicenym.metrics import normalise
from voicenym.metrics.metric import Metric
from voicenym.metrics.metric_inputs import RecognisedPhones, RecognisedWords, SpeechPairs, Tally
from voicenym.metrics.utility import intonation
from voicenym.metrics.words import word_error_rate
from voicenym.recognition import PhoneRecogniser, Recogniser, Transcripts, pronounced

NO_PHONES = "phones were not measured: no recogniser of phones was asked for (--phones small)"
NO_SPEED = "speed was not measured: the recordings were anonymized elsewhere"
ALIKE = 1.2
"""Ratio of the lengths of a file and its original up to which they may be of one utterance."""


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
    say("utility: anonymizing a sample")
    speech = _pairs(recordings, transform, line, options)
    originals = len(transform.steps) == len(line)
    found = _Measurement(recordings, speech, originals, conditions, options, say)
    if not speech.seconds and transform.steps:
        found.notes += [NO_SPEED, *_other_lengths(speech)]
    found.sound(only)
    found.words(recogniser, transcripts)
    if phones is None:
        found.notes.append(NO_PHONES)
    else:
        found.phones(phones)
    if retrained is not None:
        found.words_retrained(retrained)
    return Utility(found.figures, tuple(found.notes), found.tallies)


class _Measurement:
    """Figures of a sample, which are added kind by kind; what cannot be measured is a note.

    Args:
        recordings: of the sample.
        speech: before and after.
        originals: whether they are the same.
        conditions, options, say: as of :func:`measure`.
    """

    def __init__(
        self,
        recordings: Sequence[Recording],
        speech: SpeechPairs,
        originals: bool,
        conditions: Sequence[Condition],
        options: dict[str, Any],
        say: Callable[[str], None],
    ) -> None:
        self._recordings, self._speech, self._originals = recordings, speech, originals
        self._conditions, self._options, self._say = conditions, options, say
        self.figures: dict[str, Measured] = {}
        self.notes: list[str] = []
        self.tallies: dict[str, Tally] = {}

    def sound(self, only: Sequence[str]) -> None:
        """Figures of the sound, all or those with a part of their names in ``only``."""
        speech = self._speech
        every = reported_metrics.of(SpeechPairs)
        asked = [m.name for m in every if not only or any(part in m.name for part in only)]
        if not self._originals:
            self.notes += _not_asked(asked, every, self.notes)
        self.figures.update(
            reported_metrics.measure(
                speech,
                originals=self._originals,
                only=lambda metric: metric.name in asked,
                notes=self.notes,
                say=lambda subject: self._say(f"utility: {subject}"),
            )
        )
        for condition in self._conditions if not only else ():
            part = speech.part(condition.places(speech.names))
            if _enough(part.speakers):
                self.figures.update(
                    reported_metrics.of_condition(
                        part, condition.name, originals=self._originals, notes=[]
                    )
                )
        if intonation.INTONATION.name in self.figures:
            self.tallies[intonation.INTONATION.name] = speech.once(intonation.tally)

    def words(self, recogniser: Recogniser | None, transcripts: Transcripts | None) -> None:
        """Error rates of words, by a recogniser or by given transcripts."""
        self._say(f"utility: words, {transcripts.source if transcripts else _name(recogniser)}")
        try:
            words = _words(
                self._recordings, self._speech.changed, recogniser, transcripts, self._options
            )
            self.figures.update(reported_metrics.measure(words, originals=self._originals))
            self.figures.update(_words_by_condition(words, self._conditions))
            self.tallies["WER"] = word_error_rate.tally(words)
            if transcripts is None:
                self.notes.extend(getattr(recogniser, "notes", ()))
        except VoicenymError as error:
            self.notes.append(f"words were not measured: {error}")

    def phones(self, phones: PhoneRecogniser) -> None:
        """Error rates of phones."""
        self._say(f"utility: phones, {phones.name}")
        try:
            found = _phones(
                self._recordings, self._speech.changed, phones, self.notes, self._options
            )
            self.figures.update(reported_metrics.measure(found, originals=self._originals))
            for condition in self._conditions:
                part = found.part(condition.places(found.names))
                if _enough(part.speakers):
                    self.figures.update(reported_metrics.of_condition(part, condition.name))
        except VoicenymError as error:
            self.notes.append(f"phones were not measured: {error}")

    def words_retrained(self, retrained: Recogniser) -> None:
        """Error rates of words by a recogniser that was trained on the output."""
        self._say(f"utility: words, {retrained.name}")
        try:
            words = _words(self._recordings, self._speech.changed, retrained, None, self._options)
            # rates without the kinds of errors, which cards do not show
            rates = reported_metrics.measure(words, only=lambda metric: metric.display.card)
            self.figures.update({f"{name} {RETRAINED}": figure for name, figure in rates.items()})
            self.figures.update(_words_by_condition(words, self._conditions, RETRAINED))
            self.tallies[f"WER {RETRAINED}"] = word_error_rate.tally(words)
            self.notes.extend(getattr(retrained, "notes", ()))
        except VoicenymError as error:
            self.notes.append(f"words were not measured by a retrained recogniser: {error}")


def _not_asked(
    asked: Sequence[str], metrics: Sequence[Metric[SpeechPairs]], notes: Sequence[str]
) -> list[str]:
    """Note on the subjects none of whose metrics were asked for, without those of other notes."""
    subjects = {metric.name: metric.display.subject or metric.name for metric in metrics}
    measured = {subjects[name] for name in asked}
    absent = [
        subject
        for subject in dict.fromkeys(subjects.values())
        if subject not in measured and not any(note.startswith(subject) for note in notes)
    ]
    if not absent:
        return []
    return [f"{', '.join(absent)}: not measured, since other metrics were asked for (--metric)"]


def _other_lengths(speech: SpeechPairs) -> list[str]:
    """Note on files that are much longer or shorter than their originals; none if none is.

    A system may speak faster or slower; or files have the names of other utterances, and then
    neither attackers nor recognisers find in them what they look for.
    """
    pairs = zip(speech.original, speech.changed, strict=True)
    lengths = np.array([[max(len(x), 1), max(len(y), 1)] for x, y in pairs])
    ratios = np.exp(np.abs(np.log(lengths[:, 1] / lengths[:, 0])))
    count, worst = int((ratios > ALIKE).sum()), int(ratios.argmax())
    if not count:
        return []
    before, after = lengths[worst] / speech.rate
    return [
        f"{count} of {len(lengths)} anonymized files are longer or shorter than their originals by "
        f"more than a fifth ({speech.names[worst]}: {after:.1f} s, {before:.1f} s before); unless "
        "the system changes the pace, they may be of other utterances, and no figure is then of "
        "this system"
    ]


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
    from voicenym.nets.words.word_codes.code_memory import fresh_memory

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
        if len(found) != len(spoken) or not all(isinstance(one, str) for one in found):
            raise VoicenymError(
                f"{recogniser.name}: gave {len(found)} transcripts of {len(spoken)} recordings, or "
                "some that are no text; choose another --recogniser, and tell its makers"
            )
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
