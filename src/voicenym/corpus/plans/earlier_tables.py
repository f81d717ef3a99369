"""Tables that earlier runs left in an output folder: which may be replaced, and what stays."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from voicenym.corpus.readers.id_checks import printable
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.run_records.run_log import LOG_NAME, RunLog
from voicenym.errors import CorpusError


class EarlierRuns(ABC):
    """Outputs and tables of earlier runs in an output folder."""

    log: str
    """Name of what lists the outputs, for messages."""

    @abstractmethod
    def outputs(self) -> dict[str, str]:
        """Complete outputs in the log, by their ids (paths without the suffix): their locations.
        They may have been removed since.

        Raises:
            CorpusError: the log cannot be read.
        """

    @abstractmethod
    def is_there(self, location: str) -> bool:
        """Whether an output still exists."""

    @abstractmethod
    def place(self, table: str) -> str:
        """Location of a table."""

    @abstractmethod
    def read(self, table: str) -> Path | None:
        """A file of a table's content; None if there is no such table.

        Raises:
            CorpusError: the name is no file's.
        """

    def version(self, table: str) -> str | None:
        """Version of a table when it was first asked for or read, where a store has versions; None
        without a table.
        """
        return None

    def taken(self, table: str, what: str | None) -> CorpusError:
        """Error about a table that a run would replace.

        Args:
            table: its name.
            what: name in it that is in no log; None if it cannot be read.
        """
        why = "cannot be read" if what is None else f"has {printable(what)}, which {self.log} lacks"
        return CorpusError(
            f"{self.place(table)}: exists already and {why}, so that it is not of an earlier run; "
            "choose another folder with -o, or add --overwrite to replace the table"
        )


@dataclass(frozen=True)
class EarlierHere(EarlierRuns):
    """Those in a folder of this machine.

    Args:
        output: folder of the log; without a log it has no outputs.
        sound: folder of the recordings below it, such as ``wav``.
        tables: folder of the tables below it; empty for itself.
    """

    output: Path
    sound: str
    tables: str = ""
    log = LOG_NAME

    def outputs(self) -> dict[str, str]:
        log = RunLog(self.output / LOG_NAME)
        log.read()
        return {i: str(self.output / name) for i, name in ids_of(log.lines, self.sound).items()}

    def is_there(self, location: str) -> bool:
        return Path(location).is_file()

    def place(self, table: str) -> str:
        return str(self.output / self.tables / table)

    def read(self, table: str) -> Path | None:
        path = self.output / self.tables / table
        if not os.path.lexists(path):
            return None
        if not path.is_file():  # a pipe may never end
            raise self.taken(table, None)
        return path


def ids_of(lines: Mapping[str, Line], sound: str) -> dict[str, str]:
    """Names of complete outputs below a folder of recordings, by their ids.

    Args:
        lines: of a log, by the name of the output.
        sound: the folder, such as ``wav``.
    """
    found = {}
    for name, line in lines.items():
        path = PurePosixPath(name)
        if "sha256" in line and path != PurePosixPath(sound) and path.is_relative_to(sound):
            found[path.relative_to(sound).with_suffix("").as_posix()] = name
    return found
