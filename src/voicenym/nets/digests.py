"""Pinned SHA-256 digests of the bundled weights.

The table is made by ``make digests`` and lies beside this file, under version control. A folder
inside the package is only loaded if each of its files is in the table and has its digest. The
digest of weights is computed anyway when they are loaded (:mod:`voicenym.nets.checkpoint`), so that
this costs nothing but the digest of a ``config.json``.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from voicenym.errors import VoicenymError

PACKAGE = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name("digests.json")


@cache
def pinned() -> dict[str, str]:
    """SHA-256 by path within the package, in hexadecimal digits."""
    digests: dict[str, str] = json.loads(TABLE.read_text("utf-8"))
    return digests


def verify(path: Path, content: bytes | str, stored: Path | None = None) -> bool:
    """Rejects a file of the package that differs from this release; other files are not checked.

    Args:
        path: of the file.
        content: of the file, or its SHA-256 in hexadecimal digits.
        stored: file that holds it in another form, for the message.

    Returns:
        Whether the file is one of the package, and so as it was released.

    Raises:
        VoicenymError: another digest than the pinned one, or none is pinned.
    """
    try:
        name = path.resolve().relative_to(PACKAGE).as_posix()
    except ValueError:
        return False
    found = content if isinstance(content, str) else hashlib.sha256(content).hexdigest()
    wanted = pinned().get(name)
    if found != wanted:
        expected = f"{wanted[:16]}..." if wanted else "that of any file of this release"
        raise VoicenymError(
            f"{stored or path}: not what this release of voicenym brings (its SHA-256 is "
            f"{found[:16]}..., not {expected}); install voicenym again, or give weights of your "
            "own by --weights"
        )
    return True
