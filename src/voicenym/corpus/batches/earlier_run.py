"""Outputs and log of an earlier run in the same folder: whose voices they have, and whether a run
may go on beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from voicenym.corpus.batches.batch import Job
from voicenym.corpus.batches.batch_task import input_digest
from voicenym.corpus.batches.single_file import sha256_of
from voicenym.corpus.plans.file_plan import Item
from voicenym.corpus.readers import speaker_rule
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.run_records.run_state import output_name, same_stamp
from voicenym.errors import CorpusError


def check(job: Job, items: Sequence[Item], lines: Mapping[str, Line]) -> None:
    """Refuses to go on beside an earlier run whose voices or names do not fit; changes nothing.

    Args:
        job, items: of the run.
        lines: of the earlier run's log, by output.

    Raises:
        CorpusError: its message names the output and the cure.
    """
    _check_stamps(job, items, lines)
    _check_speakers(job, items, lines)
    _check_recordings(job, items, lines)


def _check_stamps(job: Job, items: Sequence[Item], lines: Mapping[str, Line]) -> None:
    """Stops the run before any work if an earlier run with other voices made outputs that stay
    beside those of this run, or if names of the originals would link drawn names to them.

    A folder beside the log is of a speaker, or of several; outputs beside the log itself were named
    on the command line one by one, each a speaker of its own. Shards, whose lines count their
    ``recordings``, are of any speakers.
    """
    if job.opaque and any("input" in line for line in lines.values()):
        assert job.log is not None
        raise CorpusError(
            f"{job.log}: names the originals of an earlier run without --rename; choose a new "
            "folder with -o"
        )
    if job.log is None:
        return
    if not job.opaque and any(has_drawn_name(line) for line in lines.values()):
        # equal sounds would have both names: the log has their SHA-256
        raise CorpusError(
            f"{job.log}: is of an earlier run with --rename, whose drawn names this run would link "
            "to the original ones; add --rename, or choose a new folder with -o"
        )
    ours = {output_name(item.target, job.log) for item in items}
    folders = {_folder(output) for output in ours} - {""}
    for output, line in lines.items():
        mine, target = output in ours, job.log.parent / output
        if "sha256" not in line or (mine and job.overwrite):
            continue
        if not mine and "recordings" not in line and _folder(output) not in folders:
            continue
        if is_of(job, line) if mine else has_voices_of(job, line):
            continue
        if target.is_file() and is_as_logged(target, line):
            cure = "start over with --overwrite or in a new folder" if mine else "use a new folder"
            raise CorpusError(
                f"{target}: made earlier with another key, system or parameters, so that "
                "voices of one speaker would differ; go on with the same --key and "
                f"--system{_with_fallback(line)}, or {cure}"
            )


def _folder(output: str) -> str:
    """The folder beside the log that an output lies in; empty for one beside the log."""
    first, *rest = Path(output).parts
    return first if rest else ""


def _check_speakers(job: Job, items: Sequence[Item], lines: Mapping[str, Line]) -> None:
    """Refuses to change the voice of a speaker in an earlier run's log; see
    ``speaker_rule.agree``.
    """
    if job.log is None or not lines or job.overwrite:
        return
    root = job.log.parent
    people = {output_name(item.target, job.log): (item.speaker, item.former) for item in items}
    speaker_rule.agree(job.key, people, lines, (o for o in lines if (root / o).is_file()))


def _check_recordings(job: Job, items: Sequence[Item], lines: Mapping[str, Line]) -> None:
    """Refuses a second voice of recordings whose outputs have other names in an earlier run.

    Another ``--speaker-level``, recordings that moved to another folder, and a folder with a new
    name change the names of outputs, with drawn names always. Recordings are read for it where
    there are other outputs of the key, and only those that are new here. Single recordings may be
    the same by chance, such as silent ones: the run is refused where most outputs of a folder are
    of recordings that come again.

    Raises:
        CorpusError: recordings have outputs there in the voice of another speaker.
    """
    if job.log is None or job.fresh:
        return
    new = {output_name(item.target, job.log): item for item in items}
    own, others = job.stamp()["key_check"], dict[str, list[tuple[str, str]]]()
    counts, again = Counter[str](), dict[str, list[tuple[Item, str]]]()
    for output, line in lines.items():
        if "sha256" not in line or not (job.log.parent / output).is_file():
            continue
        there = new.pop(output, None) is not None
        if not there and line.get("key_check") == own and "speaker_check" in line:
            check = str(line.get("input_check"))
            others.setdefault(check, []).append((output, line["speaker_check"]))
            counts[_folder(output)] += 1
    for item in new.values() if others else ():
        # two people may speak in one part of a recording
        digest = input_digest(item) if isinstance(item.source, Path) else None
        found = others.get(job.input_check(digest) or "", [])
        key, who = job.key, item.speaker
        if found and not any(speaker_rule.voice_check(key, who, o) == s for o, s in found):
            again.setdefault(_folder(found[0][0]), []).append((item, found[0][0]))
    for folder, pairs in again.items():
        if 2 * len(pairs) > counts[folder]:
            item, output = pairs[0]
            # no message has both names where they are drawn
            name = item.target if job.opaque else item.source
            raise CorpusError(
                f"{name}: the same recording has an output here already, in the voice of another "
                f"speaker: {job.log.parent / output}; go on with the same --speaker, "
                "--speaker-level and folders, remove that output if its speaker was wrong, or use "
                "a new folder"
            )


def is_of(job: Job, line: Line, stamp: Line | None = None) -> bool:
    """Whether a job with these settings made the output of a line; ``stamp``: all of them."""
    if not same_stamp(line, job.stamp() if stamp is None else stamp):
        return False
    return "fallback" not in line or (job.fallback is not None and job.fallback.is_of(line))


def has_drawn_name(line: Line) -> bool:
    """Whether a line is of an output of a run with --rename; earlier releases did not say so."""
    return "sha256" in line and "key_check" in line and "input" not in line


def has_voices_of(job: Job, line: Line) -> bool:
    """Whether a job gives the voices of a line's output: edits and the fall-back may differ, which
    concern single recordings.
    """
    stamp = {name: value for name, value in job.stamp().items() if name != "edit"}
    return same_stamp({name: value for name, value in line.items() if name != "edit"}, stamp)


def _with_fallback(line: Line) -> str:
    """The option of a line's fall-back for messages; empty without one."""
    return f" (--fallback {line['fallback']['system']})" if "fallback" in line else ""


def is_as_logged(target: Path, line: Line) -> bool:
    """Whether an output has the content that its line says."""
    try:
        return bool(line.get("sha256") == sha256_of(target))
    except OSError:
        return False
