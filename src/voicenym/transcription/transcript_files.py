"""Files of transcripts: text, JSON, SubRip (.srt) and WebVTT."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from voicenym.diarization.formats.webvtt import clock
from voicenym.errors import VoicenymError
from voicenym.transcription.timed_words import Transcript, Word, joined, sentences

MOST_CHARACTERS = 84
"""Longest text of a subtitle: two lines of 42 characters."""
MOST_SECONDS = 7.0
"""Longest subtitle."""


def format_text(found: Transcript) -> str:
    """A line for each sentence; with several channels, a heading before each."""
    lines: list[str] = []
    for channel in found.channels:
        if len(found.channels) > 1:
            lines.append(f"[channel {channel + 1}]")
        lines += [joined(sentence) for sentence in sentences(found.of_channel(channel))]
    return "".join(f"{line}\n" for line in lines)


def format_json(found: Transcript) -> str:
    """Language, seconds and the words with their times; null where a word could not be placed."""
    words = [
        {
            "word": word.text,
            "start": round(word.start, 3) if word.placed else None,
            "end": round(word.end, 3) if word.placed else None,
            "probability": round(word.probability, 3),
            "channel": word.channel + 1,
        }
        for word in found.words
    ]
    content = {
        "language": found.language,
        "seconds": round(found.seconds, 3),
        "words": words,
        "unheard": [[round(a, 3), round(b, 3)] for a, b in found.unheard],
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def format_srt(found: Transcript) -> str:
    """SubRip: numbered cues."""
    cues = enumerate(_cues(found), 1)
    return "\n".join(
        f"{number}\n{_comma(start)} --> {_comma(end)}\n{text}\n"
        for number, (start, end, text) in cues
    )


def format_vtt(found: Transcript) -> str:
    """WebVTT: cues without voices."""
    parts = ["WEBVTT\n"]
    for start, end, text in _cues(found):
        safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        parts.append(f"{clock(start)} --> {clock(end)}\n{safe}\n")
    return "\n".join(parts)


FORMATS: Mapping[str, Callable[[Transcript], str]] = {
    ".txt": format_text,
    ".json": format_json,
    ".srt": format_srt,
    ".vtt": format_vtt,
}


def format_of(path: str | os.PathLike[str]) -> Callable[[Transcript], str]:
    """Writer of a transcript, by the extension of its path.

    Raises:
        VoicenymError: an extension of none, with those there are.
    """
    extension = Path(path).suffix.lower()
    if extension not in FORMATS:
        raise VoicenymError(
            f"{os.fspath(path)}: no transcript by its extension; there are: {', '.join(FORMATS)}"
        )
    return FORMATS[extension]


def _cues(found: Transcript) -> Iterator[tuple[float, float, str]]:
    """Subtitles in order of time: parts of sentences of limited length."""
    cues: list[tuple[float, float, str]] = []
    for channel in found.channels:
        for sentence in sentences(found.of_channel(channel)):
            part: list[Word] = []
            for word in sentence:
                longer = joined([*part, word])
                lasts = word.end - part[0].start if part else 0.0
                if part and (len(longer) > MOST_CHARACTERS or lasts > MOST_SECONDS):
                    cues.append(_cue(part))
                    part = []
                part.append(word)
            cues.append(_cue(part))
    yield from sorted(cues, key=lambda cue: cue[:2])


def _cue(part: list[Word]) -> tuple[float, float, str]:
    placed = [word for word in part if word.placed]
    if not placed:
        return (*part[0].segment, joined(part))
    return placed[0].start, placed[-1].end, joined(part)


def _comma(seconds: float) -> str:
    return clock(seconds).replace(".", ",")
