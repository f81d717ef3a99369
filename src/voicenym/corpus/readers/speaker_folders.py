"""Recordings of a folder ``SPEAKER/.../UTTERANCE.wav``, with transcripts beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from voicenym.corpus.readers.folder_walk import walk
from voicenym.corpus.readers.present_recordings import present
from voicenym.corpus.readers.speaker_rule import by_folders
from voicenym.corpus.readers.tsv_manifest import COLUMNS
from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import LeftOut
from voicenym.errors import CorpusError

CURE = (
    "Add the option that is meant, or list the recordings in a manifest.tsv there, with the "
    "columns " + ", ".join(COLUMNS)
)


def recordings_of_folders(root: Path, level: int | None, left_out: LeftOut) -> list[Recording]:
    """Recordings of a folder, in the order of their names.

    Args:
        root: the folder.
        level: which folder below it names the speaker; None as of
            :func:`voicenym.corpus.readers.speaker_rule.by_folders`.
        left_out: as of :func:`voicenym.corpus.recordings.recordings`.

    Raises:
        CorpusError: no recordings, or nobody knows who speaks.
        AudioError: a folder may not be read, and ``left_out`` raises at the first failure.
    """
    content = walk(root, links=True)
    for part in content.skipped:
        if part.reason.hides:  # figures would be of less speech than was asked for
            left_out.add(part.path.relative_to(root).as_posix(), str(part))
    paths = content.recordings
    inner = [path.relative_to(root) for path in paths]
    if level is None and inner and all(len(path.parts) == 1 for path in inner):
        raise CorpusError(
            f"{root}: its recordings lie in no speaker's folder, so that nobody knows who speaks; "
            f"arrange them as {root}/SPEAKER/UTTERANCE{paths[0].suffix}, or list them in a "
            "manifest.tsv there"
        )
    people = by_folders(root, inner, level or _least(inner), alone=False, cure=CURE)
    found = []
    for path, place, speaker in zip(paths, inner, people, strict=True):
        if speaker is None:
            raise CorpusError(
                f"{path}: lies in no speaker's folder; arrange the recordings as "
                f"{root}/SPEAKER/UTTERANCE{path.suffix}"
            )
        words = _words(path.with_suffix(".txt"))
        found.append(Recording(place.with_suffix("").as_posix(), speaker, path, text=words))
    return present(root, found, left_out)


def _least(inner: Sequence[Path]) -> int | None:
    """Default level: a recording in no folder does not make folders ambiguous here; it is refused
    by name.
    """
    return 1 if any(len(path.parts) == 1 for path in inner) else None


def _words(path: Path) -> str:
    """Transcript from a file beside a recording; empty without a readable file.

    Raises:
        CorpusError: the file is not UTF-8, so that words would be counted that nobody said.
    """
    try:
        return path.read_text("utf-8-sig").strip() if path.is_file() else ""
    except OSError:
        return ""
    except UnicodeDecodeError:
        raise CorpusError(
            f"{path}: is no UTF-8 text; store the transcript as UTF-8, or remove the file"
        ) from None
