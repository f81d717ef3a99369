"""Errors of the machine, apart from those of a recording."""

from __future__ import annotations

import errno

MACHINE = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO),
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM),
)
"""Errors of the machine, after which a rerun may succeed."""


def of_machine(error: BaseException | None) -> bool:
    """Whether the machine failed, and not the recording: disk or memory full, too many files."""
    while error is not None:
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
            return True
        if isinstance(error, OSError) and error.errno in MACHINE:
            return True
        error = error.__cause__ or error.__context__
    return False
