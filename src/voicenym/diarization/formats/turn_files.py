"""Files of turns: RTTM, TextGrid, WebVTT and Audacity's labels, by extension."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from voicenym.audio.atomic import PRIVATE, sweep, unnamed_text
from voicenym.diarization.formats.audacity_labels import format_labels, parse_labels
from voicenym.diarization.formats.rttm import entry_name, format_rttm, parse_rttm
from voicenym.diarization.formats.textgrid import format_textgrid, parse_textgrid
from voicenym.diarization.formats.webvtt import format_webvtt, parse_webvtt
from voicenym.diarization.speaker_turns import Diarization
from voicenym.errors import DiarizationError
from voicenym.special_files import refuse_named_pipe

MOST_BYTES = 64 << 20
"""Largest file of turns that is read."""


@dataclass(frozen=True)
class TurnFormat:
    """A file format of turns.

    Args:
        title: for messages.
        parse: text to turns by the recording's name, which is empty where the format has none.
        format: turns, name and duration of a recording to text.
    """

    title: str
    parse: Callable[[str], Mapping[str, Diarization]]
    format: Callable[[Diarization, str, float], str]


FORMATS: Mapping[str, TurnFormat] = {
    ".rttm": TurnFormat("RTTM", parse_rttm, lambda found, name, _: format_rttm({name: found})),
    ".textgrid": TurnFormat(
        "TextGrid",
        lambda text: {"": parse_textgrid(text)},
        lambda found, _, duration: format_textgrid(found, duration),
    ),
    ".vtt": TurnFormat(
        "WebVTT", lambda text: {"": parse_webvtt(text)}, lambda found, *_: format_webvtt(found)
    ),
    ".txt": TurnFormat(
        "labels of Audacity",
        lambda text: {"": parse_labels(text)},
        lambda found, *_: format_labels(found),
    ),
}


def format_of(path: str | os.PathLike[str]) -> TurnFormat:
    """Format by extension.

    Raises:
        DiarizationError: an extension of none, with those there are.
    """
    extension = Path(path).suffix.lower()
    if extension not in FORMATS:
        known = ", ".join(f"{name} ({one.title})" for name, one in FORMATS.items())
        raise DiarizationError(
            f"{os.fspath(path)}: no file of turns by its extension; there are: {known}"
        )
    return FORMATS[extension]


def read_turns(path: str | os.PathLike[str], recording: str | None = None) -> Diarization:
    """Turns of a recording from a file.

    Args:
        path: with one of the extensions of :data:`FORMATS`.
        recording: its name, which selects its lines in RTTM; None if RTTM has one recording.

    Raises:
        DiarizationError: a file that cannot be read, is damaged, or has no line of the recording.
    """
    name = os.fspath(path)
    parse = format_of(path).parse
    try:
        found = parse(_text(Path(path)))
    except DiarizationError as error:
        raise DiarizationError(f"{name}: {error}") from None
    if not any(one.turns for one in found.values()):
        raise DiarizationError(
            f"{name}: holds no turn of a speaker; make it anew with: voicenym speakers FILE"
        )
    if "" in found:
        return found[""]
    listed = ", ".join(sorted(found)[:5]) + (", ..." if len(found) > 5 else "")
    if recording is None:
        if len(found) > 1:
            raise DiarizationError(
                f"{name}: holds turns of {len(found)} recordings ({listed}); give a file of one"
            )
        return next(iter(found.values()))
    for wanted in (recording, entry_name(recording)):
        if wanted in found:
            return found[wanted]
    raise DiarizationError(
        f"{name}: holds no turn of the recording {entry_name(recording)!r}; its second column "
        f"names {listed}: give the file of this recording, or correct the column"
    )


def format_turns(
    found: Diarization, path: str | os.PathLike[str], recording: str, duration: float
) -> str:
    """Text of a file of turns, by the extension of its path.

    Args:
        found: the turns.
        path: of the file.
        recording: name of the recording.
        duration: of the recording in seconds.

    Raises:
        DiarizationError: an unknown extension, or a label that the format cannot hold.
    """
    return format_of(path).format(found, recording, duration)


def write_text(path: Path, text: str, overwrite: bool) -> None:
    """Writes a text file that only its owner can read, and gets its name when it is complete.

    What a killed process left in the folder is removed.

    Raises:
        AudioError: exists already and may not be replaced, or cannot be written.
    """
    sweep(path.parent)
    file = unnamed_text(path, text, overwrite, PRIVATE)
    try:
        file.commit()
    finally:
        file.discard()


def _text(path: Path) -> str:
    """Text of a file in UTF-8, or in UTF-16 with a byte-order mark, as Praat writes."""
    refuse_named_pipe(path)
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise DiarizationError(f"cannot be read ({error.strerror}); check the name") from None
    if len(data) > MOST_BYTES:
        raise DiarizationError("is larger than 64 MiB, which no file of turns is; check the name")
    marked = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        raise DiarizationError("is no text in UTF-8; save it as UTF-8") from None
