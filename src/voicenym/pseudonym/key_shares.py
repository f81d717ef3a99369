"""Shares of a key: several people hold one each, and some of them together make the key again.

Shamir's secret sharing in the form of SLIP-0039 (SatoshiLabs, 2019): a share is a sentence of 33
words with a checksum, which can be printed and typed. Fewer shares than needed say nothing about
the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from voicenym.errors import DependencyError, KeyFileError
from voicenym.pseudonym import key_file, secret_files
from voicenym.pseudonym.secret_key import Key

HEADER = f"{key_file.SHARE}1"
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
        place: its file, for messages.
    """

    number: int
    count: int
    need: int
    check: str
    revisions: Mapping[str, int]
    words: str
    place: str = field(default="", compare=False)

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
        # editors add a byte order mark, blanks and empty lines; whoever types a share, capitals
        lines = [line.strip() for line in text.removeprefix("\ufeff").splitlines() if line.strip()]
        if lines[:1] != [HEADER]:
            raise KeyFileError(f"{name}: no share of a key; voicenym key split writes shares")
        try:
            _, number, _, count, need, _ = lines[1].replace(",", "").split()
            fields = [line.split(maxsplit=1) for line in lines[2:]]
            revisions = [rest.split() for key, rest in fields if key == "revision"]
            (check,) = [rest for key, rest in fields if key == "check"]
            (words,) = [rest for key, rest in fields if key == "words"]
            found = {system: _number(revision) for system, revision in revisions}
            if len(found) < len(revisions) or key_file.DERIVATION in found:
                raise ValueError("not as a key file has revisions")
            words = " ".join(words.lower().split())
            return cls(_number(number), _number(count), _number(need), check, found, words, name)
        except (ValueError, IndexError):
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
        KeyFileError: too few, of several keys or divisions, or a word is wrong; it names the share.
        DependencyError: the package for shares is not installed.
    """
    if not shares:
        raise KeyFileError("no shares; give the files of as many as are needed")
    first = shares[0]
    for one in shares:
        if (one.check, one.revisions) != (first.check, first.revisions):
            raise KeyFileError(
                f"{_name(first)} and {_name(one)} are of different keys, or a line of one of them "
                "is damaged; give shares of one key"
            )
    distinct = {one.words: one for one in shares}
    if len(distinct) < first.need:
        raise KeyFileError(
            f"{len(distinct)} of the {first.need} shares that are needed; ask the holders of "
            f"{first.need - len(distinct)} more"
        )
    library = _library()
    divisions = [_division(one) for one in distinct.values()]
    for one, division in zip(distinct.values(), divisions, strict=True):
        if division != divisions[0]:
            raise KeyFileError(
                f"{_name(first)} and {_name(one)} do not fit together: they come from two runs of "
                "voicenym key split; give shares of one run"
            )
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


def save(shares: Sequence[Share], folder: Path) -> None:
    """Writes shares into a new folder and flushes them to the disk: the key may be destroyed then.

    Args:
        shares: each gets a file ``share-NUMBER.txt``, readable by its owner only.
        folder: to make, for its owner only.

    Raises:
        KeyFileError: the folder exists, or the shares cannot be written.
    """
    try:
        folder.mkdir(mode=0o700)
        for share in shares:
            secret_files.write_private(folder / f"share-{share.number}.txt", share.text())
        secret_files.flush_folder(folder.absolute().parent)
    except OSError as error:
        raise KeyFileError(
            f"{folder}: the shares cannot be written ({error.strerror}); name a new folder"
        ) from None


def load(path: Path) -> Share:
    """Share of a file.

    Raises:
        KeyFileError: it cannot be read, is no share, or is damaged.
    """
    try:
        text = secret_files.content(path, key_file.MOST_KEY_FILE).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "no text"
        raise KeyFileError(f"{path}: the share cannot be read ({why})") from None
    return Share.parse(text, str(path))


def _number(text: str) -> int:
    """A number from 1.

    Raises:
        ValueError: it is none.
    """
    number = key_file.revision_of(text.encode())
    if number is None:
        raise ValueError("no number from 1")
    return number


def _name(share: Share) -> str:
    return share.place or f"share {share.number}"


def _division(share: Share) -> int:
    """Number that all shares of one division have in common.

    Raises:
        KeyFileError: the checksum shows that a word is wrong, or the words need other shares.
    """
    _library()
    from shamir_mnemonic import MnemonicError
    from shamir_mnemonic.share import Share as Words

    try:
        found = Words.from_mnemonic(share.words)
    except MnemonicError:
        raise KeyFileError(
            f"{_name(share)}: a word of the share is wrong; compare it with the paper or file that "
            "it was copied from, or use another share"
        ) from None
    if found.member_threshold != share.need:
        raise KeyFileError(
            f"{_name(share)}: the share is damaged: its words are of a key that needs "
            f"{found.member_threshold} shares, and not {share.need}; restore it from a copy"
        )
    number: int = found.identifier
    return number


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
