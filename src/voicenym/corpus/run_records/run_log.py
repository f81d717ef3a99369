"""Log of an output folder, ``voicenym.jsonl``: one JSON object per output."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from voicenym.audio.atomic import AtomicFile, write_failed
from voicenym.corpus.run_records.line_table import Line, LineTable
from voicenym.errors import AudioError, CorpusError

LOG_NAME = "voicenym.jsonl"
"""Name of the log in an output folder."""
LONGEST_LINE = 1 << 24
"""Bytes of a line; longer ones are a stranger's."""
_APPENDED = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)


class RunLog:
    """Lines by output: each is appended when its output is complete; the end of a run sorts them.

    An incomplete line of a killed run is ignored, and the next :meth:`settle` removes it. A line is
    written after its output has its name and is on the disk, so that the log never names a missing
    output; a lost line costs a comparison (:mod:`voicenym.corpus.batches.batch_runner`) and no
    output.

    If the log disappears while lines are appended, its folder was removed or renamed, and outputs
    with it. The log is then not written again, since it would name what is missing.

    Args:
        path: of the log.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = LineTable()
        self._file: int | None = None

    def read(self) -> None:
        """Reads the log; the last line of an output counts.

        Raises:
            CorpusError: the file cannot be read.
        """
        try:
            if not self.path.is_file() and os.path.lexists(self.path):
                raise OSError(errno.EINVAL, "it is no regular file")  # a pipe may never end
            with self.path.open("rb") as file:
                self.lines.add(_lines(file))
        except FileNotFoundError:
            return
        except OSError as error:
            raise CorpusError(
                f"{self.path}: the log cannot be read ({error.strerror}); check its permissions"
            ) from None

    def check_own(self) -> None:
        """Refuses a log that is a symbolic link: lines would be written to what it names.

        Raises:
            CorpusError: it is one.
        """
        if self.path.is_symlink():
            raise CorpusError(
                f"{self.path}: is a link, and what it names would be written to; put the log "
                "itself there, or choose another folder with -o"
            )

    def check_lines(self) -> None:
        """Refuses a log that is there and of which no line was read.

        Raises:
            CorpusError: it is damaged, or of another program.
        """
        if not self.lines and os.path.lexists(self.path):
            raise CorpusError(
                f"{self.path}: has no line that can be read, so that it is damaged or of another "
                "program; restore it from a copy, or give the output folder of a run"
            )

    def append(self, line: Line) -> None:
        """Appends the line of ``line["output"]``, which replaces an earlier one.

        Raises:
            CorpusError: it cannot be written, or has disappeared.
        """
        text = f"{json.dumps(line)}\n"
        try:
            self.lines[line["output"]] = line
            if self._is_lost():
                raise CorpusError(
                    f"{self.path}: was removed or renamed during the run, as if with its folder, "
                    "and outputs may be missing, too; run the same command again, which makes them"
                )
            if self._file is None:
                self._file = os.open(self.path, _APPENDED, 0o666)
                text = f"\n{text}" if os.fstat(self._file).st_size else text  # after half a line
            data = text.encode()
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise self._failed(error) from None

    def settle(self) -> None:
        """Rewrites the log atomically, one line for each output, sorted by output. A log that has
        disappeared is not written again.

        Raises:
            CorpusError: it cannot be written; it then stays unchanged.
        """
        lost = self._is_lost()
        self.close()
        if lost or not self.lines:
            return
        try:
            file = AtomicFile(self.path, overwrite=True)
            try:
                with open(file.temporary, "w", encoding="utf-8") as text:
                    text.writelines(f"{json.dumps(line)}\n" for line in self.lines.values())
                file.commit()
            finally:
                file.discard()
        except (OSError, AudioError) as error:
            raise self._failed(error) from None

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _is_lost(self) -> bool:
        """Whether lines were appended to a file that the log's name no longer leads to."""
        return self._file is not None and not os.path.lexists(self.path)

    def _failed(self, error: BaseException) -> CorpusError:
        known = error if isinstance(error, AudioError) else write_failed(str(self.path), error)
        return CorpusError(str(known))


def lines_before(log: Path | None) -> Mapping[str, Line]:
    """Lines of a log by output, read beside a run that may write it; none without a log.

    Raises:
        CorpusError: as :meth:`RunLog.read`.
    """
    if log is None:
        return {}
    found = RunLog(log)
    found.read()
    return found.lines


def _lines(file: BinaryIO) -> Iterator[tuple[str, str]]:
    """Outputs and their lines in a log, as JSON; what is no line is left out."""
    for data in file:
        if len(data) > LONGEST_LINE:
            continue
        try:
            line = json.loads(data.decode("utf-8", "replace"))
            text = json.dumps(line)
        except (ValueError, RecursionError):
            continue  # half a line of a run that was killed, or a stranger's
        if isinstance(line, dict) and isinstance(line.get("output"), str):
            yield line["output"], text
