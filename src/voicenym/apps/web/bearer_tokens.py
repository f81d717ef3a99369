"""Bearer tokens: who may use a server, from a private file with one name and token a line."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from voicenym.apps.web.problem_details import Problem
from voicenym.errors import VoicenymError
from voicenym.private import open_private, others_can_open

LEAST = 32
"""Characters of a token; those of :func:`add_token` have 43, which are 256 random bits."""
_TOKEN = re.compile(rf"[!-~]{{{LEAST},}}")
"""Header fields of HTTP hold no others in a way that clients agree on."""
_OWNER = re.compile(r"[A-Za-z0-9._-]{1,64}")


class BearerTokens:
    """Tokens and their owners. Only digests are kept in memory.

    Args:
        tokens: owner to token.
    """

    def __init__(self, tokens: dict[str, str]) -> None:
        self._digests = {owner: _digest(token) for owner, token in tokens.items()}

    @classmethod
    def load(cls, path: Path) -> BearerTokens:
        """Reads a token file: lines of an owner, a space and a token; ``#`` begins a comment.

        Raises:
            VoicenymError: it cannot be read; others can read it; it is malformed or empty.
        """
        try:
            if others_can_open(path):
                raise VoicenymError(
                    f"{path}: others can read these tokens; close it with: chmod 600 {path}"
                )
            lines = path.read_text("utf-8-sig").splitlines()  # editors may begin with a mark
        except OSError as error:
            raise VoicenymError(
                f"{path}: cannot read the tokens ({error.strerror}); check the name, or make the "
                "file with --new-token NAME"
            ) from None
        except UnicodeDecodeError:
            raise VoicenymError(f"{path}: is no token file; make one with --new-token") from None
        tokens: dict[str, str] = {}
        for number, line in enumerate(lines, 1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            if len(words) != 2 or not _OWNER.fullmatch(words[0]) or not _TOKEN.fullmatch(words[1]):
                raise VoicenymError(
                    f"{path}: line {number} is not a name and a token of at least {LEAST} letters, "
                    "digits and signs of ASCII; make one with --new-token"
                )
            if words[0] in tokens or words[1] in tokens.values():
                raise VoicenymError(f"{path}: line {number} repeats a name or a token; remove it")
            tokens[words[0]] = words[1]
        if not tokens:
            raise VoicenymError(f"{path}: holds no token; make one with --new-token")
        return cls(tokens)

    def __len__(self) -> int:
        return len(self._digests)

    def owner(self, token: str) -> str | None:
        """Owner of a token; None for an unknown one. Every stored digest is compared in constant
        time, whichever matches.
        """
        given, found = _digest(token), None
        for owner, digest in self._digests.items():
            if hmac.compare_digest(digest, given):
                found = owner
        return found

    def authenticate(self, authorization: str | None) -> str:
        """Owner of the token of a header ``Authorization: Bearer TOKEN``.

        Raises:
            Problem: 401 without a known token.
        """
        kind, _, token = (authorization or "").partition(" ")
        owner = self.owner(token.strip()) if kind.lower() == "bearer" else None
        if owner is None:
            raise Problem(
                401,
                "The request has no token that this server knows.",
                "Send the header Authorization: Bearer TOKEN with a token of its token file.",
                {"WWW-Authenticate": "Bearer"},
            )
        return owner


def add_token(path: Path, owner: str) -> str:
    """Appends a new token to a token file, which is made with mode 0600 if it is missing.

    Args:
        path: the file.
        owner: letters, digits, dots, hyphens and underscores, at most 64.

    Returns:
        The token, which is shown once.

    Raises:
        VoicenymError: the name has other characters or is taken, or the file cannot be written.
    """
    if not _OWNER.fullmatch(owner):
        raise VoicenymError(
            f"{owner[:64]!r}: a token's name has 1 to 64 letters, digits and .-_; choose another"
        )
    if path.exists() and path.stat().st_size and owner in BearerTokens.load(path)._digests:
        raise VoicenymError(f"{path}: has a token named {owner}; choose another name")
    token = secrets.token_urlsafe(32)
    try:
        with open_private(path, "r+b") as file:
            length = file.seek(0, os.SEEK_END)
            file.seek(max(0, length - 1))
            if file.read(1) not in (b"", b"\n"):  # an editor may leave out the last newline
                file.write(b"\n")
            file.write(f"{owner} {token}\n".encode())
    except OSError as error:
        raise VoicenymError(f"{path}: cannot write the tokens ({error.strerror})") from None
    return token


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
