"""Checks a corpus as it was listed: names are unique texts, and files are there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import LeftOut
from voicenym.errors import CorpusError, printable


def present(source: Path | str, found: Sequence[Recording], left_out: LeftOut) -> list[Recording]:
    """Recordings in the order of their names, without those whose files are missing, and those
    whose names are no text: seeds, caches and reports hold names as UTF-8.

    Raises:
        CorpusError: there are none, all are without a file or a name, or two have one name.
    """
    if not found:
        raise CorpusError(f"{source}: no recordings in it; check the folder, or the split")
    twice = [name for name, count in Counter(r.name for r in found).items() if count > 1]
    if twice:
        raise CorpusError(f"{source}: {twice[0]} names two utterances; make names unique")
    named = [r for r in found if _is_text(r.name) and _is_text(r.speaker)]
    if not named:
        raise CorpusError(f"{printable(str(source))}: {_NO_TEXT} (all {len(found)} are so)")
    for recording in found if len(named) < len(found) else ():
        if not (_is_text(recording.name) and _is_text(recording.speaker)):
            where = printable(str(recording.path))
            left_out.add(printable(recording.name), f"{where}: {_NO_TEXT}")
    found = named
    missing = [r for r in found if not r.command and not _is_file(r.path)]
    if missing and (left_out.fail_fast or len(missing) == len(found)):
        raise CorpusError(
            f"{missing[0].path}: missing ({len(missing)} of {len(found)} files of {source} are); "
            "restore them or take their lines out"
        )
    for recording in missing:
        left_out.add(
            recording.name,
            f"{recording.path}: missing; restore it or take its line out of {source}",
        )
    absent = {recording.name for recording in missing}
    return sorted(recording for recording in found if recording.name not in absent)


_NO_TEXT = "the name of a recording or its folder is not in UTF-8; rename it (convmv does folders)"


def _is_text(name: str) -> bool:
    """Whether a name has no bytes of a file's name that are not UTF-8, which Python keeps as halves
    of characters.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or holds a zero byte
        return False
