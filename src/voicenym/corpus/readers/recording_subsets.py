"""Subsets of recordings: spread over all speakers, or of every other speaker."""

from __future__ import annotations

from collections.abc import Sequence

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError

FEWEST = 2
"""Least recordings of a speaker that show how recordings of one speaker differ."""


def spread(speech: Sequence[Recording], most: int) -> list[Recording]:
    """At most ``most`` recordings, distributed evenly over all speakers."""
    by_speaker: dict[str, list[Recording]] = {}
    for recording in sorted(speech):
        by_speaker.setdefault(recording.speaker, []).append(recording)
    return _turns(list(by_speaker.values()), most)


def pool_of(speech: Sequence[Recording], most: int) -> list[Recording]:
    """Speech of other people for attackers to learn from, distributed evenly over speakers.

    Back ends learn how recordings of one speaker differ from two of them. Where ``most`` is not
    enough for two of each speaker, fewer speakers are taken, two at least, and those who have two
    recordings first.

    Args:
        speech: of all that there is.
        most: recordings at most.
    """
    by_speaker: dict[str, list[Recording]] = {}
    for recording in sorted(speech):
        by_speaker.setdefault(recording.speaker, []).append(recording)
    chosen: set[str] = set()
    room = most
    for speaker in sorted(by_speaker, key=lambda name: len(by_speaker[name]) < FEWEST):
        if room <= 0 and len(chosen) > 1:
            break
        chosen.add(speaker)
        room -= min(FEWEST, len(by_speaker[speaker]))
    return _turns([own for speaker, own in by_speaker.items() if speaker in chosen], most)


def _turns(by_speaker: Sequence[Sequence[Recording]], most: int) -> list[Recording]:
    """The first recording of every speaker, then the second one, and so on."""
    rounds = max(map(len, by_speaker), default=0)
    turns = [own[i] for i in range(rounds) for own in by_speaker if i < len(own)]
    return turns[:most]


def halved(speech: Sequence[Recording], half: str) -> list[Recording]:
    """Recordings of every other speaker in the order of names: for tuning, or for reporting.

    Args:
        speech: of all.
        half: ``tune`` or ``report``.

    Raises:
        CorpusError: no such half.
    """
    if half not in ("tune", "report"):
        raise CorpusError(f"a half is tune or report, not {half!r}")
    speakers = sorted({recording.speaker for recording in speech})
    chosen = set(speakers[half == "report" :: 2])
    return [recording for recording in speech if recording.speaker in chosen]
