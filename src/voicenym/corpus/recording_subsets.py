"""Subsets of recordings: spread over all speakers, or of every other speaker."""

from __future__ import annotations

from collections.abc import Sequence

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError


def spread(speech: Sequence[Recording], most: int) -> list[Recording]:
    """At most ``count`` recordings, distributed evenly over all speakers."""
    by_speaker: dict[str, list[Recording]] = {}
    for recording in sorted(speech):
        by_speaker.setdefault(recording.speaker, []).append(recording)
    rounds = max(map(len, by_speaker.values()), default=0)
    turns = [own[i] for i in range(rounds) for own in by_speaker.values() if i < len(own)]
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
