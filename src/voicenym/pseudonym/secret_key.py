"""Keys: 32 secret bytes, and the pseudonyms that are derived from them."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from voicenym.errors import KeyFileError
from voicenym.pseudonym import equal_revisions, key_file
from voicenym.pseudonym.derivation import (
    ALL_FIRST,
    FIRST_REVISION,
    KEY_BYTES,
    keyed_hash,
    length_prefixed,
)
from voicenym.pseudonym.random_draws import Pseudonym


class Key:
    """32 secret bytes from which all pseudonyms of a project are derived.

    Equal keys give equal voices: they have the same secret and the same revisions. A generated key
    equals the file that it is saved to, until a release brings a later revision.

    Args:
        secret: exactly 32 bytes.
        revisions: of systems by name, those that the key's voices are made with; a system that is
            not named is at revision 1, so that the same bytes give the same voices in every
            release. None for a new key: every system at its latest.

    Raises:
        KeyFileError: if ``secret`` is not 32 bytes long, or a revision is not one that a key file
            can hold.

    Example:
        >>> key = Key.generate()
        >>> key.pseudonym("speaker-1") == key.pseudonym("speaker-1")
        True
    """

    __slots__ = ("_revisions", "_secret")

    def __init__(self, secret: bytes, revisions: Mapping[str, int] | None = ALL_FIRST) -> None:
        binary = isinstance(secret, (bytes, bytearray, memoryview))
        if not binary or len(secret) != KEY_BYTES:
            given = len(secret) if binary else type(secret).__name__
            raise KeyFileError(
                f"a key is {KEY_BYTES} bytes, not {given}; make one: voicenym key new FILE"
            )
        self._secret = bytes(secret)
        self._revisions = None if revisions is None else key_file.checked_revisions(revisions)

    @classmethod
    def generate(cls) -> Key:
        """A fresh key from the operating system's random source; it is stored nowhere.

        Its voices are those of every system's latest revision.
        """
        return cls(secrets.token_bytes(KEY_BYTES), None)

    @property
    def revisions(self) -> dict[str, int] | None:
        """Revisions of systems by name, with which the key's voices are made; None for the
        latest.
        """
        return None if self._revisions is None else dict(self._revisions)

    def revision(self, system: str) -> int | None:
        """Revision of a system that the key's voices are made with; None for its latest."""
        return None if self._revisions is None else self._revisions.get(system, FIRST_REVISION)

    def with_revisions(self, revisions: Mapping[str, int] | None) -> Key:
        """Key with the same secret and other revisions."""
        return Key(self._secret, revisions)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Key:
        """Reads a key file written by :meth:`save`.

        Raises:
            KeyFileError: missing, unreadable, too short, not a key file, or of a later release.
        """
        return cls(*key_file.read(Path(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the key to a new file that only its owner can read (mode 0600).

        The file names the derivation and the revision of each system; those of a key that was just
        generated are today's latest, so that a later release gives the same voices.

        Raises:
            KeyFileError: if the file exists (a lost key cannot be made again) or cannot be written.
        """
        revisions = equal_revisions.latest() if self._revisions is None else self._revisions
        key_file.write(Path(path), self._secret, revisions)

    def pseudonym(self, speaker: str, utterance: str | None = None) -> Pseudonym:
        """Pseudonym of a speaker, or of one utterance of a speaker.

        Args:
            speaker: label of the speaker; any text, compared exactly.
            utterance: if given, the pseudonym is of this utterance alone, so that two recordings
                of one speaker get unrelated voices (``--per utterance``).

        Raises:
            TypeError: a label is no text, such as a number of a table.
            KeyFileError: a label has a half of a character, which no file of texts holds.
        """
        for label in (speaker, "" if utterance is None else utterance):
            if not isinstance(label, str):
                raise TypeError(
                    f"a label of a speaker or an utterance is text, such as str(label), and no "
                    f"{type(label).__name__}"
                )
        message = length_prefixed(b"voicenym/pseudonym/1") + length_prefixed(_encoded(speaker))
        if utterance is not None:
            message += length_prefixed(_encoded(utterance))
        return Pseudonym(keyed_hash(self._secret, message), self._revisions)

    def tag(self, purpose: str, text: str = "") -> str:
        """Keyed tag: 128 bits in hex that only the holder of the key can compute or check.

        It serves for opaque file names (``--rename``) and for the comparison of keys in logs; it
        reveals nothing about the key.
        """
        message = length_prefixed(b"voicenym/tag/1") + length_prefixed(purpose.encode())
        message += length_prefixed(text.encode("utf-8", "surrogateescape"))
        return keyed_hash(self._secret, message)[:16].hex()

    def __eq__(self, other: object) -> bool:
        """Whether both keys give the same voices in this release: the same secret, compared in
        constant time, and the same revisions, which are no secret.
        """
        return (
            isinstance(other, Key)
            and hmac.compare_digest(self._secret, other._secret)
            and equal_revisions.equal(self._revisions, other._revisions)
        )

    def __hash__(self) -> int:
        # of the secret alone: keys whose revisions are written otherwise may be equal
        return hash(keyed_hash(self._secret, b"hash"))

    def __repr__(self) -> str:
        return "Key(<secret>)"  # never the bytes: reprs end up in logs and tracebacks


def _encoded(label: str) -> bytes:
    """A label in UTF-8; bytes of file names that are not UTF-8 are themselves."""
    try:
        return label.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise KeyFileError(
            f"the label {ascii(label)[:80]} has a half of a character (a surrogate) at "
            f"{error.start}; decode the table that it comes from anew, or give another label"
        ) from None
