"""Utterances of a lhotse manifest, for attacks and for training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from voicenym.corpus.readers.id_checks import LONGEST, check_source, check_word, printable
from voicenym.corpus.recording import Recording
from voicenym.corpus.sex_labels import sex_of
from voicenym.errors import CorpusError, DependencyError


def read_cuts(path: Path) -> list[Any]:
    """Cuts of a manifest, as lhotse reads them.

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
        # An absolute path: lhotse runs a name such as "pipe:..." as a command.
        cuts = list(CutSet.from_file(path.absolute()))
    except Exception as error:
        raise CorpusError(f"{path}: not a lhotse manifest of cuts ({error})") from None
    for cut in cuts:
        _check(path, cut)
    return cuts


def _check(path: Path, cut: Any) -> None:
    """Checks the types of names and times, which lhotse reads from JSON without a check."""
    check_word(f"{path}: a cut's id", getattr(cut, "id", None))
    recording = getattr(cut, "recording", None)
    times = [getattr(cut, "start", 0.0), cut.duration]
    if recording is not None:
        check_word(f"{path}: a recording's id", recording.id)
        times.append(recording.duration)
        for source in recording.sources:
            if source.type == "file":
                check_source(
                    f"{path}: {printable(recording.id)}",
                    check_word(f"{path}: the file of {printable(recording.id)}", source.source),
                )
    for one in getattr(cut, "supervisions", []):
        check_word(f"{path}: a supervision's id", one.id)
        if one.speaker:
            check_word(f"{path}: the speaker of {printable(one.id)}", one.speaker)
        if not all(isinstance(word, str | None) for word in (one.gender, one.text)):
            raise CorpusError(
                f"{path}: {printable(one.id)} has a gender or a text that is no text; mend it"
            )
        times += [one.start, one.duration]
    sound = (isinstance(t, (int, float)) and abs(t) <= LONGEST for t in times)
    if not all(sound):
        raise CorpusError(f"{path}: {printable(cut.id)} has times that are no seconds; mend it")


def utterances(path: Path, *, remote: bool = False) -> list[Recording]:
    """Recordings of all supervisions of all cuts.

    Args:
        path: cuts, as ``.jsonl`` or ``.jsonl.gz``.
        remote: whether recordings may have URLs, which become their paths; nothing opens them.

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
        kinds = ("file", "url") if remote else ("file",)
        if len(recording.sources) != 1 or recording.sources[0].type not in kinds:
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
                    sex_of(one.gender),
                    one.text or "",
                    start,
                    None if whole else min(start + one.duration, recording.duration),
                )
            )
    return found
