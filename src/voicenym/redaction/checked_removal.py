"""Removal of findings with its check: the result is heard again until no removed word is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from voicenym.errors import RedactionError, counted
from voicenym.redaction.decisions import times_of
from voicenym.redaction.finding.word_finder import Found, text_of, words_of
from voicenym.redaction.leftovers import Leftovers, Secrets
from voicenym.redaction.masked_transcript import Removed, masked
from voicenym.redaction.removal import Decision, Listened, Removal, warnings_of
from voicenym.redaction.replacements.spoken_replacements import ReplacementPlanner, SpokenWords
from voicenym.redaction.word_placing import Interval, Placed, place, refuse_missed, union, widened
from voicenym.transcription.timed_words import Transcript

ROUNDS = 8
"""How often the result is heard at most; from the second time on, little of it is new."""
SINGLY = 4
"""Rounds after which whole sentences are removed, where that is allowed: a recogniser can hear a
word in what is left around the removed one, again and again."""
GROWTH = 0.5
"""Seconds by which a removed part grows on either side when a word is heard within it; doubled with
each round, until the recogniser has nothing left from which it could guess the word."""

HearWithout = Callable[[Sequence[Interval], SpokenWords | None], Transcript]
"""Hears the recording without intervals, with the words that stand in them."""


class CheckedRemoval:
    """Intervals of a recording whose removal leaves nothing of some words to be heard.

    Words that are still heard after the removal are removed too, up to :data:`ROUNDS` times.

    Args:
        name: of the recording, for messages.
        heard: what was heard in it.
        decisions: what is removed of it.
        secrets: the words that must not be heard any more.
        unheard: whether speech of which no word was recognised is removed.
        strict: whether words that cannot be placed in time are an error.
        planner: of words that stand for removed ones; None if none do.
        plain: what stands where no word can, ``beep`` or ``silence``.
        stage: called with the name of each stage.
    """

    def __init__(
        self,
        name: str,
        heard: Listened,
        decisions: Sequence[Decision],
        secrets: Secrets,
        *,
        unheard: bool,
        strict: bool,
        planner: ReplacementPlanner | None,
        plain: str,
        stage: Callable[[str], None],
    ) -> None:
        self._name, self._heard, self._secrets = name, heard, secrets
        self._silenced, self._strict = unheard, strict
        self._planner, self._plain, self._stage = planner, plain, stage
        self._taken = [one for one in decisions if one.line.redact]
        self._shown = [times_of(one.line) for one in decisions if not one.line.redact]
        self._times = [
            Removed(one.line.start, one.line.end, one.line.category, one.line.words)
            for one in self._taken
            if one.line.start is not None and one.line.end is not None
        ]
        seconds = heard.transcript.seconds
        self._intervals = [widened(one.start, one.end, seconds) for one in self._times]
        if unheard:
            self._intervals += [widened(a, b, seconds) for a, b in heard.transcript.unheard]
        self._misheard: list[Interval] = []
        self._rounds = self._more = 0

    def removal(self, hear: HearWithout) -> Removal:
        """What is removed, after the check.

        Args:
            hear: hears the result.

        Raises:
            RedactionError: words that cannot be placed, or are still heard after :data:`ROUNDS`.
        """
        if self._strict:
            refuse_missed([_placed(one) for one in self._taken if one.missed], self._name)
        search = Leftovers(self._secrets, self._shown)
        words = self._spoken()
        while search and (self._intervals or self._rounds == 0):
            self._rounds += 1
            self._stage(f"hearing the result ({self._rounds})")
            if words is not None:
                self._intervals = list(words.holes)
            again = hear(self._intervals, words)
            whole = not self._strict and self._rounds > SINGLY
            found = search.find(again, union(self._intervals))
            left = [place(one, again, whole) for one in found]
            if not left:
                break
            self._refuse(left)
            self._add(left, again, words)
            words = self._spoken()
        return self._finished(words)

    def _refuse(self, left: Sequence[Placed]) -> None:
        """Refuses words that are heard after the last round, or without a time."""
        if self._rounds == ROUNDS:
            raise RedactionError(
                f"{self._name}: {len(left)} of the words to remove are still heard after "
                f"{counted(self._rounds, 'round')} of removal (first at {left[0].start:.1f} s), "
                "so nothing is "
                "written; silence that part by hand, or give a larger --recogniser"
            )
        if self._strict:
            refuse_missed(left, self._name)

    def _add(self, left: Sequence[Placed], again: Transcript, words: SpokenWords | None) -> None:
        """Adds words that were heard in the result to those that are removed."""
        self._more += len(left)
        self._times += [
            Removed(one.start, one.end, one.found.category, text_of(words_of(one.found, again)))
            for one in left
        ]
        if words is not None:  # a replacement that sounds like a removed word is none
            found = [(one.start, one.end) for one in left]
            self._misheard += [one for one in found if words.speak_in(*one)]
        removed = union(self._intervals)
        wider = [self._wider(one, removed) for one in left]
        self._intervals = [*self._intervals, *wider]

    def _wider(self, one: Placed, removed: Sequence[Interval]) -> Interval:
        """The interval of a word that is still heard; more than what is removed already."""
        seconds = self._heard.transcript.seconds
        start, end = widened(one.start, one.end, seconds)
        for first, last in removed:
            if first <= start and end <= last:
                more = GROWTH * 2.0 ** (self._rounds - 1)
                return max(0.0, first - more), min(seconds, last + more)
        return start, end

    def _spoken(self) -> SpokenWords | None:
        """Words that stand for the removed ones; None if none do."""
        if self._planner is None:
            return None
        self._stage("speaking other words")
        return self._planner.words(self._times, self._intervals, self._misheard)

    def _finished(self, words: SpokenWords | None) -> Removal:
        transcript = self._heard.transcript
        final = union(self._intervals if words is None else words.holes)
        return Removal(
            tuple(final),
            masked(transcript, self._times, self._secrets, self._shown),
            dict(Counter(one.line.category for one in self._taken)),
            sum(end - start for start, end in final),
            self._rounds,
            self._more,
            self._heard.frames,
            tuple(warnings_of(self._name, transcript, self._silenced, words, self._plain)),
            words,
            self._plain,
        )


def _placed(one: Decision) -> Placed:
    """A finding without a time of its own."""
    start, end = times_of(one.line)
    return Placed(Found(one.line.category, one.line.confidence, 0, 0, 0), start, end, True)
