"""Files of shards as a worker reads them: fetched from their store, and unpacked."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from voicenym.audio.atomic import temporary_folder
from voicenym.corpus.shards.stores import object_store, store_locations
from voicenym.errors import CorpusError, DependencyError
from voicenym.temporary import folder_for_temporary_files

GZIP, ZSTANDARD = (".tar.gz", ".tgz"), (".tar.zst",)
"""Extensions of compressed tars."""
MOST_GROWTH = 100
"""Largest ratio of an unpacked tar to the packed one; speech shrinks to a third at best."""
SPARE = 1 << 26
"""Bytes that an unpacked tar may have beyond that ratio."""
BLOCK = 1 << 20


def is_packed(name: str) -> bool:
    """Whether a shard has the name of a compressed tar."""
    return name.lower().endswith((*GZIP, *ZSTANDARD))


@contextmanager
def plain_file(source: str) -> Iterator[Path]:
    """The file of a shard on this machine, not compressed.

    What comes from a store or is unpacked lies in a temporary folder that others cannot enter, and
    is removed at the end.

    Args:
        source: path or URL.

    Raises:
        CorpusError: it cannot be read or unpacked, or is far larger than its packed form.
        DependencyError: pyarrow, which unpacks Zstandard, is missing.
    """
    remote, packed = store_locations.is_url(source), is_packed(source)
    if not remote and not packed:
        yield Path(source)
        return
    with temporary_folder(folder_for_temporary_files()) as folder:
        path = Path(source)
        if remote:
            path = folder / f"input{Path(source).suffix}"
            object_store.download(source, path)
        if packed:
            whole = folder / "unpacked.tar"
            _unpack(path, whole, source)
            path = whole
        yield path


class LastRecording:
    """The recording of a store that was fetched last, of which several tasks need passages.

    It lies in a temporary file that has no name and ends with the process.
    """

    def __init__(self) -> None:
        self._of: tuple[str, str | None] | None = None
        self._file: BinaryIO | None = None

    def open(self, source: str, version: str | None) -> BinaryIO:
        """The recording, open at its start; it is not closed by the caller.

        Args:
            source: URL.
            version: of the object.

        Raises:
            CorpusError: the store cannot be read.
        """
        if self._file is None or self._of != (source, version):
            if self._file is not None:
                self._file.close()
            folder = folder_for_temporary_files()
            made = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with the source
            self._of, self._file = None, cast(BinaryIO, made)
            with plain_file(source) as path, path.open("rb") as whole:
                shutil.copyfileobj(whole, self._file, BLOCK)
            self._of = (source, version)
        self._file.seek(0)
        return self._file


@contextmanager
def packed_as(made: Path, name: str) -> Iterator[Path]:
    """A file to write a tar into, which becomes ``made`` at the end, compressed as its name says.

    The same tar gives the same bytes.

    Args:
        made: file to write.
        name: of the output.

    Raises:
        DependencyError: pyarrow is missing.
    """
    if not is_packed(name):
        yield made
        return
    with temporary_folder(made.parent) as folder:
        plain = folder / "plain.tar"
        yield plain
        with plain.open("rb") as source, made.open("wb") as raw:
            if name.lower().endswith(ZSTANDARD):
                packed: Any = _arrow(name).CompressedOutputStream(raw, "zstd")
            else:
                packed = gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0)
            with packed:
                while data := source.read(BLOCK):
                    packed.write(data)


def _unpack(path: Path, target: Path, where: str) -> None:
    most = path.stat().st_size * MOST_GROWTH + SPARE
    written = 0
    try:
        with path.open("rb") as raw, target.open("wb") as file:
            packed = _reader(raw, where)
            while data := packed.read(BLOCK):
                written += len(data)
                if written > most:
                    raise CorpusError(
                        f"{where}: is more than {MOST_GROWTH} times as large unpacked, as no "
                        "speech is; if you trust it, unpack it yourself and give the plain tar"
                    )
                file.write(data)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise _damaged(where) from None
    except OSError as error:
        if error.errno is not None:  # of the disk
            raise
        raise _damaged(where) from None


def _damaged(where: str) -> CorpusError:
    return CorpusError(f"{where}: cannot be unpacked to its end; get a whole copy of it")


def _reader(raw: BinaryIO, where: str) -> Any:
    if where.lower().endswith(ZSTANDARD):
        return _arrow(where).CompressedInputStream(raw, "zstd")
    return gzip.GzipFile(fileobj=raw)


def _arrow(where: str) -> Any:
    try:
        import pyarrow  # type: ignore[import-untyped]
    except ImportError:
        raise DependencyError(
            f"{where}: Zstandard needs pyarrow: pip install 'voicenym[stores]', or gzip it"
        ) from None
    return pyarrow
