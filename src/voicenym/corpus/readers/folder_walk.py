"""Search of a folder tree for recordings; all other files are listed with reasons."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from voicenym.audio.container_files import container_detection
from voicenym.audio.container_files.containers import EXTENSIONS as WRITTEN
from voicenym.audio.container_files.containers import READ_ONLY
from voicenym.corpus.run_records.run_log import LOG_NAME
from voicenym.errors import counted

EXTENSIONS = frozenset(WRITTEN) | frozenset(READ_ONLY)
"""Extensions of recordings in a folder; a file on the command line may have any."""
_UNREAD = ".aa .aax .ds2 .dss .gsm .m4p .msv .oma .pcm .ra .raw .rm .rmvb .shn .vox .vqf"
UNREAD = frozenset(_UNREAD.split())
"""Extensions of recordings that cannot be read: without a header, encrypted, or unknown to
libav."""
TABLES = frozenset({"manifest.tsv", "metadata.csv", "metadata.jsonl"})
"""Names of tables that say who speaks in the recordings beside them; the last two are those of
Hugging Face's audio folders."""
FEW = 5
"""Number of files that are clearly no recordings which a message lists by default."""


class Reason(Enum):
    """Reason for skipping a file: text for one file, for several, and whether each is named."""

    UNREAD = ("is a recording of a kind that is not read; convert it to WAV or FLAC", True)
    MISNAMED = ("is a recording by its content; give its name the ending of its kind", True)
    LINK = ("is a symbolic link that leads out of the folder, to a folder or to nothing; "
            "copy there what it names, or name that by itself", True)  # fmt: skip
    OUTPUTS = ("is a folder of outputs of an earlier run, by its log, and not of originals; give "
               "it by itself if it is meant", True)  # fmt: skip
    SPECIAL = ("is no regular file", True)
    CLOSED = ("is a folder that may not be read, so that its recordings are missing; ask its "
              "owner for permission", True)  # fmt: skip
    BEHIND = ("lies in, or behind a link in, a folder that may not be entered, so that it is "
              "missing; ask its owner for permission", True)  # fmt: skip
    TABLE = ("is a table, and what it says of speakers is not used: make a Kaldi data folder of it "
             "(Folders and corpora, Tables of speakers), or folders of speakers", True)  # fmt: skip
    HIDDEN = ("is hidden (its name begins with a dot)", False)
    OTHER = ("is no recording", False)

    @property
    def text(self) -> str:
        return self.value[0]

    @property
    def each(self) -> bool:
        """Whether the user should act on each file."""
        return self.value[1]

    @property
    def hides(self) -> bool:
        """Whether recordings may be missing, because nobody could look."""
        return self in (Reason.CLOSED, Reason.BEHIND)


@dataclass(frozen=True)
class SkippedFile:
    """A file, or a folder with its content, that is skipped."""

    path: Path
    reason: Reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason.text}"


@dataclass
class Found:
    """Content of a folder.

    Args:
        recordings: in the order of their names.
        skipped: other files and folders.
        outputs: folders below it that have the log of a run.
    """

    recordings: list[Path] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    outputs: list[Path] = field(default_factory=list)


def walk(root: Path, without: Path | None = None, *, links: bool = False) -> Found:
    """Recordings and skipped files below a folder.

    A folder of outputs, which has the log of a run, is no speaker among originals: it is skipped
    where recordings lie outside of all such folders.

    Args:
        root: the folder.
        without: a folder below it that is not searched, such as that of outputs.
        links: whether to follow all symbolic links to files. Otherwise only links to files below
            ``root`` are followed, because a folder of an unknown sender may link to any file.
    """
    found = Found()
    inside = None if without is None else Path(os.path.realpath(without))
    whole = root.resolve()

    def closed(error: OSError) -> None:
        found.skipped.append(SkippedFile(Path(error.filename or root), Reason.CLOSED))

    for folder, folders, names in os.walk(root, onerror=closed):
        deeper = []
        for name in sorted(folders):
            path = Path(folder, name)
            if inside is not None and path.resolve() == inside:
                continue
            reason = _of_folder(path)
            if reason is None:
                deeper.append(name)
            else:
                found.skipped.append(SkippedFile(path, reason))
        folders[:] = deeper
        if LOG_NAME in names and Path(folder) != root:
            found.outputs.append(Path(folder))
        for name in sorted(names):
            path = Path(folder, name)
            why = _of_file(path, None if links else whole)
            if why is None:
                found.recordings.append(path)
            else:
                found.skipped.append(SkippedFile(path, why))
    return without_outputs(found, found.recordings)


def without_outputs(found: Found, paths: Collection[Path]) -> Found:
    """What was found, without folders of outputs if any of ``paths`` lies outside of them."""
    folders = set(found.outputs)
    if not folders or not any(folders.isdisjoint(path.parents) for path in paths):
        return found
    kept = [path for path in found.recordings if folders.isdisjoint(path.parents)]
    rest = [part for part in found.skipped if folders.isdisjoint(part.path.parents)]
    outermost = [path for path in found.outputs if folders.isdisjoint(path.parents)]
    return Found(kept, [*rest, *(SkippedFile(path, Reason.OUTPUTS) for path in outermost)])


def _of_folder(path: Path) -> Reason | None:
    if path.name.startswith("."):
        return Reason.HIDDEN
    try:
        return Reason.LINK if path.is_symlink() else None
    except PermissionError:
        return Reason.BEHIND


def _of_file(path: Path, whole: Path | None) -> Reason | None:
    if path.name.startswith("."):
        return Reason.HIDDEN
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            if whole is not None and not path.resolve(strict=True).is_relative_to(whole):
                return Reason.LINK
            mode = path.stat().st_mode
    except PermissionError:
        return Reason.BEHIND
    except (OSError, RuntimeError):  # leads to nothing, or in a circle
        return Reason.LINK
    if not stat.S_ISREG(mode):
        return Reason.SPECIAL
    suffix = path.suffix.lower()
    if suffix in EXTENSIONS:
        return None
    if suffix in UNREAD:
        return Reason.UNREAD
    if path.name.lower() in TABLES:
        return Reason.TABLE
    return Reason.MISNAMED if _sounds(path) else Reason.OTHER


def _sounds(path: Path) -> bool:
    """Whether the first bytes of a file are those of a recording, regardless of its name."""
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except OSError:
        return False
    found = container_detection.marked(head)
    return found is not None and (found != "mov" or head[4:8] == b"ftyp")


def skipped(inputs: Iterable[Path], output: Path | None) -> list[SkippedFile]:
    """Files of input folders that :func:`voicenym.corpus.plans.file_plan.plan` skips."""
    return [part for path in inputs if path.is_dir() for part in walk(path, output).skipped]


def report(
    parts: Sequence[SkippedFile], *, every: bool = False, rest: str = ", which --dry-run names"
) -> list[str]:
    """Sentences that count and name files left out, by reason.

    Args:
        parts: from :func:`skipped`.
        every: whether to name all files, or only some of those that are clearly no recordings.
        rest: sentence on where the others are listed.
    """
    lines = []
    for reason in Reason:
        names = [str(part.path) for part in parts if part.reason is reason]
        if not names:
            continue
        listed = names if every or reason.each else names[:FEW]
        others = len(names) - len(listed)
        more = f" and {others} more{rest}" if others else ""
        count = counted(len(names), "file was not taken: it", "files were not taken: each")
        lines.append(f"{count} {reason.text}: {', '.join(listed)}{more}")
    return lines


def named_as_outputs(sources: Iterable[object]) -> list[str]:
    """Sentence on recordings named as outputs of single files beside their originals, such as
    ``interview.anon.wav``; empty without any. Only their names show it, so that they are taken.
    """
    paths = [path for path in sources if isinstance(path, Path)]
    originals = {path.with_suffix("") for path in paths}
    names = [
        str(path)
        for path in paths
        if path.with_suffix("").suffix in (".anon", ".preview")
        and path.with_suffix("").with_suffix("") in originals
    ]
    if not names:
        return []
    listed = ", ".join(names[:FEW]) + (", ..." if len(names) > FEW else "")
    return [
        "named as outputs of voicenym anonymize beside their originals, and taken as originals of "
        f"their own ({len(names)}): {listed}; move them out of the folder if they are outputs"
    ]


def rewritten(sources: Iterable[object]) -> list[str]:
    """Sentence on recordings in formats that can be read but not written; empty without any."""
    lines = []
    for becomes in (".wav", ".mkv"):
        names = [
            str(path)
            for path in sources
            if isinstance(path, Path) and READ_ONLY.get(path.suffix.lower()) == becomes
        ]
        if names:
            listed = ", ".join(names[:FEW]) + (", ..." if len(names) > FEW else "")
            lines.append(
                f"{len(names)} of a kind that is read and not written become {becomes}: {listed}"
            )
    return lines
