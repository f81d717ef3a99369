"""Keys and pseudonyms: the only source of randomness in a system.

A key is 32 secret bytes. ``key.pseudonym(speaker)`` derives a secret for that speaker by
HMAC-SHA-256 (RFC 2104), and every random number of a pseudo-voice is derived from that secret by
purpose. One key therefore gives one speaker the same voice on any machine, in any order, in
parallel; without the key nobody can recompute it, and the deletion of the key removes the link.

Derivation, version 1 (pinned by known-answer tests; a change of it is a new version)::

    field(x)        = uint64_be(len(x)) || x
    speaker level   = HMAC(key, field("voicenym/pseudonym/1") || field(speaker))
    utterance level = HMAC(key, field("voicenym/pseudonym/1") || field(speaker) || field(utterance))
    block(p, i)     = HMAC(secret, field("voicenym/stream/1") || field(p) || uint64_be(i))

Voice parameters (:meth:`Pseudonym.uniform`, :meth:`Pseudonym.normal`, :meth:`Pseudonym.index`) are
computed from the blocks directly, because the distributions of ``numpy.random.Generator`` and
``torch.Generator`` may change between releases and a voice must not.

A key file also says which derivation and which revision of each system its voices are made with, so
that an upgrade of the package changes no voice (docs/howto/keys.md).
"""

from __future__ import annotations

import hashlib
import hmac
import math
import os
import secrets
import stat
import struct
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from voicenym.errors import KeyFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy
    import torch

DERIVATION_VERSION = 1
KEY_BYTES = 32
FIRST_REVISION = 1
"""Revision of systems that a key does not name."""
MOST_KEY_FILE = 1 << 16
"""Largest size of a key file, in bytes."""
_HEADER = "voicenym-key-1"
_HEADER_2 = "voicenym-key-2"
_DERIVATION = "derivation"
_ALL_FIRST: Mapping[str, int] = MappingProxyType({})


def _field(data: bytes) -> bytes:
    """Length-prefixed field, so that different lists of fields give different messages."""
    return struct.pack(">Q", len(data)) + data


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


class Key:
    """32 secret bytes from which all pseudonyms of a project are derived.

    Args:
        secret: exactly 32 bytes.
        revisions: of systems by name, those that the key's voices are made with; a system that is
            not named is at revision 1, so that the same bytes give the same voices in every
            release. None for a new key: every system at its latest.

    Raises:
        KeyFileError: if ``secret`` is not 32 bytes long.

    Example:
        >>> key = Key.generate()
        >>> key.pseudonym("speaker-1") == key.pseudonym("speaker-1")
        True
    """

    __slots__ = ("_revisions", "_secret")

    def __init__(self, secret: bytes, revisions: Mapping[str, int] | None = _ALL_FIRST) -> None:
        if len(secret) != KEY_BYTES:
            raise KeyFileError(
                f"a key is {KEY_BYTES} bytes, not {len(secret)}; make one: voicenym key new FILE"
            )
        self._secret = bytes(secret)
        self._revisions = None if revisions is None else dict(revisions)

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
        path = Path(path)
        try:
            with path.open("rb") as file:
                data = file.read(MOST_KEY_FILE)
        except FileNotFoundError:
            raise KeyFileError(
                f"{path}: no such key file; make one with: voicenym key new {path}"
            ) from None
        except OSError as error:
            raise KeyFileError(f"{path}: cannot read the key file ({error.strerror})") from None
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
        return cls(
            secret, _revisions_of(path, rest) if words[0] == _HEADER_2.encode() else _ALL_FIRST
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the key to a new file that only its owner can read (mode 0600).

        The file names the derivation and the revision of each system; those of a key that was just
        generated are today's latest, so that a later release gives the same voices.

        Raises:
            KeyFileError: if the file exists (a lost key cannot be made again) or cannot be written.
        """
        path = Path(path)
        revisions: Mapping[str, int] | None = self._revisions
        if revisions is None:
            # keys know no systems: the package, found at run time, does
            revisions = import_module("voicenym").revisions()
        assert revisions is not None
        lines = [f"{_HEADER_2} {self._secret.hex()}", f"{_DERIVATION} {DERIVATION_VERSION}"]
        lines += [f"{name} {revisions[name]}" for name in sorted(revisions)]
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise KeyFileError(
                f"{path}: exists already and a key is never overwritten; choose another name"
            ) from None
        except OSError as error:
            raise KeyFileError(f"{path}: cannot write the key file ({error.strerror})") from None
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            path.unlink(missing_ok=True)
            raise KeyFileError(f"{path}: cannot write the key file ({error.strerror})") from None

    def pseudonym(self, speaker: str, utterance: str | None = None) -> Pseudonym:
        """Pseudonym of a speaker, or of one utterance of a speaker.

        Args:
            speaker: label of the speaker; any text, compared exactly.
            utterance: if given, the pseudonym is of this utterance alone, so that two recordings
                of one speaker get unrelated voices (``--per utterance``).
        """
        message = _field(b"voicenym/pseudonym/1") + _field(
            speaker.encode("utf-8", "surrogateescape")
        )
        if utterance is not None:
            message += _field(utterance.encode("utf-8", "surrogateescape"))
        return Pseudonym(_hmac(self._secret, message), self._revisions)

    def tag(self, purpose: str, text: str = "") -> str:
        """Keyed tag: 128 bits in hex that only the holder of the key can compute or check.

        It serves for opaque file names (``--rename``) and for the comparison of keys in logs; it
        reveals nothing about the key.
        """
        message = _field(b"voicenym/tag/1") + _field(purpose.encode())
        message += _field(text.encode("utf-8", "surrogateescape"))
        return _hmac(self._secret, message)[:16].hex()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and hmac.compare_digest(self._secret, other._secret)

    def __hash__(self) -> int:
        return hash(_hmac(self._secret, b"hash"))

    def __repr__(self) -> str:
        return "Key(<secret>)"  # never the bytes: reprs end up in logs and tracebacks


class Pseudonym:
    """Randomness of one pseudo-voice: independent streams of numbers by purpose.

    Made by :meth:`Key.pseudonym`. Equal pseudonyms give equal voices.

    Args:
        secret: of this speaker under this key.
        revisions: as of :class:`Key`.
    """

    __slots__ = ("_revisions", "_secret")

    def __init__(self, secret: bytes, revisions: Mapping[str, int] | None = _ALL_FIRST) -> None:
        self._secret = bytes(secret)
        self._revisions = revisions

    def revision(self, system: str) -> int | None:
        """Revision of a system that this voice is made with; None for the system's latest."""
        return None if self._revisions is None else self._revisions.get(system, FIRST_REVISION)

    def _words(self, purpose: str) -> Iterator[int]:
        """Endless stream of independent 64-bit words for a purpose."""
        prefix = _field(b"voicenym/stream/1") + _field(purpose.encode())
        counter = 0
        while True:
            yield from struct.unpack(
                ">4Q", _hmac(self._secret, prefix + struct.pack(">Q", counter))
            )
            counter += 1

    def uniforms(
        self, purpose: str, count: int, low: float = 0.0, high: float = 1.0
    ) -> list[float]:
        """``count`` independent draws from U(low, high), the same in every release."""
        words = self._words(purpose)
        return [low + (high - low) * ((next(words) >> 11) * 2.0**-53) for _ in range(count)]

    def uniform(self, purpose: str, low: float = 0.0, high: float = 1.0) -> float:
        """One draw from U(low, high)."""
        return self.uniforms(purpose, 1, low, high)[0]

    def normals(self, purpose: str, count: int, mean: float = 0.0, std: float = 1.0) -> list[float]:
        """``count`` independent draws from N(mean, std**2), by the Box-Muller transform."""
        draws = []
        words = self._words(purpose)
        for _ in range(count):
            radius = math.sqrt(-2.0 * math.log(((next(words) >> 11) + 1) * 2.0**-53))
            angle = 2.0 * math.pi * ((next(words) >> 11) * 2.0**-53)
            draws.append(mean + std * radius * math.cos(angle))
        return draws

    def normal(self, purpose: str, mean: float = 0.0, std: float = 1.0) -> float:
        """One draw from N(mean, std**2)."""
        return self.normals(purpose, 1, mean, std)[0]

    def index(self, purpose: str, count: int) -> int:
        """One draw from {0, ..., count - 1}, without modulo bias."""
        limit = (1 << 64) - (1 << 64) % count
        return next(word for word in self._words(purpose) if word < limit) % count

    def rng(self, purpose: str) -> numpy.random.Generator:
        """Generator of numpy for a purpose (noise, large draws)."""
        import numpy

        words = self._words(purpose)
        key = [next(words), next(words)]
        return numpy.random.Generator(numpy.random.Philox(key=numpy.array(key, numpy.uint64)))

    def torch_rng(self, purpose: str) -> torch.Generator:
        """Generator of torch for a purpose, on the CPU so that a GPU gives the same voice."""
        import torch

        return torch.Generator().manual_seed(next(self._words(purpose)) >> 1)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Pseudonym)
            and hmac.compare_digest(self._secret, other._secret)
            and self._revisions == other._revisions
        )

    def __hash__(self) -> int:
        return hash(_hmac(self._secret, b"hash"))

    def __repr__(self) -> str:
        return "Pseudonym(<secret>)"


def _revisions_of(path: Path, lines: bytes) -> dict[str, int]:
    """Revisions in a key file, line by line, after its key.

    Raises:
        KeyFileError: malformed, or of a derivation that this release does not know.
    """
    revisions: dict[str, int] = {}
    for number, line in enumerate(lines.splitlines(), 2):
        words = line.split()
        if not words:
            continue
        name = words[0].decode("utf-8", "replace")
        if len(words) != 2 or not words[1].isdigit() or int(words[1]) < 1 or name in revisions:
            raise KeyFileError(
                f"{path}: damaged: line {number} is not a system's name and its revision; restore "
                "it from a copy, other revisions give other voices"
            )
        revisions[name] = int(words[1])
    derivation = revisions.pop(_DERIVATION, None)
    if derivation is None:
        raise KeyFileError(
            f"{path}: damaged: no line '{_DERIVATION} {DERIVATION_VERSION}'; restore it from a copy"
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
