"""The folder of a report: whether it can be written, and what is said where it could not be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from voicenym.errors import VoicenymError
from voicenym.private import private_folder


def prepared(folder: Path, other: str) -> None:
    """Makes the folder; one that cannot be written is refused before the work.

    Args:
        folder: of the report.
        other: file of reports of the other kind, of recordings or of vectors. Both kinds have a
            page of one name: in one folder, the page would be of other results than those beside
            it.

    Raises:
        VoicenymError: it cannot be made, cannot be written to, or has a report of the other kind.
    """
    if (folder / other).exists():
        raise VoicenymError(
            f"{folder}: has a report of another kind ({other}), whose page would be replaced; "
            "choose another folder"
        )
    private_folder(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise VoicenymError(f"{folder}: cannot be written to; choose another folder")


@contextmanager
def written(folder: Path, kept: Path | None = None) -> Iterator[None]:
    """Makes an error of the system while the report is written one that a user can mend.

    Args:
        folder: of the report.
        kept: file with what was measured; None if nothing is kept.

    Raises:
        VoicenymError: the disk is full, or another fault that the message names.
    """
    try:
        yield
    except OSError as error:
        place = error.filename2 or folder
        again = "" if kept is None else f", and {kept} keeps what was measured"
        raise VoicenymError(
            f"{place}: the report cannot be written ({error.strerror or error}); mend that and "
            f"give the same command again{again}"
        ) from error
