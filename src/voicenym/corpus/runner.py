"""A batch of recordings: in parallel, resumable, one failure never stopping the rest."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import voicenym
from voicenym import processes
from voicenym.corpus import speakers
from voicenym.corpus.file import Result, anonymize_file, sha256_of
from voicenym.corpus.plan import Item
from voicenym.errors import CorpusError, VoicenymError
from voicenym.pseudonym import DERIVATION_VERSION, Key, Pseudonym
from voicenym.system import Anonymizer, load


@dataclass(frozen=True)
class Job:
    """What holds for all items of a batch.

    Args:
        system: name of the system.
        parameters: its parameters.
        key: where the voices come from.
        per_utterance: another voice for each recording of a speaker.
        overwrite: replace outputs that exist.
        lenient: accept silent, clipped and very short recordings.
        version: of its weights, where they do not come along.
        log: JSON-lines file, appended to; also what a later run resumes from.
        opaque: keep original names out of the log.
    """

    system: str
    parameters: dict[str, Any]
    key: Key
    per_utterance: bool = False
    overwrite: bool = False
    lenient: bool = False
    version: str = ""
    log: Path | None = None
    opaque: bool = False

    def pseudonym(self, item: Item) -> Pseudonym:
        return self.key.pseudonym(item.speaker, item.utterance if self.per_utterance else None)

    def stamp(self) -> dict[str, Any]:
        """What must be equal for an output of an earlier run to count as done."""
        weights = {"weights": self.version} if self.version else {}
        return {
            "system": self.system,
            "parameters": self.parameters,
            **weights,
            "derivation": DERIVATION_VERSION,
            "per": "utterance" if self.per_utterance else "speaker",
            "key_check": self.key.tag("key check")[:16],
        }


@dataclass
class Summary:
    """What became of a batch."""

    done: int = 0
    skipped: int = 0
    seconds: float = 0.0
    failures: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """One finished item: a result, or the reason for its failure."""

    item: Item
    result: Result | None
    reason: str | None


def log_line(job: Job, outcome: Outcome) -> dict[str, Any]:
    """A line of the log; nothing in it tells the key, and nothing the names if they are opaque."""
    line: dict[str, Any] = {"version": voicenym.__version__, **job.stamp()}
    if job.log is not None:
        line["output"] = os.path.relpath(outcome.item.target, job.log.parent)
        line["speaker_rule"] = speakers.RULE
        line["speaker_check"] = speakers.voice_check(job.key, outcome.item.speaker, line["output"])
    if not job.opaque:
        line["input"] = str(outcome.item.source)
    if outcome.result is not None:
        line["duration"] = round(outcome.result.duration, 6)
        line["rate"] = outcome.result.rate
        line["channels"] = outcome.result.channels
        line["sha256"] = outcome.result.sha256
    else:
        line["error"] = "failed" if job.opaque else outcome.reason
    return line


def completed(job: Job) -> dict[str, dict[str, Any]]:
    """Lines of an earlier run's log by output, the last one counting."""
    if job.log is None or not job.log.exists():
        return {}
    lines: dict[str, dict[str, Any]] = {}
    for text in job.log.read_text("utf-8").splitlines():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue  # the last line of a run that was killed
        if isinstance(line, dict) and "output" in line:
            lines[line["output"]] = line
    return lines


def is_done(job: Job, item: Item, lines: dict[str, dict[str, Any]]) -> bool:
    """Whether an earlier run with the same system and key completed this item, by its hash.

    Raises:
        CorpusError: if the output is whole but was made with another key or system.
    """
    if job.log is None or not item.target.is_file():
        return False
    line = lines.get(os.path.relpath(item.target, job.log.parent))
    if line is None or line.get("sha256") != sha256_of(item.target):
        return False
    if any(line.get(name) != value for name, value in job.stamp().items()):
        raise CorpusError(
            f"{item.target}: made earlier with another key, system or parameters, so that voices "
            "of one speaker would differ; resume with the same --key and --system, or start over "
            "with --overwrite or in a new folder"
        )
    return True


def check_speakers(job: Job, items: Sequence[Item], lines: dict[str, dict[str, Any]]) -> None:
    """Refuse to give anybody of an earlier run's log another voice; see ``speakers.agree``."""
    if job.log is None or not lines:
        return
    root = job.log.parent
    people = {os.path.relpath(item.target, root): (item.speaker, item.former) for item in items}
    speakers.agree(job.key, people, lines, [o for o in lines if (root / o).is_file()])


def run(
    job: Job,
    items: Sequence[Item],
    workers: int = 1,
    report: Callable[[Outcome], None] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Summary:
    """Anonymize all items.

    Args:
        job: system, key, log.
        items: from :mod:`voicenym.corpus.plan`.
        workers: processes; the result does not depend on it.
        report: called with every outcome as it comes.
        progress: called with seconds of audio done, within a file too where there is one worker.
    """
    summary = Summary()
    lines = {} if job.overwrite else completed(job)
    check_speakers(job, items, lines)
    todo = []
    for item in items:
        if not job.overwrite and is_done(job, item, lines):
            summary.skipped += 1
            continue
        todo.append(item)
        if job.log is not None:
            line = lines.get(os.path.relpath(item.target, job.log.parent))
            if line is not None and item.target.is_file() and not job.overwrite:
                item.target.unlink()  # ours, and not what the log says: made again
    if job.log is not None:
        job.log.parent.mkdir(parents=True, exist_ok=True)
    for outcome in _outcomes(job, todo, workers, progress):
        if outcome.result is not None:
            summary.done += 1
            summary.seconds += outcome.result.duration
            summary.warnings.extend(outcome.result.warnings)
        else:
            summary.failures.append((str(outcome.item.source), outcome.reason or "failed"))
        if job.log is not None:
            with job.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(log_line(job, outcome)) + "\n")
        if report is not None:
            report(outcome)
    return summary


def _outcomes(
    job: Job, items: Sequence[Item], workers: int, progress: Callable[[float], None] | None
) -> Iterator[Outcome]:
    if workers <= 1 or len(items) <= 1:
        for item in items:
            yield _one(job, item, progress)
        return
    pool = processes.pool(workers, _start_worker)
    with pool:
        futures = {pool.submit(_one, job, item): item for item in items}
        try:
            for future in as_completed(futures):
                try:
                    yield future.result()
                except BrokenProcessPool:
                    yield Outcome(
                        futures[future], None, "a worker process died (out of memory?); run again"
                    )
        except BaseException:
            for future in futures:
                future.cancel()
            for process in list(getattr(pool, "_processes", {}).values()):
                process.terminate()
            raise


def _start_worker() -> None:
    """Ctrl-C is the parent's affair; SIGTERM unwinds, so that temporary files are removed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit_on_signal)


def _exit_on_signal(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


_systems: dict[str, Anonymizer] = {}


def _one(job: Job, item: Item, progress: Callable[[float], None] | None = None) -> Outcome:
    import torch

    torch.set_num_threads(1)  # the same bits for any number of workers
    identity = f"{job.system} {sorted(job.parameters.items())}"
    if identity not in _systems:
        _systems[identity] = load(job.system, **job.parameters)
    try:
        item.target.parent.mkdir(parents=True, exist_ok=True)
        source = item.source if isinstance(item.source, Path) else item.source.open(job.lenient)
        result = anonymize_file(
            _systems[identity],
            job.pseudonym(item),
            source,
            item.target,
            name=str(item.source),
            overwrite=job.overwrite,
            lenient=job.lenient,
            progress=progress,
        )
    except VoicenymError as error:
        return Outcome(item, None, str(error))
    except OSError as error:
        reason = f"{error.filename or item.source}: {error.strerror or error}"
        return Outcome(item, None, f"{reason}; check space and permissions")
    return Outcome(item, result, None)
