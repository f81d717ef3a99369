"""Keys of a server by owner and id: files that only the server reads, and that never travel."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from voicenym.apps.web.problem_details import Problem, disk_full, is_disk_full
from voicenym.apps.web.quiet_log import LOGGER
from voicenym.errors import DiskFullError, KeyFileError, VoicenymError
from voicenym.private import private_folder
from voicenym.pseudonym import Key

ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Ids of keys; owners have dots as well, so that ``..`` must be refused."""
MOST_KEYS = 100
"""Keys of an owner."""


class KeyStore:
    """Folder of keys, one folder of mode 0700 for each owner, and files of mode 0600.

    An owner is the name of a token (:class:`~voicenym.apps.web.bearer_tokens.BearerTokens`), so
    that a key is used only by the token that it belongs to.

    Args:
        folder: made with mode 0700.

    Raises:
        VoicenymError: the folder cannot be made private.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = private_folder(folder)

    def key(self, owner: str, key_id: str) -> Key:
        """A key.

        Raises:
            Problem: 404 if the owner has no key of this id, whoever else does.
            KeyFileError: its file is damaged.
        """
        try:
            return Key.load(self._there(owner, key_id))
        except KeyFileError:
            raise Problem(
                500, "The key's file is damaged.", "Ask the operator for a copy of the file."
            ) from None

    def make(self, owner: str, key_id: str) -> None:
        """Makes a key.

        Raises:
            Problem: 409 if there is one of this id; 422 if there are too many; 500 or 507 if it
                cannot be written.
        """
        path = self._path(owner, key_id)
        with _changing():
            private_folder(path.parent)
        if path.exists():
            raise Problem(409, "There is a key of this id.", "Choose another id.")
        if len(self.ids(owner)) >= MOST_KEYS:
            raise Problem(422, f"There are {MOST_KEYS} keys.", "Delete one of them first.")
        with _changing():
            Key.generate().save(path)

    def delete(self, owner: str, key_id: str) -> None:
        """Deletes a key, also a damaged one: nobody can link its voices any more.

        Raises:
            Problem: 404 if the owner has no key of this id; 500 if it cannot be deleted.
        """
        path = self._there(owner, key_id)
        with _changing():
            path.unlink(missing_ok=True)

    def ids(self, owner: str) -> list[str]:
        """Ids of an owner's keys."""
        folder = self._owner_folder(owner)
        return sorted(path.stem for path in folder.glob("*.key")) if folder.is_dir() else []

    def _there(self, owner: str, key_id: str) -> Path:
        """File of a key that exists."""
        path = self._path(owner, key_id)
        if not path.is_file():
            raise Problem(
                404,
                "This token has no key of this id.",
                "Make one by POST /v1/keys, or leave key_id out for a voice that is forgotten.",
            )
        return path

    def _owner_folder(self, owner: str) -> Path:
        return self._folder / f"of-{owner}"  # no owner's name is a path: see BearerTokens

    def _path(self, owner: str, key_id: str) -> Path:
        if not ID.fullmatch(key_id):
            raise Problem(
                422,
                "key_id is not an id of a key.",
                "Use 1 to 64 letters, digits, hyphens and underscores.",
            )
        return self._owner_folder(owner) / f"{key_id}.key"


@contextmanager
def _changing() -> Iterator[None]:
    """Context manager of a change of files, in which an error is the operator's to mend.

    Raises:
        Problem: 507 for a full disk, 500 for another reason, which the log names.
    """
    try:
        yield
    except (OSError, VoicenymError) as error:
        if isinstance(error, DiskFullError) or is_disk_full(error):
            raise disk_full() from None
        found = error if isinstance(error, OSError) else error.__cause__ or error.__context__
        reason = getattr(found, "strerror", None) or type(error).__name__
        logging.getLogger(LOGGER).error("the folder of keys cannot be changed (%s)", reason)
        raise Problem(
            500,
            "The server cannot change its keys.",
            "Tell the operator, who finds why in the log.",
        ) from None
