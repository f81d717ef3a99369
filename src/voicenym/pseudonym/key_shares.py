"""Shares of a key: several people hold one each, and some of them together make the key again.

Shamir's secret sharing in the form of SLIP-0039 (SatoshiLabs, 2019): a share is a sentence of 33
words with a checksum, which can be printed and typed. Fewer shares than needed say nothing about
the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from voicenym.errors import DependencyError, KeyFileError
from voicenym.pseudonym.secret_key import Key

HEADER = "voicenym-key-share-1"
MOST_SHARES = 16
"""Of SLIP-0039."""


@dataclass(frozen=True)
class Share:
    """One share.

    Args:
        number: of the share, from 1.
        count: of all shares.
        need: shares that make the key.
        check: tag of the key.
        revisions: of systems, as of :class:`voicenym.Key`.
        words: of the share, the secret part.
    """

    number: int
    count: int
    need: int
    check: str
    revisions: Mapping[str, int]
    words: str

    def text(self) -> str:
        """Content of a share's file."""
        lines = [
            HEADER,
            f"share {self.number} of {self.count}, {self.need} needed",
            f"check {self.check}",
            *(f"revision {name} {self.revisions[name]}" for name in sorted(self.revisions)),
            f"words {self.words}",
        ]
        return "\n".join(lines) + "\n"

    @classmethod
    def parse(cls, text: str, name: str) -> Share:
        """Share of a file's content.

        Args:
            text: content.
            name: of the file, for messages.

        Raises:
            KeyFileError: it is no share, or damaged.
        """
        lines = text.splitlines()
        if lines[:1] != [HEADER]:
            raise KeyFileError(f"{name}: no share of a key; voicenym key split writes shares")
        try:
            _, number, _, count, need, _ = lines[1].replace(",", "").split()
            fields = [line.split(" ", 1) for line in lines[2:] if line]
            revisions = [rest.split() for key, rest in fields if key == "revision"]
            (check,) = [rest for key, rest in fields if key == "check"]
            (words,) = [rest for key, rest in fields if key == "words"]
            found = {system: int(revision) for system, revision in revisions}
            return cls(int(number), int(count), int(need), check, found, words)
        except ValueError:
            raise KeyFileError(
                f"{name}: the share is damaged; restore it from a copy, or use another share"
            ) from None


def split(key: Key, count: int, need: int) -> list[Share]:
    """Shares of a key; every ``need`` of them make it again.

    Args:
        key: whose revisions are known (a stored key).
        count: shares, 2 to 16.
        need: shares that make the key, 2 to ``count``.

    Raises:
        KeyFileError: numbers that make no sense.
        DependencyError: the package for shares is not installed.
    """
    if not 2 <= need <= count <= MOST_SHARES:
        raise KeyFileError(
            f"{need} of {count} shares: give 2 to {MOST_SHARES} shares, of which at least 2 and "
            "at most all are needed"
        )
    (group,) = _library().generate_mnemonics(1, [(need, count)], key._secret)
    revisions = key.revisions or {}
    return [
        Share(number, count, need, _check(key), revisions, words)
        for number, words in enumerate(group, 1)
    ]


def join(shares: Sequence[Share]) -> Key:
    """The key of shares.

    Raises:
        KeyFileError: too few, of several keys, or a word is wrong.
        DependencyError: the package for shares is not installed.
    """
    if not shares:
        raise KeyFileError("no shares; give the files of as many as are needed")
    first = shares[0]
    if any((one.check, one.revisions) != (first.check, first.revisions) for one in shares):
        raise KeyFileError("the shares are of different keys; give shares of one key")
    distinct = {one.words: one for one in shares}
    if len(distinct) < first.need:
        raise KeyFileError(
            f"{len(distinct)} of the {first.need} shares that are needed; ask the holders of "
            f"{first.need - len(distinct)} more"
        )
    library = _library()
    try:
        secret = library.combine_mnemonics(list(distinct)[: first.need])
    except library.MnemonicError as error:
        raise KeyFileError(
            f"the shares do not fit together ({error}); check the words of each, or use another"
        ) from None
    key = Key(secret, first.revisions)
    if _check(key) != first.check:
        raise KeyFileError("the shares make another key; check the words of each, or use another")
    return key


def _check(key: Key) -> str:
    return key.tag("key check")[:16]


def _library() -> ModuleType:
    try:
        import shamir_mnemonic
    except ImportError:
        raise DependencyError(
            "shares of keys need the package shamir-mnemonic: pip install 'voicenym[shares]'"
        ) from None
    module: ModuleType = shamir_mnemonic
    return module
