"""Places of the output of ``voicenym anonymize --rttm`` and of what is written beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from voicenym.errors import DiarizationError


def check_places(
    source: Path, target: Path, timeline: Path | None, transcript: bool, overwrite: bool
) -> None:
    """Refuses places and kinds of outputs before the work for them."""
    from voicenym.audio.atomic import sweep
    from voicenym.audio.container_files.containers import container_of
    from voicenym.corpus.plans.output_target import check_target
    from voicenym.corpus.sound_edits import check_log_place, transcript_path

    sweep(target.parent)  # what a killed run left, also if this one is refused
    check_target(source, target, overwrite)
    container_of(target, str(target))
    if transcript:
        check_target(source, transcript_path(target), overwrite)
        check_log_place(target, overwrite)
    if timeline is not None:
        sweep(timeline.parent)
        _check_timeline(timeline, overwrite)
        if not timeline.parent.is_dir() and timeline.parent.resolve() != target.parent.resolve():
            raise DiarizationError(f"{timeline}: its folder does not exist; create it first")


def _check_timeline(path: Path, overwrite: bool) -> None:
    """Refuses a place of the timeline that is taken.

    Raises:
        DiarizationError: with the cure.
    """
    if path.is_dir():
        raise DiarizationError(f"{path}: is a folder; name a file with --timeline")
    if not overwrite and os.path.lexists(path):
        raise DiarizationError(
            f"{path}: exists already; add --overwrite to replace it, or choose another name with "
            "--timeline"
        )


@contextmanager
def folder_of(target: Path) -> Iterator[None]:
    """Context manager with the folder of an output; after an error, what was made for it is gone.

    A folder with something in it stays, such as the parts of a run that was interrupted.
    """
    from voicenym.audio.atomic import write_failed

    made = [path for path in target.parents if not path.exists()]
    try:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_failed(str(target), error) from None
        yield
    except BaseException:
        for path in made:
            with suppress(OSError):
                path.rmdir()
        raise
