"""Anonymizes one item of a batch in a worker process; errors become messages for the user."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from voicenym.anonymizer import Anonymizer, load
from voicenym.anonymizer.registry import GROUP
from voicenym.audio.atomic import AtomicFile, temporary_folder, unnamed_text
from voicenym.corpus.batches.batch import Outcome, WorkerSettings
from voicenym.corpus.batches.single_file import Unnamed, anonymize_unnamed, sha256_of
from voicenym.corpus.plans import timestamps
from voicenym.corpus.plans.file_plan import Item
from voicenym.corpus.plans.output_target import check_target
from voicenym.corpus.sound_edits import SoundEdit, transcript_path
from voicenym.errors import (
    AudioError,
    DependencyError,
    UnknownSystemError,
    VoicenymError,
    WeightsError,
    of_path,
)
from voicenym.pseudonym import Pseudonym
from voicenym.registry import OURS
from voicenym.registry.entry_points import entry_points

Progress = Callable[[float], None]
DEBUG = "VOICENYM_DEBUG"


@dataclass(frozen=True)
class Task:
    """An item to anonymize.

    Args:
        item: the recording.
        pseudonym: of its new voice; a worker has no key.
        compare: whether its output, if it exists, is to be compared with a second one.
    """

    item: Item
    pseudonym: Pseudonym
    compare: bool = False


class SystemFailure(VoicenymError):
    """The system itself cannot run, whatever the recording."""


class Worker:
    """Anonymizes item after item with one system.

    Args:
        settings: of the batch.

    Raises:
        VoicenymError: the system cannot be loaded.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        import torch

        torch.set_num_threads(1)  # the same bits for any number of workers
        self._settings = settings
        self._system = loaded(settings.system, settings.parameters)
        other = settings.fallback
        self._prepare = None if settings.edit is None else settings.edit.editor()
        self._fallback = None if other is None else loaded(other.system, other.parameters)

    def __call__(self, task: Task, progress: Progress | None = None) -> Outcome:
        """Anonymizes one item.

        Raises:
            SystemFailure: weights or a package that the system needs are missing.
        """
        return self.start(task, progress)()

    def start(self, task: Task, progress: Progress | None = None) -> Callable[[], Outcome]:
        """Anonymizes one item, up to the flush of its output to the disk.

        Returns:
            Function that flushes the output, gives it its name and returns the outcome; it may run
            in another thread while the next item is anonymized.

        Raises:
            SystemFailure: weights or a package that the system needs are missing.
        """
        item = task.item
        try:
            digest = input_digest(item) if self._settings.digests else None
            if task.compare and item.target.is_file():
                compared = replace(self._compare(task, progress), input_digest=digest)
                return lambda: compared
            item.target.parent.mkdir(parents=True, exist_ok=True)
            made, edit = self._make(task, item.target, self._settings.overwrite, progress)
        except (WeightsError, DependencyError, UnknownSystemError) as error:
            raise SystemFailure(str(error)) from error
        except Exception as error:
            failed = Outcome(item, None, in_words(error, item))
            return lambda: failed
        return partial(self._finish, item, made, digest, edit)

    def _finish(
        self, item: Item, made: Unnamed, digest: str | None, edit: SoundEdit | None
    ) -> Outcome:
        try:
            text = None if edit is None else self._text(item, edit.transcript)
            try:
                result = made.commit()
                if text is not None:
                    text.commit()
            finally:
                if text is not None:
                    text.discard()
            if self._settings.opaque:
                timestamps.level([item.target, *([] if text is None else [text.path])])
        except Exception as error:
            return Outcome(item, None, in_words(error, item))
        finally:
            if edit is not None:
                edit.finish()
        if edit is None:
            return Outcome(item, result, None, input_digest=digest)
        result = replace(result, warnings=(*edit.warnings, *result.warnings))
        return Outcome(item, result, None, input_digest=digest, edit=edit.log)

    def _text(self, item: Item, transcript: str) -> AtomicFile:
        """The transcript of an item, complete but for its name."""
        return unnamed_text(transcript_path(item.target), transcript, self._settings.overwrite)

    def _make(
        self, task: Task, target: Path, overwrite: bool, progress: Progress | None
    ) -> tuple[Unnamed, SoundEdit | None]:
        item, lenient = task.item, self._settings.lenient
        source = item.source if isinstance(item.source, Path) else item.source.open(lenient)
        edit = None
        if self._prepare is not None:
            check_target(source, target, overwrite)  # before the work of it
            if not overwrite and transcript_path(target).exists():
                raise AudioError(
                    f"{transcript_path(target)}: exists already; add --overwrite to replace it, or "
                    "choose another folder with -o"
                )
            edit = self._prepare(source, str(item.source), lenient)
        system, other = self._system, self._fallback
        if edit is not None:
            system = system.with_text_edit(edit.texts)
            other = None if other is None else other.with_text_edit(edit.texts)
        try:
            made = anonymize_unnamed(
                system,
                task.pseudonym,
                source,
                target,
                name=str(item.source),
                overwrite=overwrite,
                lenient=lenient,
                progress=progress,
                fallback=other,
                **({} if edit is None else {"edit": edit}),
            )
        except Exception:  # not an interruption, after which the next run goes on
            if edit is not None:
                edit.finish()
            raise
        return made, edit

    def _compare(self, task: Task, progress: Progress | None) -> Outcome:
        item = task.item
        with temporary_folder(item.target.parent) as folder:
            made, edit = self._make(task, folder / item.target.name, False, progress)
            try:
                result = made.commit()
            finally:
                if edit is not None:
                    edit.finish()
        if result.sha256 != sha256_of(item.target):
            return Outcome(item, None, taken(item.target))
        if edit is not None and not transcript_path(item.target).exists():
            text = self._text(item, edit.transcript)
            try:
                text.commit()
            finally:
                text.discard()
        if self._settings.opaque:
            timestamps.level([item.target])
        return Outcome(item, result, None, skipped=True, edit=None if edit is None else edit.log)


def loaded(system: str, parameters: Mapping[str, Any]) -> Anonymizer:
    """A system with its parameters, ready.

    Raises:
        VoicenymError: it cannot be loaded.
    """
    try:
        return load(system, **parameters)
    except VoicenymError:
        raise
    except Exception as error:
        raise VoicenymError(f"{system}: cannot be loaded: {in_words(error)}") from error


def input_digest(item: Item) -> str | None:
    """Digest of the recording's content; None without a regular file to read."""
    source = item.source
    path, part = (source, "") if isinstance(source, Path) else (source.path, source.part)
    if path is None:
        return part
    try:
        status = path.stat()
        if not path.is_file():
            return None
        digest = _digest(path, status.st_size, status.st_mtime_ns)
    except OSError:
        return None  # which the reader says in better words
    return f"{digest} {part}" if part else digest


@lru_cache(maxsize=256)
def _digest(path: Path, size: int, modified: int) -> str:
    """SHA-256 of a file, once for all its parts."""
    return sha256_of(path)


def in_words(error: BaseException, item: Item | None = None) -> str:
    """Message of an error for a user; a defect of voicenym is marked as such, with a traceback on
    request.
    """
    about = "" if item is None else f"{item.source}: "
    if isinstance(error, VoicenymError):
        return str(error)
    if isinstance(error, OSError) and error.errno is not None:
        where = f"{error.filename}: " if error.filename else about
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return f"{where}the disk is full; free some space and run again"
        if (told := of_path(error)) is not None:
            return str(told)
        return f"{where}{error.strerror or error}; check space and permissions"
    if _out_of_memory(error):
        return f"{about}needs more memory than there is; use fewer --workers, or split it"
    if os.environ.get(DEBUG):
        traceback.print_exception(error, file=sys.stderr)
    detail = f": {error}" if str(error) else ""
    package = package_of(error)
    whose = f"a defect of the package {package}" if package else "a defect of voicenym"
    return (
        f"{about}internal error ({type(error).__name__}{detail}); this is {whose}, "
        f"please report it with the traceback that {DEBUG}=1 shows"
    )


def package_of(error: BaseException) -> str:
    """Another package with a system, whose code an error passed; empty if it passed none."""
    points = [point for point in entry_points(GROUP) if point.package != OURS]
    owners = {point.place.partition(":")[0].partition(".")[0]: point.package for point in points}
    for frame, _ in traceback.walk_tb(error.__traceback__):
        top = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if top in owners:
            return owners[top]
    return ""


def _out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and "allocate memory" in str(error)


def taken(target: str | Path) -> str:
    """Why an output of this name is not replaced: it is there, with other bytes."""
    return (
        f"{target}: exists already and is not what this run writes there: it was changed since, or "
        "comes from elsewhere (another kind of processor rounds otherwise); keep it under another "
        "name, or add --overwrite to replace it"
    )
