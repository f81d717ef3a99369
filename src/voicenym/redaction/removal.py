"""What a redactor heard, what it decided, and what it removes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from voicenym.redaction.findings_file import Line
from voicenym.redaction.replacements.spoken_replacements import SpokenWords
from voicenym.redaction.sound_removal import BEEP, SILENCE
from voicenym.redaction.word_placing import Interval
from voicenym.transcription.heard_stretches import KnownStretches
from voicenym.transcription.timed_words import Transcript

A_ = {BEEP: "a beep", SILENCE: "silence"}


@dataclass(frozen=True)
class Listened:
    """What was heard in a recording.

    Args:
        transcript: its words.
        frames: samples per channel.
        rate: in Hz.
        hinted: what was heard by a recogniser that was told of words which may occur.
        stretches: of the first hearing and of checks, without such words.
    """

    transcript: Transcript
    frames: int
    rate: int
    hinted: tuple[Transcript, ...] = ()
    stretches: KnownStretches = field(default_factory=KnownStretches, repr=False, compare=False)


@dataclass(frozen=True)
class Decision:
    """A finding and what happens to it.

    Args:
        line: as in a file of findings.
        missed: whether its words have no time; those of the line are of their sentence then.
    """

    line: Line
    missed: bool = False


@dataclass(frozen=True)
class Removal:
    """What is removed from a recording, after the check.

    Args:
        intervals: in seconds, in order, without overlap.
        transcript: without the removed words.
        counts: of findings, by category.
        seconds: removed.
        rounds: how often the result was heard.
        more: words that were found when the result was heard, and removed.
        frames: samples per channel of the recording.
        warnings: for the user, each a sentence.
        words: that stand for the removed ones; None unless asked for.
        plain: what stands in intervals without such words, ``silence`` or ``beep``.
    """

    intervals: tuple[Interval, ...]
    transcript: Transcript
    counts: dict[str, int]
    seconds: float
    rounds: int
    more: int
    frames: int
    warnings: tuple[str, ...] = ()
    words: SpokenWords | None = None
    plain: str = SILENCE

    def log(self) -> dict[str, object]:
        """Fields for a log, without a word of the recording."""
        return {
            "findings": dict(sorted(self.counts.items())),
            "seconds": round(self.seconds, 3),
            "heard_again": self.rounds,
            "found_again": self.more,
            **({} if self.words is None else {"replaced": len(self.words.words)}),
        }


def warnings_of(
    name: str, transcript: Transcript, silenced: bool, words: SpokenWords | None, plain: str
) -> Iterator[str]:
    """Sentences for the user.

    Args:
        name: of the recording.
        transcript: what was heard in it.
        silenced: whether speech without words is removed.
        words: that stand for removed ones.
        plain: what stands where no word can.
    """
    seconds = sum(end - start for start, end in transcript.unheard)
    if seconds and not silenced:
        yield (
            f"{name}: no word was recognised in {seconds:.1f} s of speech (first at "
            f"{transcript.unheard[0][0]:.1f} s); names in it stay, unless you add --unheard silence"
        )
    if words is not None and words.missed:
        yield (
            f"{name}: {len(words.missed)} of {len(words.holes)} removed parts have {A_[plain]} "
            f"instead of a word (first at {words.missed[0][0]:.1f} s), because no word of the "
            "class fits there"
        )
