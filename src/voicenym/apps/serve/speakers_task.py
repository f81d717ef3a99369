"""What a worker process does to find who speaks when in a recording."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voicenym.apps.serve.forms.recording_length import stated_seconds, too_long

NAME = "recording"
"""Of the recording in RTTM."""


@dataclass(frozen=True)
class SpeakersTask:
    """Recording whose speakers are to be found.

    Args:
        source: file in the folder of the request.
        folder: of the request.
        count: number of speakers; None finds it.
        seconds: longest recording.
        memory: bytes of the worker beyond its start.
        cpu_seconds: processor time of the worker.
        output_bytes: of a file that the worker writes; it writes none.
    """

    source: Path
    folder: Path
    count: int | None = None
    seconds: float = 3600.0
    memory: int = 3 << 30
    cpu_seconds: int = 3600
    output_bytes: int = 1 << 20


def find_speakers(task: SpeakersTask) -> dict[str, Any]:
    """Turns and speakers of a recording, as a client is told.

    Raises:
        VoicenymError: a recording that cannot be read, or without speech; fewer speakers than
            asked for.
    """
    from voicenym.audio import open_reader
    from voicenym.diarization.diarizer import diarize_file
    from voicenym.diarization.formats.rttm import format_rttm
    from voicenym.diarization.recording_signal import mono
    from voicenym.diarization.turn_doubts import Doubt, doubts_of

    with open_reader(task.source) as reader:
        stated_seconds(reader, task.seconds)
    doubts: list[Doubt] = []
    found, seconds = diarize_file(task.source, speakers=task.count, warn=doubts.append)
    if seconds > task.seconds:
        raise too_long(task.seconds)
    doubts.extend(doubts_of(found, mono(task.source), task.count))
    spoken = found.seconds()
    return {
        "seconds": round(seconds, 3),
        "speakers": [{"label": who, "seconds": round(spoken[who], 3)} for who in found.speakers],
        "turns": [
            {
                "start": turn.start,
                "end": turn.end,
                "speaker": turn.speaker,
                "confidence": turn.confidence,
            }
            for turn in found.turns
        ],
        "rttm": format_rttm({NAME: found}),
        "warnings": [
            {"kind": doubt.kind, "detail": doubt.what, "figures": dict(doubt.figures)}
            for doubt in doubts
        ],
    }
