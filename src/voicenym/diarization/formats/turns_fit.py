"""Whether a file of turns fits its recording."""

from __future__ import annotations

import os
from pathlib import Path

from voicenym.diarization.formats.turn_files import read_turns
from voicenym.diarization.speaker_turns import Diarization
from voicenym.errors import DiarizationError

TOLERANCE = 0.02
"""Seconds by which a turn may end after its recording, for rounding in files of turns."""


def check_fit(
    found: Diarization,
    seconds: float,
    turns: str | os.PathLike[str],
    recording: str | os.PathLike[str],
) -> None:
    """Refuses turns that end after their recording.

    Args:
        found: the turns.
        seconds: length of the recording.
        turns: their file, for the message.
        recording: its file, for the message.

    Raises:
        DiarizationError: a turn ends after the recording.
    """
    if found.end > seconds + TOLERANCE:
        last = max(found.turns, key=lambda turn: turn.end)
        raise DiarizationError(
            f"{os.fspath(turns)}: does not fit {os.fspath(recording)}: a turn of {last.speaker} "
            f"ends at {last.end:.2f} s, the recording at {seconds:.2f} s; give the turns of this "
            "recording"
        )


def turns_for(
    turns: str | os.PathLike[str], recording: str | os.PathLike[str], seconds: float
) -> Diarization:
    """Turns of a recording from a file, checked against its length.

    Raises:
        DiarizationError: as :func:`voicenym.diarization.formats.turn_files.read_turns` and
            :func:`check_fit`.
    """
    found = read_turns(turns, Path(recording).stem)
    check_fit(found, seconds, turns, recording)
    return found
