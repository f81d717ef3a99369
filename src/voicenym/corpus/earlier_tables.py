"""Tables that earlier runs left in an output folder: which may be replaced, and what stays."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from voicenym.corpus.file_plan import LOG_NAME
from voicenym.corpus.id_checks import printable
from voicenym.corpus.run_log import RunLog
from voicenym.errors import CorpusError


def logged_outputs(output: Path, folder: str) -> dict[str, Path]:
    """Complete outputs in the log of an output folder, by their ids: paths without the suffix.

    Args:
        output: the output folder; without a log it has none.
        folder: in it, which holds the recordings, such as ``wav``.

    Returns:
        Paths of the outputs, which may have been removed since.

    Raises:
        CorpusError: the log cannot be read.
    """
    log = RunLog(output / LOG_NAME)
    log.read()
    found = {}
    for name, line in log.lines.items():
        path = PurePosixPath(name)
        if "sha256" in line and len(path.parts) > 1 and path.parts[0] == folder:
            found[path.relative_to(folder).with_suffix("").as_posix()] = output / path
    return found


def taken(path: Path, what: str | None) -> CorpusError:
    """Error about a table that a run would replace.

    Args:
        path: of the table.
        what: name in it that is in no log; None if it cannot be read.
    """
    why = "cannot be read" if what is None else f"has {printable(what)}, which {LOG_NAME} lacks"
    return CorpusError(
        f"{path}: exists already and {why}, so that it is not of an earlier run; choose another "
        "folder with -o, or add --overwrite to replace the table"
    )
