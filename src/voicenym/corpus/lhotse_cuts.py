"""Utterances of a lhotse manifest, for attacks and for training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, DependencyError


def read_cuts(path: Path) -> list[Any]:
    """The cuts of a manifest, as lhotse has them.

    Raises:
        DependencyError: lhotse is not installed.
        CorpusError: not a manifest of cuts.
    """
    try:
        from lhotse import CutSet
    except ImportError:
        raise DependencyError(
            f"{path}: reading lhotse manifests needs lhotse: pip install 'voicenym[lhotse]'"
        ) from None
    try:
        return list(CutSet.from_file(path))
    except Exception as error:
        raise CorpusError(f"{path}: not a lhotse manifest of cuts ({error})") from None


def utterances(path: Path) -> list[Recording]:
    """Every supervision of every cut.

    Args:
        path: cuts, as ``.jsonl`` or ``.jsonl.gz``.

    Raises:
        DependencyError, CorpusError: as :func:`read_cuts`.
        CorpusError: a supervision without a speaker, or audio that is not
            one file.
    """
    found = []
    for cut in read_cuts(path):
        recording = getattr(cut, "recording", None)
        if recording is None:
            raise CorpusError(f"{path}: {cut.id} has no recording of its own; save simple cuts")
        if len(recording.sources) != 1 or recording.sources[0].type != "file":
            raise CorpusError(
                f"{path}: {recording.id} is not stored as one file, which is needed here"
            )
        for one in cut.supervisions:
            if not one.speaker:
                raise CorpusError(f"{path}: {one.id} names no speaker; fill in its supervision")
            start = max(0.0, cut.start + one.start)
            whole = start == 0.0 and one.duration >= recording.duration - 0.01
            found.append(
                Recording(
                    one.id,
                    one.speaker,
                    Path(recording.sources[0].source),
                    (one.gender or "")[:1].lower(),
                    one.text or "",
                    start,
                    None if whole else min(start + one.duration, recording.duration),
                )
            )
    return found
