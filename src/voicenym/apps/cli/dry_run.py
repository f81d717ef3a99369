"""Who is taken for whom: what ``--dry-run`` shows of a batch before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voicenym.corpus.file_plan import Item


ONE_ALONE = "1 recording is a person of its own; give --speaker NAME for the voice of NAME"


def who_is_whom(items: Sequence[Item], *, renamed: bool = False) -> Iterator[str]:
    """Lines of two lists: speakers with the number of their files and minutes, then recordings.

    Args:
        items: of the batch.
        renamed: whether outputs have drawn names; originals then stand alone, so that no list
            links the two.
    """
    from voicenym.corpus.id_checks import printable
    from voicenym.corpus.speaker_rule import is_own

    people: dict[str, list[Item]] = {}
    for item in items:
        people.setdefault(item.speaker, []).append(item)
    names = {
        speaker: f"{own[0].source} (a person of its own)" if is_own(speaker) else speaker
        for speaker, own in people.items()
    }
    lengths = {str(item.source): _seconds(item) for item in items}
    yield f"{'speaker':40} {'files':>6} {'minutes':>8}"
    for speaker, own in people.items():
        known = [s for item in own if (s := lengths[str(item.source)]) is not None]
        minutes = f"{sum(known) / 60:8.1f}" if known else f"{'unknown':>8}"
        unknown = len(own) - len(known)
        more = f" and {unknown} of unknown length" if known and unknown else ""
        yield f"{printable(names[speaker]):40} {len(own):6} {minutes}{more}"
    yield ""
    for item in items:
        target = "" if renamed else f" -> {item.target}"
        who = "a person of its own" if is_own(item.speaker) else f"speaker {item.speaker}"
        yield printable(f"{item.source}{target} ({who})")
    if renamed:
        yield "outputs get names drawn from the key"


def each_alone(items: Sequence[Item]) -> str | None:
    """Says that files are taken for people of their own, which nobody asked for."""
    from voicenym.corpus.speaker_rule import is_own

    count = sum(is_own(item.speaker) for item in items)
    if not count:
        return None
    if count == 1:
        return ONE_ALONE
    return (
        f"{count} recordings are each a person of its own; give --speaker NAME where one person "
        "speaks in them"
    )


def _seconds(item: Item) -> float | None:
    """Length of a recording by its header; None where only hearing it would tell."""
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
