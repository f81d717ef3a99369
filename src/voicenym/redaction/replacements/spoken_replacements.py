"""Words of the same class, spoken in a drawn voice where others were removed.

A replacement lies in the hole of the word that it stands for, about its middle. If it is longer
than the hole, silence beside it is used, then it is spoken faster. What does not fit even then, or
has no words of its class, is left to a beep or silence.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.corpus.people.border_fades import FADE_SECONDS
from voicenym.dsp.pitch_changes.voice_shift import RATE
from voicenym.nets.speech_synthesis.synthesiser import Synthesiser
from voicenym.pseudonym import Pseudonym
from voicenym.redaction.masked_transcript import Removed
from voicenym.redaction.replacements.replacement_words import ReplacementWords
from voicenym.redaction.surrounding_levels import SurroundingLevels, speech_level
from voicenym.redaction.word_placing import Interval, union
from voicenym.resynthesis.retelling.drawn_speaker import DrawnSpeaker

FASTEST = 1.8
"""Largest factor of the speaking rate, that of ``asr-tts``."""
SPARE = 1.03
"""Factor of the speed beyond what fits, because durations are rounded to frames."""
BETWEEN = 0.08
"""Seconds between two replacements in one hole."""
BORROWED = 1.0
"""Seconds of silence on either side that a hole may take."""
SAME = 0.5
"""Share of the shorter of two findings from which they are one, such as a name of two lists."""
BESIDE = 8
"""Holes on either side that may lie within the surroundings of one."""
LOUDEST = 0.9
"""Largest sample of a replacement."""
KEPT = 64
"""Spoken replacements that are kept in memory; others are spoken again when they are read."""

Samples = npt.NDArray[np.float32]
_Placed = tuple[Interval, list[tuple[float, str, float]]]
"""A hole, and start, text and speed of what is said in it."""


class ReplacementVoice:
    """The voice of replacements.

    Args:
        synthesiser: that speaks.
        pseudonym: draws the voice, the words and the noise in the speech.
    """

    def __init__(self, synthesiser: Synthesiser, pseudonym: Pseudonym) -> None:
        self.pseudonym = pseudonym
        self._synthesiser = synthesiser
        self._speaker = DrawnSpeaker.of(synthesiser, pseudonym)
        self.spoken = functools.lru_cache(maxsize=KEPT)(self._spoken)

    def _spoken(self, text: str, speed: float) -> Samples:
        """Speech ``[time]`` at 16 kHz, at the level 1 where it speaks; empty if it has no sound."""
        rng = self.pseudonym.rng(f"redaction.noise.{text}")
        # a comma, because the sentence goes on
        samples = self._speaker.speak(self._synthesiser, f"{text},", speed, rng)
        level = speech_level(samples, RATE)
        return np.asarray(samples / level if level > 0.0 else samples[:0], np.float32)


@dataclass(frozen=True)
class SpokenWord:
    """A replacement in time.

    Args:
        start: in seconds.
        text: what is said.
        speed: factor of the speaking rate.
        levels: RMS of the speech in each channel.
    """

    start: float
    text: str
    speed: float
    levels: tuple[float, ...]


@dataclass(frozen=True)
class SpokenWords:
    """The replacements of a recording.

    Args:
        voice: that speaks them.
        words: in order of time.
        holes: all intervals that are removed, with the silence that was borrowed.
        missed: holes without replacement.
    """

    voice: ReplacementVoice
    words: tuple[SpokenWord, ...]
    holes: tuple[Interval, ...]
    missed: tuple[Interval, ...]

    def texts(self) -> list[str]:
        """What is said."""
        return [word.text for word in self.words]

    def speak_in(self, start: float, end: float) -> bool:
        """Whether a word is said in a hole that an interval touches."""
        return any(self.within(*hole) for hole in self.holes if hole[0] < end and start < hole[1])

    def within(self, start: float, end: float) -> tuple[SpokenWord, ...]:
        """Replacements that begin in an interval."""
        first = bisect.bisect_left(self.words, start, key=_start)
        return self.words[first : bisect.bisect_left(self.words, end, key=_start)]

    def sound(
        self, hole: tuple[int, int], low: int, high: int, rate: int, channels: int
    ) -> Samples:
        """Samples ``[low, high)``, counted from the start of a hole: ``[channel, time]``.

        Args:
            hole: start and end in samples of the recording.
            low, high: may exceed the hole, which is silent there.
            rate: of the recording, in Hz.
            channels: of the recording.
        """
        import soxr

        found = np.zeros((channels, high - low), np.float32)
        for word in self.within(hole[0] / rate, hole[1] / rate):
            first = round(word.start * rate) - hole[0]
            if first >= high:
                break
            own = np.asarray(
                soxr.resample(self.voice.spoken(word.text, word.speed), RATE, rate), np.float32
            )[: hole[1] - hole[0] - first]
            peak = float(np.abs(own).max(initial=0.0))
            own, place = own[max(0, low - first) :], max(0, first - low)
            own = own[: high - low - place]
            for channel, level in enumerate(word.levels):
                gain = min(level, LOUDEST / peak) if peak else 0.0
                found[channel, place : place + len(own)] += np.float32(gain) * own
        return found


def _start(word: SpokenWord) -> float:
    return word.start


def _middle(one: Removed) -> float:
    return (one.start + one.end) / 2.0


class ReplacementPlanner:
    """Plans the replacements of a recording.

    Args:
        voice: that speaks.
        levels: of the recording.
        secrets: all words that are removed, and those of one's own list.
        seconds: length of the recording.
    """

    def __init__(
        self,
        voice: ReplacementVoice,
        levels: SurroundingLevels,
        secrets: Sequence[str],
        seconds: float,
    ) -> None:
        self._voice, self._levels, self._seconds = voice, levels, seconds
        self._words = ReplacementWords(voice.pseudonym, secrets)

    def words(
        self,
        removed: Sequence[Removed],
        intervals: Sequence[Interval],
        misheard: Sequence[Interval] = (),
    ) -> SpokenWords:
        """Replacements of what is removed.

        Args:
            removed: the findings, not widened.
            intervals: that are removed, in seconds.
            misheard: where a removed word was heard in a replacement: nothing is said there.
        """
        holes = union(intervals)
        by_middle = sorted(removed, key=_middle)
        overall = self._levels.overall(holes)
        said: list[SpokenWord] = []
        missed: list[Interval] = []
        for number, hole in enumerate(holes):
            before = holes[number - 1][1] if number else 0.0
            after = holes[number + 1][0] if number + 1 < len(holes) else self._seconds
            placed = None
            if not any(a < hole[1] and hole[0] < b for a, b in misheard):
                first, last = (bisect.bisect_left(by_middle, time, key=_middle) for time in hole)
                placed = self._placed(by_middle[first:last], hole, before, after)
            level = self._levels.around(*hole, holes[max(0, number - BESIDE) : number + BESIDE + 1])
            level = level if any(level) else overall
            if placed is None or not any(level):
                missed.append(hole)
                continue
            holes[number], found = placed
            said += [SpokenWord(start, text, speed, level) for start, text, speed in found]
        return SpokenWords(self._voice, tuple(said), tuple(holes), tuple(missed))

    def _placed(
        self, own: Sequence[Removed], hole: Interval, before: float, after: float
    ) -> _Placed | None:
        texts: list[tuple[Removed, str]] = []
        for one in _distinct(own):
            text = self._words.instead(one.category, one.words)
            if not text:
                return None
            texts.append((one, text))
        if not texts:
            return None
        return _fitted(self._voice, self._levels, texts, hole, before, after)


def _distinct(findings: Sequence[Removed]) -> list[Removed]:
    """Findings of which those at one time are one: the longest, by a category before the list."""
    done: list[Removed] = []
    for one in sorted(findings, key=lambda r: (r.start, -r.end)):
        last = done[-1] if done else None
        shared = 0.0 if last is None else min(last.end, one.end) - one.start
        if last is None or shared < SAME * min(last.end - last.start, one.end - one.start):
            done.append(one)
        elif _rank(one) > _rank(last):
            done[-1] = one
    return [one for one in done if one.words]


def _rank(one: Removed) -> tuple[int, bool, float]:
    return len(one.words.split()), one.category != "list", one.end - one.start


def _fitted(
    voice: ReplacementVoice,
    levels: SurroundingLevels,
    texts: Sequence[tuple[Removed, str]],
    hole: Interval,
    before: float,
    after: float,
) -> _Placed | None:
    """A hole and the start, text and speed of what is said in it; None where it does not fit."""
    speed, (start, end) = 1.0, hole
    lengths = _lengths(voice, texts, speed)
    if not all(lengths):
        return None
    if _room(start, end) < _needed(lengths):
        lacking = _needed(lengths) - _room(start, end)
        start -= min(lacking, levels.silence_before(start, min(BORROWED, start - before)))
        lacking = _needed(lengths) - _room(start, end)
        if lacking > 0.0:
            end += min(lacking, levels.silence_after(end, min(BORROWED, after - end)))
        for _ in range(3):
            room = _room(start, end)
            if _needed(lengths) <= room:
                break
            pauses = BETWEEN * (len(lengths) - 1)
            speed *= SPARE * sum(lengths) / max(room - pauses, 0.01)
            if speed > FASTEST:
                return None
            lengths = _lengths(voice, texts, speed)
        else:
            return None
    found: list[tuple[float, str, float]] = []
    place, left = start + FADE_SECONDS, end - FADE_SECONDS - _needed(lengths)
    for (one, text), length in zip(texts, lengths, strict=True):
        middle = (one.start + one.end - length) / 2.0
        begin = min(max(place, middle), max(place, left))
        found.append((begin, text, speed))
        place, left = begin + length + BETWEEN, left + length + BETWEEN
    return (start, end), found


def _lengths(
    voice: ReplacementVoice, texts: Sequence[tuple[Removed, str]], speed: float
) -> list[float]:
    return [len(voice.spoken(text, speed)) / RATE for _, text in texts]


def _needed(lengths: Sequence[float]) -> float:
    return sum(lengths) + BETWEEN * (len(lengths) - 1)


def _room(start: float, end: float) -> float:
    return end - start - 2.0 * FADE_SECONDS
