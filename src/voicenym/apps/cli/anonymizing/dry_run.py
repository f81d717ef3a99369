"""Plan of a batch, which ``--dry-run`` prints: speakers, recordings and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voicenym.apps.cli.terminal import tables

if TYPE_CHECKING:
    from voicenym.corpus.plans.file_plan import Item


ONE_ALONE = "1 recording is a person of its own; give --speaker NAME for the voice of NAME"


def show(items: Sequence[Item], *, renamed: bool = False) -> None:
    """Prints the speakers with their numbers of files and minutes, then the recordings.

    In a pipe it prints only the recordings, as tab-separated values.

    Args:
        items: of the batch.
        renamed: whether outputs have drawn names; then only originals are listed, so that no list
            links the two.
    """
    from voicenym.corpus.readers.speaker_rule import is_own

    recordings: list[dict[str, Any]] = []
    for item in items:
        seconds = _seconds(item)
        recordings.append(
            {
                "recording": str(item.source),
                **({} if renamed else {"output": str(item.target)}),
                "speaker": OWN if is_own(item.speaker) else item.speaker,
                "seconds": None if seconds is None else round(seconds, 3),
            }
        )
    if tables.is_terminal():
        tables.emit(_speakers(items, recordings), SPEAKERS)
        typer.echo()
    columns = tuple(tables.field(n) for n in recordings[0] if n != "seconds") if recordings else ()
    tables.emit(recordings, columns)
    if renamed and tables.is_terminal():
        typer.echo("outputs get names drawn from the key")


OWN = "(its own)"
"""Label of a recording that is a speaker of its own."""
SPEAKERS = (
    tables.field("speaker"),
    tables.field("files", right=True),
    tables.field("minutes", right=True),
    tables.field("of unknown length", right=True),
)


def _speakers(items: Sequence[Item], recordings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    people: dict[str, list[dict[str, Any]]] = {}
    for item, recording in zip(items, recordings, strict=True):
        people.setdefault(item.speaker, []).append(recording)
    records = []
    for speaker, own in people.items():
        known = [r["seconds"] for r in own if r["seconds"] is not None]
        alone = own[0]["speaker"] == OWN
        records.append(
            {
                "speaker": f"{own[0]['recording']} {OWN}" if alone else speaker,
                "files": len(own),
                "minutes": f"{sum(known) / 60:.1f}" if known else "unknown",
                "of unknown length": len(own) - len(known) or None,
            }
        )
    return records


def each_alone(items: Sequence[Item]) -> str | None:
    """Message that each file counts as a speaker of its own, if no option requests it."""
    from voicenym.corpus.readers.speaker_rule import is_own

    count = sum(is_own(item.speaker) for item in items)
    if not count:
        return None
    if count == 1:
        return ONE_ALONE
    return (
        f"each of {count} recordings counts as a person of its own; give --speaker NAME where one "
        "person speaks in them"
    )


def _seconds(item: Item) -> float | None:
    """Length of a recording by its header; None if the header has none."""
    from voicenym.audio import open_reader
    from voicenym.errors import VoicenymError

    start, end = 0.0, None
    source: Path | None
    if isinstance(item.source, Path):
        source = item.source
    else:
        start, end = item.source.stretch
        source = item.source.path
    if end is not None:
        return end - start
    if source is None or not source.is_file():
        return None
    try:
        with open_reader(source, lenient=True) as reader:
            if reader.frames is None:
                return None
            return max(0.0, reader.frames / reader.rate - start)
    except (VoicenymError, OSError):
        return None
