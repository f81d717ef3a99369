"""Outputs of earlier runs over shards: which of them are done, and which stop a run."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from voicenym.corpus.batches.batch import Job
from voicenym.corpus.batches.earlier_run import has_drawn_name, has_voices_of, is_of
from voicenym.corpus.batches.single_file import sha256_of
from voicenym.corpus.readers import speaker_rule
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.run_records.run_state import RunState
from voicenym.corpus.shards.shard_task import ShardOutcome
from voicenym.corpus.shards.shard_unit import Unit, version_of
from voicenym.corpus.shards.stores import object_store, store_locations
from voicenym.errors import CorpusError


def settled_before(
    job: Job, units: Sequence[Unit], state: RunState
) -> Iterator[tuple[Unit, ShardOutcome | Line | None]]:
    """Units in their order, with what :func:`_settled` says of them. A store is asked about several
    at a time, since each answer takes long.
    """
    remote = any(store_locations.is_url(place) for u in units for place in (u.source, u.target))
    most = object_store.READS if remote else 1
    asked: deque[tuple[Unit, Future[ShardOutcome | Line | None]]] = deque()
    with ThreadPoolExecutor(most) as pool:
        for unit in units:
            line = None if job.overwrite else state.lines.get(unit.name)
            asked.append((unit, pool.submit(_settled, job, unit, line)))
            if len(asked) >= most:
                first, answer = asked.popleft()
                yield first, answer.result()
        for last, answer in asked:
            yield last, answer.result()


def _settled(job: Job, unit: Unit, line: Line | None) -> ShardOutcome | Line | None:
    """The line in the ledger of a unit that is done, or its failure; None if it is to be made."""
    if line is None:
        return None
    try:
        if not _is_there(unit, line):
            return None
        before = line.get("input_check")
        if before is None or before == job.input_check(version_of(unit)):
            return line
    except CorpusError as error:
        return ShardOutcome(unit, None, str(error))
    except OSError as error:
        return ShardOutcome(unit, None, f"{unit}: {error.strerror}; check its permissions")
    return ShardOutcome(
        unit,
        None,
        f"{unit}: changed since its output was made; add --overwrite to replace the output, "
        "or remove the output to make it anew",
    )


def _is_there(unit: Unit, line: Line) -> bool:
    """Whether an output exists as the ledger says."""
    if "sha256" not in line:
        return False
    if unit.table is not None and line.get("table") != object_store.identity(unit.table[1]):
        return False
    return _has_line(unit.target, line)


def _has_line(target: str, line: Line) -> bool:
    """Whether what is at a location is what a line of the ledger says."""
    if store_locations.is_url(target):
        return bool(line.get("object") == object_store.identity(target))
    try:
        return bool(line["sha256"] == sha256_of(target))
    except OSError:
        return False


def check_stamps(job: Job, units: Sequence[Unit], lines: Mapping[str, Line], stamp: Line) -> None:
    """Stops the run before any work if an earlier run with other settings made outputs that stay
    beside those of this run, or if names of the originals would link drawn names to them.

    A speaker may be in any shard, so that all outputs in the folder must have voices of one key and
    system, also those that this run does not make. Settings of speakers may differ there.
    """
    if job.opaque and any("input" in line for line in lines.values()):
        raise CorpusError(
            "-o: the ledger there names the originals of an earlier run without --rename; choose a "
            "new folder with -o"
        )
    if not job.opaque and any(has_drawn_name(line) for line in lines.values()):
        raise CorpusError(
            "-o: the ledger there is of an earlier run with --rename, whose drawn names this run "
            "would link to the original ones; add --rename, or choose a new folder with -o"
        )
    ours = {unit.name: unit for unit in units}
    for output, line in lines.items():
        unit = ours.get(output)
        if "sha256" not in line or (unit is not None and job.overwrite):
            continue
        if unit is not None and not is_of(job, line, stamp) and _is_there(unit, line):
            raise CorpusError(
                f"{unit.target}: made earlier with another key, system or options, so that voices "
                "of one speaker would differ; resume with the same --key, --system, --keep and "
                "options of speakers, or start over with --overwrite or in a new folder"
            )
        if unit is not None and _changed_speaker(job, unit, line) and _is_there(unit, line):
            raise CorpusError(
                f"{unit.target}: was made for another speaker than this run would; resume with the "
                "same speakers in folders and tables, or start over with --overwrite or in a new "
                "folder"
            )
        if unit is None and _beside(line, output) and not has_voices_of(job, line):
            target = _target(units, output)
            if target is not None and _has_line(target, line):
                raise CorpusError(
                    f"{target}: made earlier with another key, system or parameters, so that "
                    "voices of one speaker would differ; go on with the same --key and --system, "
                    "or use a new folder"
                )


def _changed_speaker(job: Job, unit: Unit, line: Line) -> bool:
    """Whether a folder or a table now names another speaker of a recording than for its output;
    earlier releases did not write whom.
    """
    if unit.speaker is None or "speaker_check" not in line:
        return False
    now = speaker_rule.voice_check(job.key, unit.speaker, unit.name)
    return bool(line["speaker_check"] != now)


def _beside(line: Line, output: str) -> bool:
    """Whether an output may have speakers of the shards of its folder. A recording beside the log
    that no run over shards made was named on the command line, a speaker of its own.
    """
    return "recordings" in line or "/" in output


def _target(units: Sequence[Unit], output: str) -> str | None:
    """Location of an output of another run, by its name; None without units of this run."""
    roots = (unit.target.removesuffix(unit.name) for unit in units)
    return next((root + output for root in roots), None)
