"""Progress of a batch, read from its output folder by another process."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.run_records.run_lock import RunLock
from voicenym.corpus.run_records.run_log import LOG_NAME, RunLog
from voicenym.errors import CorpusError

MOST = 1e15
"""Numbers of a log from this on count as 0."""


@dataclass(frozen=True)
class RunStatus:
    """Progress of a batch.

    Args:
        process: of the run that works in the folder; None if none does.
        host: its machine.
        items: recordings of that run; 0 if unknown.
        done: outputs in the log, of this run and earlier ones.
        seconds: of audio in them.
        failures: reasons by output.
        elapsed: seconds since the run began; 0 without one.
        settled: outputs that this run has settled.
        left_out: recordings of shards that failed, and that are not in the new shards.
    """

    process: int | None
    host: str
    items: int
    done: int
    seconds: float
    failures: dict[str, str]
    elapsed: float
    settled: int
    left_out: int = 0

    @property
    def files_per_second(self) -> float | None:
        """Rate of this run; None before its first output."""
        return self.settled / self.elapsed if self.settled and self.elapsed > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Estimate for the rest, if its recordings are as long as the others; None if unknown."""
        if self.process is None or self.files_per_second is None or not self.items:
            return None
        return max(0, self.items - self.done - len(self.failures)) / self.files_per_second


def status_of(folder: Path) -> RunStatus:
    """Progress of the batch in an output folder.

    Raises:
        CorpusError: the folder is not one, no batch has written to it, or its log is damaged.
    """
    if not folder.is_dir():
        raise CorpusError(f"{folder}: no such folder; give the output folder of a run")
    log = RunLog(folder / LOG_NAME)
    log.read()
    holder = RunLock(folder).holder()
    if not log.lines and holder is None:
        log.check_lines()
        raise CorpusError(
            f"{folder}: no run has written to it ({LOG_NAME} is missing); give the folder after -o"
        )
    return status_from(log.lines, holder)


def status_from(lines: Mapping[str, Line], holder: Mapping[str, object] | None) -> RunStatus:
    """Progress by the lines of a log or a ledger.

    Args:
        lines: by output.
        holder: what the run that works there says of itself; None if none does.
    """
    facts = {name: int(str(value)) for name, value in (holder or {}).items() if _is_count(value)}
    failures = {name: str(line["error"]) for name, line in lines.items() if "error" in line}
    done = [line for line in lines.values() if "sha256" in line]
    started = (holder or {}).get("started")
    elapsed = max(0.0, time.time() - started) if isinstance(started, float) else 0.0
    return RunStatus(
        process=facts.get("pid"),
        host=str((holder or {}).get("host", "")),
        items=facts.get("items", 0),
        done=len(done),
        seconds=sum(_number(line.get("duration")) for line in done),
        failures=failures,
        elapsed=elapsed,
        settled=max(0, len(lines) - facts.get("settled", 0)),
        left_out=int(sum(_number(line.get("failed")) for line in done)),
    )


def _number(value: object) -> float:
    """A number of a log, which a stranger may have written; else 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return float(value) if abs(value) < MOST else 0.0


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
