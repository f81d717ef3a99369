"""Folders that other programs' libraries read, such as CTranslate2 and onnxruntime, with a digest.

The package's own formats have the SHA-256 of their weights in ``config.json``, and compare it when
they are loaded. Folders in the formats of others get one of all their files, which is compared
before a library opens them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import CONFIG, DIGEST, configuration

KINDS = ("ctranslate2", "kokoro", "piper")
"""Kinds of the folders, as their ``config.json`` names them."""
BLOCK = 1 << 20


def sealed(files: Iterable[Path], config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with the digest of itself and of the files that lie beside it.

    Args:
        files: all that are read, in any order, but for ``config.json``; their names differ.
        config: with ``kind``, one of :data:`KINDS`.

    Raises:
        OSError: a file cannot be read.
    """
    plain = {name: value for name, value in config.items() if name != DIGEST}
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for path in sorted(files, key=lambda one: one.name):
        digest.update(f"{path.name} {path.stat().st_size} ".encode())
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    return {**plain, DIGEST: digest.hexdigest()}


def check_seal(folder: Path, files: Iterable[Path]) -> None:
    """Refuses a folder that changed since it was pulled or converted.

    A folder that voicenym did not write has no digest, and is not refused.

    Args:
        folder: with ``config.json``.
        files: as of :func:`sealed`.

    Raises:
        VoicenymError: it differs from the digest in its configuration, or cannot be read.
    """
    if not (folder / CONFIG).is_file():
        return
    config = configuration(folder)
    if config.get("kind") not in KINDS or DIGEST not in config:
        return
    try:
        same = sealed(files, config)[DIGEST] == config[DIGEST]
    except OSError as error:
        raise VoicenymError(f"{folder}: cannot be read ({error.strerror})") from error
    if not same:
        raise VoicenymError(
            f"{folder}: not what was pulled or converted, or damaged (its SHA-256 is not the "
            "stored one); delete it, and pull or convert it again"
        )
