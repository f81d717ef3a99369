"""Index of a WebDataset shard: samples of a tar, and where their members lie.

Members are read in place: no name in the archive is ever opened or created, links, devices and
sparse members are refused, and sizes are checked against the file before anything is read.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from voicenym.corpus.readers.id_checks import check_id, printable
from voicenym.corpus.shards.formats.shard_sample import MOST_TEXT, is_sound
from voicenym.errors import CorpusError

MOST_HEADER = 1 << 20
"""Most bytes of a member's header, long names and attributes included."""
MOST_MEMBERS = 2_000_000
"""Most members of a shard."""
BLOCK = tarfile.BLOCKSIZE
PADDING = 1 << 16
"""Bytes after the end mark that are read at a time."""
TEXTS = ("txt", "cls")
"""Extensions of members that may be kept as they are."""
CURE = "get a whole copy of it"


@dataclass(frozen=True)
class TarMember:
    """A member: its extension after the key, and where its bytes lie."""

    extension: str
    start: int
    size: int

    @property
    def suffix(self) -> str:
        """Its last extension, with the dot."""
        return f".{self.extension.rsplit('.', 1)[-1]}"


@dataclass
class TarSample:
    """Members of one key.

    Args:
        name: the key.
        members: by extension.
        fault: why it cannot be used; empty if it can.
    """

    name: str
    members: dict[str, TarMember] = field(default_factory=dict)
    fault: str = ""

    @property
    def sounds(self) -> list[TarMember]:
        """Its recordings."""
        return [m for m in self.members.values() if is_sound(m.suffix)]


class _HeadersOnly:
    """A file from which headers of a limited size are read.

    All bytes of a member's headers count, since a header can be read in pieces, as Python 3.14.8
    does (gh-151497), and headers can follow each other.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = MOST_HEADER
        self.seek, self.tell = file.seek, file.tell

    def begin_member(self) -> None:
        """What is read from here on is another member's."""
        self._left = MOST_HEADER

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= self._left:
            raise tarfile.ReadError("a header is larger than 1 MiB")
        self._left -= size
        return self._file.read(size)


OnFields = Callable[[TarSample, dict[str, Any]], None]
"""Receives the fields of a sample's ``.json``, of which nothing is kept here."""


def index(
    file: BinaryIO, where: str, lenient: bool = False, on_fields: OnFields | None = None
) -> list[TarSample]:
    """Samples of a shard in their order, without their recordings and fields.

    Only headers are read, and each ``.json`` where it lies if somebody wants the fields.

    Args:
        file: the tar, open at any position.
        where: its name, for messages.
        lenient: accept a tar without an end mark.
        on_fields: receives the fields of each sample; a ``.json`` that is none is its fault.

    Raises:
        CorpusError: it is no tar, damaged or compressed, or goes on after its end mark.
    """
    end = file.seek(0, 2)
    file.seek(0)
    if file.read(2) == b"\x1f\x8b":
        raise CorpusError(f"{where}: is compressed; give it the extension .tar.gz")
    file.seek(0)
    found: dict[str, TarSample] = {}
    count = 0
    try:
        headers = _HeadersOnly(file)
        with tarfile.open(fileobj=cast(Any, headers), mode="r:") as tar:
            while (info := tar.next()) is not None:
                headers.begin_member()
                count += 1
                tar.members = []  # type: ignore[attr-defined]  # it would remember all of them
                if count > MOST_MEMBERS:
                    raise CorpusError(f"{where}: has over {MOST_MEMBERS} members; make more shards")
                if info.size < 0 or info.offset_data + (info.size if info.isreg() else 0) > end:
                    raise CorpusError(f"{where}: ends within {printable(info.name)}; {CURE}")
                sample = _add(found, info, where)
                if sample is not None and on_fields is not None:
                    _tell_fields(file, sample, where, on_fields)
            file.seek(tar.offset)
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise CorpusError(f"{where}: is no whole tar ({printable(str(error))}); {CURE}") from None
    last = file.read(BLOCK)
    if last.strip(b"\0") or (len(last) < BLOCK and not lenient):
        why = "is damaged in the middle" if last.strip(b"\0") else "has no end mark"
        raise CorpusError(f"{where}: {why}; {CURE}")
    if not _only_zeros(file):
        raise CorpusError(
            f"{where}: has data after its end mark, so that samples may follow (two tars in one "
            f"file, or a damaged one); {CURE}, or pack anew what tar --ignore-zeros finds in it"
        )
    return list(found.values())


def _only_zeros(file: BinaryIO) -> bool:
    """Whether the rest of a file is padding."""
    while data := file.read(PADDING):
        if data.count(0) < len(data):
            return False
    return True


def _add(found: dict[str, TarSample], info: tarfile.TarInfo, where: str) -> TarSample | None:
    """Adds a member; its sample, if the member is its ``.json``."""
    if info.isdir():
        return None
    path = PurePosixPath(info.name.removeprefix("./"))
    key, _, extension = path.name.partition(".")
    name = str(path.parent / key) if key else str(path)
    sample = found.setdefault(name, TarSample(name))
    try:
        check_id(where, info.name.removeprefix("./"), folders=True)
    except CorpusError as error:
        sample.fault = str(error)
        return None
    if not info.isreg() or info.issparse():
        sample.fault = (
            f"{where}: {printable(info.name)} is a link, a device or a sparse file; only plain "
            "files are read: make the shard anew without it"
        )
    elif extension in sample.members:
        sample.fault = f"{where}: holds {printable(info.name)} twice; give each sample its own key"
    else:
        sample.members[extension] = TarMember(extension, info.offset_data, info.size)
        return sample if extension == "json" else None
    return None


def _tell_fields(file: BinaryIO, sample: TarSample, where: str, on_fields: OnFields) -> None:
    try:
        fields = fields_of(file, sample, where)
    except CorpusError as error:
        sample.fault = str(error)
    else:
        on_fields(sample, fields or {})


def fields_of(file: BinaryIO, sample: TarSample, where: str) -> dict[str, Any] | None:
    """Fields of a sample's ``.json``; None without one.

    Raises:
        CorpusError: it is too large, or no JSON object.
    """
    member = sample.members.get("json")
    if member is None:
        return None
    try:
        fields = json.loads(text_of(file, member, f"{where} ({sample.name})"))
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise CorpusError(f"{where}: {printable(sample.name)}.json is no JSON object; mend it")
    return fields


def text_of(file: BinaryIO, member: TarMember, where: str) -> str:
    """A member that is text.

    Raises:
        CorpusError: it is too large, or no UTF-8.
    """
    if member.size > MOST_TEXT:
        raise CorpusError(f"{where}: its {member.extension} is larger than 1 MiB; take it out")
    try:
        return bytes_of(file, member).decode("utf-8")
    except UnicodeDecodeError:
        raise CorpusError(f"{where}: its {member.extension} is no UTF-8 text; mend it") from None


def bytes_of(file: BinaryIO, member: TarMember) -> bytes:
    """Content of a member."""
    file.seek(member.start)
    return file.read(member.size)
