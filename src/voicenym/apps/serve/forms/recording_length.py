"""Limit of the length of recordings."""

from __future__ import annotations

from typing import Any

from voicenym.errors import AudioError

NAME = "the recording"
"""Name of every recording in messages."""


class TooLongError(AudioError):
    """A recording that is longer than the server takes."""


def too_long(seconds: float) -> TooLongError:
    """Error of a recording that is longer than so many seconds."""
    return TooLongError(
        f"{NAME}: is longer than {seconds:g} s, the limit of this server; send a shorter one, or "
        "raise the limit of the server"
    )


def stated_seconds(reader: Any, most: float) -> float | None:
    """Seconds of a recording as its container states them; None where it does not.

    Args:
        reader: of the recording.
        most: seconds.

    Raises:
        TooLongError: it is longer.
    """
    if reader.frames is None:
        return None
    found = float(reader.frames / reader.rate)
    if found > most * 1.05 + 1.0:  # may be an estimate
        raise too_long(most)
    return found
