"""Log of an output folder, ``voicenym.jsonl``: one JSON object per output."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

from voicenym.audio.atomic import AtomicFile, write_failed
from voicenym.errors import AudioError, CorpusError

Line = dict[str, Any]


class RunLog:
    """Lines by output: each is appended when its output is complete; the end of a run sorts them.

    An incomplete line of a killed run is ignored, and the next :meth:`settle` removes it. A line is
    written after its output has its name and is on the disk, so that the log never names a missing
    output; a lost line costs a comparison (:mod:`voicenym.corpus.batch_runner`) and no output.

    Args:
        path: of the log.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[str, Line] = {}
        self._file: int | None = None

    def read(self) -> None:
        """Reads the log; the last line of an output counts.

        Raises:
            CorpusError: the file cannot be read.
        """
        try:
            if not self.path.is_file() and os.path.lexists(self.path):
                raise OSError(errno.EINVAL, "it is no regular file")  # a pipe may never end
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise CorpusError(
                f"{self.path}: the log cannot be read ({error.strerror}); check its permissions"
            ) from None
        for text in data.decode("utf-8", "replace").splitlines():
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                continue  # half a line of a run that was killed, or a stranger's
            if isinstance(line, dict) and isinstance(line.get("output"), str):
                self.lines[line["output"]] = line

    def append(self, line: Line) -> None:
        """Appends the line of ``line["output"]``, which replaces an earlier one.

        Raises:
            CorpusError: it cannot be written.
        """
        self.lines[line["output"]] = line
        text = f"{_dumped(line)}\n"
        try:
            if self._file is None:
                self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
                text = f"\n{text}" if os.fstat(self._file).st_size else text  # after half a line
            data = text.encode()
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise self._failed(error) from None

    def settle(self) -> None:
        """Rewrites the log atomically, one line for each output, sorted by output.

        Raises:
            CorpusError: it cannot be written; it then stays unchanged.
        """
        self.close()
        if not self.lines:
            return
        try:
            file = AtomicFile(self.path, overwrite=True)
            try:
                with open(file.temporary, "w", encoding="utf-8") as text:
                    text.writelines(f"{_dumped(self.lines[o])}\n" for o in sorted(self.lines))
                file.commit()
            finally:
                file.discard()
        except (OSError, AudioError) as error:
            raise self._failed(error) from None

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _failed(self, error: BaseException) -> CorpusError:
        known = error if isinstance(error, AudioError) else write_failed(str(self.path), error)
        return CorpusError(str(known))


def _dumped(line: Line) -> str:
    return json.dumps(line)
