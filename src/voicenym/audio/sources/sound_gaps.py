"""Gaps between frames of sound, by their time stamps.

Recorders of calls and browsers write no frames while a line is mute, dead or silent. Players wait
there; without the wait, what follows comes too early for the picture and for turns of speakers.
"""

from __future__ import annotations

from typing import Any

from voicenym.errors import AudioError

TIMED = ("matroska", "mov", "ogg")
"""Demuxers whose stamps are the recording's own; those of streams may jump by hours."""
LEAST = 0.1
"""Seconds from which on a pause between two frames is a gap; shorter ones are inexact stamps."""
MOST = 3600.0
"""Seconds of gaps that are filled; a few bytes could state years."""


class SoundGaps:
    """Counts the samples that are missing before each frame of a recording.

    Args:
        rate: of its samples in Hz.
        name: of the recording, for messages.
    """

    def __init__(self, rate: int, name: str) -> None:
        self._rate, self._name = rate, name
        self._start: float | None = None
        self._end = 0.0
        self._given = 0
        self._count, self._missing, self._first = 0, 0, 0.0

    def before(self, frame: Any) -> int:
        """Samples that are missing between a decoded frame and the one before.

        Stamps that drift from the number of samples are no gap, nor are those of bursts: a gap lies
        between two frames, and behind all samples so far.

        Raises:
            AudioError: the gaps have more than :data:`MOST` seconds.
        """
        if frame.pts is None or frame.time_base is None:
            self._given += frame.samples
            self._end += frame.samples / self._rate
            return 0
        stamp = float(frame.pts * frame.time_base)
        if self._start is None:
            self._start = self._end = stamp
        behind = stamp - self._start - self._given / self._rate
        gap = round(min(stamp - self._end, behind) * self._rate)
        if gap <= LEAST * self._rate:
            gap = 0
        elif not self._count:
            self._first = self._given / self._rate
        self._count += gap > 0
        self._missing += gap
        self._given += gap + frame.samples
        self._end = stamp + frame.samples / self._rate
        if self._missing > MOST * self._rate:
            raise AudioError(
                f"{self._name}: has {self._missing / self._rate:.0f} s without sound by its time "
                "stamps, as if it were damaged; convert it to WAV first"
            )
        return gap

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentence on the gaps so far; none without any."""
        if not self._count:
            return ()
        gaps = "a gap" if self._count == 1 else f"{self._count} gaps"
        first = "at" if self._count == 1 else "the first at"
        return (
            f"{self._name}: its sound has {gaps} of {self._missing / self._rate:.1f} s by its time "
            f"stamps, {first} {self._first:.1f} s; silence was put there",
        )
