"""Checks a corpus as it was listed: names are unique, and files are there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import LeftOut
from voicenym.errors import CorpusError


def present(source: Path | str, found: Sequence[Recording], left_out: LeftOut) -> list[Recording]:
    """Recordings in the order of their names, without those whose files are missing.

    Raises:
        CorpusError: there are none, all files are missing, or two have one name.
    """
    if not found:
        raise CorpusError(f"{source}: no recordings in it; check the folder, or the split")
    twice = [name for name, count in Counter(r.name for r in found).items() if count > 1]
    if twice:
        raise CorpusError(f"{source}: {twice[0]} names two utterances; make names unique")
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


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or holds a zero byte
        return False
