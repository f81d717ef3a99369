"""Sets the time stamps of all outputs of a renamed corpus to one constant."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

CONSTANT = 946_684_800
"""2000-01-01 00:00:00 UTC, in seconds since 1970: late enough for every archive format."""


def level(paths: Iterable[Path]) -> None:
    """Sets times of modification and access to the constant; missing files are ignored."""
    for path in paths:
        with contextlib.suppress(OSError):
            os.utime(path, (CONSTANT, CONSTANT), follow_symlinks=False)


def folders_of(outputs: Iterable[Path], root: Path) -> set[Path]:
    """Folders that hold outputs, up to and including ``root``."""
    found = {root}
    for output in outputs:
        for folder in output.parents:
            if folder in found or not folder.is_relative_to(root):
                break
            found.add(folder)
    return found
