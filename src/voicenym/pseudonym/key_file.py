"""Key files: a key's secret, and the revisions that its voices are made with, one a line."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Mapping
from numbers import Integral
from pathlib import Path

from voicenym.errors import KeyFileError
from voicenym.pseudonym import secret_files
from voicenym.pseudonym.derivation import ALL_FIRST, DERIVATION_VERSION, KEY_BYTES

MOST_KEY_FILE = 1 << 16
"""Largest size of a key file, in bytes."""
_HEADER = "voicenym-key-1"
SHARE = "voicenym-key-share-"
"""Start of the file of a share."""
_HEADER_2 = "voicenym-key-2"
DERIVATION = "derivation"
"""Name in a key file of the version of the derivation; no system has it."""
MOST_DIGITS = 9
"""Most digits of a revision."""


def revision_of(text: bytes) -> int | None:
    """Number of a revision, from 1; None if the text is none."""
    number = int(text) if text.isdigit() and len(text) <= MOST_DIGITS else 0
    return number or None


def checked_revisions(revisions: Mapping[str, int]) -> dict[str, int]:
    """Revisions that a key file can hold: else the key would be lost with its file.

    Raises:
        KeyFileError: no mapping of systems' names to whole numbers from 1.
    """
    if not isinstance(revisions, Mapping):
        raise KeyFileError(
            f"revisions of a key are numbers by system, not {type(revisions).__name__}; leave them "
            "out, or take those of voicenym.revisions()"
        )
    for name, number in revisions.items():
        whole = isinstance(number, Integral) and not isinstance(number, bool)
        if not (isinstance(name, str) and name.split() == [name] and name != DERIVATION):
            raise KeyFileError(f"a key has no revision of {name!r}; give a system's name")
        if not whole or revision_of(str(number).encode()) is None:
            raise KeyFileError(f"{name}: a revision is a whole number from 1, not {number!r}")
    return {name: int(number) for name, number in revisions.items()}


def read(path: Path) -> tuple[bytes, Mapping[str, int]]:
    """Secret and revisions of a key file.

    Raises:
        KeyFileError: missing, unreadable, too short, not a key file, or of a later release.
    """
    try:
        data = secret_files.content(path, MOST_KEY_FILE)
    except FileNotFoundError:
        raise KeyFileError(
            f"{path}: no such key file; for new recordings make one with: voicenym key new {path}; "
            "a lost key comes back from a copy or from its shares only (voicenym key join)"
        ) from None
    except OSError as error:
        raise KeyFileError(f"{path}: cannot read the key file ({error.strerror})") from None
    data = data.removeprefix(codecs.BOM_UTF8)  # of editors
    if data.lstrip().startswith(SHARE.encode()):
        raise KeyFileError(
            f"{path}: is a share of a key; make the key of as many shares as are needed: "
            "voicenym key join SHARE SHARE ... -o KEY"
        )
    first, _, rest = data.partition(b"\n")
    words = first.split() if data.startswith(_HEADER_2.encode()) else data.split()
    if len(words) != 2 or words[0] not in (_HEADER.encode(), _HEADER_2.encode()):
        raise KeyFileError(
            f"{path}: not a voicenym key (expected a line '{_HEADER_2} <64 hex digits>'); "
            f"make one with: voicenym key new FILE"
        )
    if len(words[1]) != 2 * KEY_BYTES:
        raise KeyFileError(
            f"{path}: the key is too short or too long: {len(words[1])} hex digits instead of "
            f"{2 * KEY_BYTES}; restore it from a copy, a shortened key gives other voices"
        )
    try:
        secret = bytes.fromhex(words[1].decode("ascii"))
    except (ValueError, UnicodeDecodeError):
        raise KeyFileError(
            f"{path}: the key has characters that are not hex digits; restore it from a copy"
        ) from None
    return secret, _revisions_of(path, rest) if words[0] == _HEADER_2.encode() else ALL_FIRST


def write(path: Path, secret: bytes, revisions: Mapping[str, int]) -> None:
    """Writes a new key file that only its owner can read (mode 0600).

    Raises:
        KeyFileError: if the file exists (a lost key cannot be made again) or cannot be written.
    """
    lines = [f"{_HEADER_2} {secret.hex()}", f"{DERIVATION} {DERIVATION_VERSION}"]
    lines += [f"{name} {revisions[name]}" for name in sorted(revisions)]
    try:
        secret_files.write_private(path, "\n".join(lines) + "\n")
    except FileExistsError:
        raise KeyFileError(
            f"{path}: exists already and a key is never overwritten; choose another name"
        ) from None
    except OSError as error:
        raise KeyFileError(
            f"{path}: cannot write the key file ({error.strerror}); name it in a folder that is "
            "there and that you may write to"
        ) from None


def _revisions_of(path: Path, lines: bytes) -> dict[str, int]:
    """Revisions in a key file, line by line, after its key.

    Raises:
        KeyFileError: malformed, or of a derivation that this release does not know.
    """
    revisions: dict[str, int] = {}
    for place, line in enumerate(lines.splitlines(), 2):
        words = line.split()
        if not words:
            continue
        name = words[0].decode("utf-8", "replace")
        number = revision_of(words[1]) if len(words) == 2 else None
        if number is None or name in revisions:
            raise KeyFileError(
                f"{path}: damaged: line {place} is not a system's name and its revision; restore "
                "it from a copy, other revisions give other voices"
            )
        revisions[name] = number
    derivation = revisions.pop(DERIVATION, None)
    if derivation is None:
        raise KeyFileError(
            f"{path}: damaged: no line '{DERIVATION} {DERIVATION_VERSION}'; restore it from a copy"
        )
    if derivation != DERIVATION_VERSION:
        raise KeyFileError(
            f"{path}: made for version {derivation} of the derivation of voices, which this "
            f"release ({DERIVATION_VERSION}) does not know; use the release that made the key"
        )
    return revisions


def readable_by_others(path: str | os.PathLike[str]) -> bool:
    """Whether a key file may be read by group or others (POSIX permissions)."""
    mode = os.stat(path).st_mode
    return os.name == "posix" and bool(mode & (stat.S_IRGRP | stat.S_IROTH))
