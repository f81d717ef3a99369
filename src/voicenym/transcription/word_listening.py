"""Transcribes a recording of any length in stretches of half a minute, in bounded memory.

Stretches end at quiet points. Channels that carry the same sound are heard once. Silero's detector
says where there is speech: a stretch without speech is not decoded, and speech without recognised
words is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from voicenym.diarization.possible_speech import SoundDetector, amplification
from voicenym.diarization.speech_regions import ANY_SPEECH, SPEECH, RegionRule, speech_regions
from voicenym.dsp.downmix import downmix
from voicenym.dsp.resampling import RateChanger
from voicenym.memory import return_freed_blocks
from voicenym.nets.activity.silero import SpeechProbabilities
from voicenym.recognition.interface import RATE
from voicenym.recognition.split_points import split_point
from voicenym.transcription.assumed_language import AssumedLanguage
from voicenym.transcription.heard_stretches import (
    HeardStretch,
    HeardStretches,
    KnownStretches,
    stretch_key,
)
from voicenym.transcription.timed_words import Transcript, Word
from voicenym.transcription.word_recogniser import WordRecogniser

WINDOW_SECONDS = 28.0
"""Longest stretch: Whisper's window, less what its decoder needs to see that speech ends."""
BLOCK_SECONDS = 10.0
SAME = 1e-4
"""Largest difference between samples of two channels that carry the same sound."""
LEAST_UNHEARD = 0.6
"""Seconds; shorter speech without words is not reported."""
NEAR_WORD = 0.4
"""Seconds beside a word that count as heard."""

Progress = Callable[[float], None]


class Blocks(Protocol):
    """What is listened to: an open reader, or one whose sound is edited."""

    rate: int
    channels: int

    def blocks(self, size: int) -> Iterator[npt.NDArray[np.float32]]:
        """Blocks ``[channel, time]``."""
        ...


def listen(
    source: Blocks,
    recogniser: WordRecogniser,
    *,
    mix: bool = False,
    language: str | None = None,
    hints: Sequence[str] = (),
    eager: bool = False,
    progress: Progress | None = None,
    kept: HeardStretches | None = None,
    known: KnownStretches | None = None,
    check: AssumedLanguage | None = None,
) -> Transcript:
    """Words of a recording.

    Args:
        source: the recording.
        recogniser: of words.
        mix: hear the mean of the channels; otherwise each channel that differs from those before.
        language: code such as ``en``; None for that of the recogniser, or to detect it once.
        hints: words and phrases that may occur, for their spelling.
        eager: also hear sounds that are hardly speech, so that fewer words are missed.
        progress: called with the seconds done after each stretch.
        kept: stretches that an earlier run heard, and to which those of this one are added.
        known: stretches of this recording that were heard in this run, and to which new ones are
            added: the same sound is not heard again, and stretches end where they did. None to hear
            all.
        check: of the language that the recogniser assumes; None for none.

    Raises:
        AudioError: the check finds another language.
    """
    found: list[Word] = []
    unheard: list[tuple[float, float]] = []
    done = 0
    rule = ANY_SPEECH if eager else SPEECH
    for stretch in _stretches(source, mix, () if known is None else known.ends):
        heard = _once(stretch, done / RATE, recogniser, language, hints, rule, kept, known)
        language = heard.language
        found += heard.words
        unheard += heard.unheard
        if check is not None and heard.words:
            check.add(stretch)
        done += stretch.shape[1]
        if known is not None:
            known.ended(done)
        return_freed_blocks()
        if progress is not None:
            progress(done / RATE)
    if check is not None:
        check.end()
    found.sort(key=lambda word: word.channel)  # stable: in order of time within a channel
    return Transcript(tuple(found), done / RATE, language if found and language else "",
                      tuple(sorted(set(unheard))))  # fmt: skip


def _once(
    stretch: npt.NDArray[np.float32],
    start: float,
    recogniser: WordRecogniser,
    language: str | None,
    hints: Sequence[str],
    rule: RegionRule,
    kept: HeardStretches | None,
    known: KnownStretches | None,
) -> HeardStretch:
    """What was heard in a stretch before, or is heard now and kept."""
    if kept is None and known is None:
        return _heard(stretch, start, recogniser, language, hints, rule)
    key = stretch_key(stretch, start, language, hints, rule)
    if known is not None and key in known.heard:
        return known.heard[key]
    heard = None if kept is None else kept.get(key)
    if heard is None:
        heard = _heard(stretch, start, recogniser, language, hints, rule)
        if kept is not None:
            kept.add(key, heard)
    if known is not None:
        known.heard[key] = heard
    return heard


def _heard(
    stretch: npt.NDArray[np.float32],
    start: float,
    recogniser: WordRecogniser,
    language: str | None,
    hints: Sequence[str],
    rule: RegionRule,
) -> HeardStretch:
    """What is heard in a stretch that begins at a time in seconds."""
    seconds = stretch.shape[1] / RATE
    found: list[Word] = []
    unheard: list[tuple[float, float]] = []
    for channel in _different(stretch):
        speech = _speech(stretch[channel], rule)
        words: list[Word] = []
        if len(speech):
            heard = recogniser.hear(stretch[channel], language, hints)
            if heard.words:
                language = heard.language
            words = [_within(word, seconds) for word in heard.words]
            sure = speech if rule is SPEECH else _speech(stretch[channel], SPEECH)
            unheard += [(start + a, start + b) for a, b in _silent_about(sure, words)]
        found += [_later(word, start, channel) for word in words]
    return HeardStretch(language, tuple(found), tuple(unheard))


def _stretches(
    source: Blocks, mix: bool, ends: Sequence[int] = ()
) -> Iterator[npt.NDArray[np.float32]]:
    """Stretches ``[channel, time]`` at 16 kHz that follow each other.

    Args:
        source: the recording.
        mix: as of :func:`listen`.
        ends: of its stretches in samples, if they are known; they end at quiet points otherwise.
    """
    planned, done = iter(tuple(ends)), 0
    rows = 1 if mix else source.channels
    changer = RateChanger(source.rate, RATE, rows)
    window = round(WINDOW_SECONDS * RATE)
    kept = np.zeros((rows, 0), np.float32)

    def resampled() -> Iterator[torch.Tensor]:
        for block in source.blocks(max(1, round(BLOCK_SECONDS * source.rate))):
            own = downmix(block)[None] if mix else block
            yield changer.push(torch.from_numpy(np.ascontiguousarray(own)))
        yield changer.flush()

    for part in resampled():
        kept = np.concatenate([kept, part.numpy()], 1)
        while kept.shape[1] > window:
            end = next(planned, None)
            if end is None:
                cut = split_point(np.sqrt(np.square(kept[:, : window + 1]).sum(0)), window)
            else:
                cut = end - done
            yield kept[:, :cut]
            kept = kept[:, cut:]
            done += cut
    if kept.shape[1]:
        yield kept


def _different(stretch: npt.NDArray[np.float32]) -> list[int]:
    """Channels that do not carry the sound of an earlier one."""
    found: list[int] = []
    for channel, own in enumerate(stretch):
        if all(np.abs(own - stretch[other]).max(initial=0.0) > SAME for other in found):
            found.append(channel)
    return found


def _speech(samples: npt.NDArray[np.float32], rule: RegionRule) -> npt.NDArray[np.float64]:
    detector = SpeechProbabilities() if rule is SPEECH else SoundDetector()
    peak = float(np.abs(samples).max(initial=0.0))
    detector.push(torch.from_numpy(samples * np.float32(amplification(peak))))
    return speech_regions(np.asarray(detector.result()), len(samples) / RATE, rule)


def _within(word: Word, seconds: float) -> Word:
    start, end = (min(max(0.0, time), seconds) for time in (word.start, word.end))
    a, b = (min(max(0.0, time), seconds) for time in word.segment)
    segment = (a, b) if b > a else (0.0, seconds)
    if not (np.isfinite(start) and np.isfinite(end)) or end <= start:
        return replace(word, start=segment[0], end=segment[0], segment=segment)
    return replace(word, start=start, end=end, segment=segment)


def _later(word: Word, offset: float, channel: int) -> Word:
    a, b = word.segment
    return replace(
        word,
        start=word.start + offset,
        end=word.end + offset,
        segment=(a + offset, b + offset),
        channel=channel,
    )


def _silent_about(speech: Any, words: Sequence[Word]) -> Iterator[tuple[float, float]]:
    """Parts of speech that lie far from any word."""
    spans = sorted((w.start - NEAR_WORD, w.end + NEAR_WORD) for w in words if w.placed)
    for start, end in speech.tolist():
        place = start
        for a, b in spans:
            if b <= place or a >= end:
                continue
            if a - place >= LEAST_UNHEARD:
                yield place, a
            place = max(place, b)
        if end - place >= LEAST_UNHEARD:
            yield place, end
