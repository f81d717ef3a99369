"""What a worker process does with one recording: anonymize, convert, audit."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voicenym.apps.serve.forms.people_choice import People
from voicenym.apps.serve.forms.recording_length import NAME, TooLongError, stated_seconds, too_long
from voicenym.apps.serve.speakers_task import SpeakersTask, find_speakers
from voicenym.apps.serve.task_outcome import Outcome
from voicenym.apps.serve.worker_isolation.confinement import confine
from voicenym.apps.serve.worker_isolation.server_end import end_with_server
from voicenym.apps.web.problem_details import disk_full, is_disk_full, problem_of
from voicenym.apps.web.quiet_log import defect_lines
from voicenym.corpus import DEFAULT_FALLBACK, NO_FALLBACK
from voicenym.errors import AudioError, UnknownSystemError, VoicenymError
from voicenym.pseudonym import Pseudonym

if TYPE_CHECKING:
    from voicenym.anonymizer import Anonymizer

MODULES = (
    "voicenym.apps.serve.worker_isolation.closed_copy",
    "torch", "numpy", "soxr", "soundfile", "av", "scipy.signal", "scipy.special", "tomllib",
    "voicenym.corpus.batches.single_file", "voicenym.corpus.batches.fallback",
    "voicenym.corpus.nearness.near_original", "voicenym.corpus.people.several_speakers",
    "voicenym.diarization.diarizer",
    "voicenym.apps.serve.job_task", "voicenym.apps.serve.worker_isolation.warm_systems",
    "voicenym.apps.serve.live_processes.live_task",
    "voicenym.live.live_engine", "voicenym.live.block_choice",
    "voicenym.audio.sources.av_source", "voicenym.audio.sources.wav_reader",
    "voicenym.audio.sources.sndfile_source", "voicenym.audio.sinks.av_sink",
    "voicenym.audio.sinks.wav_sink", "voicenym.audio.sinks.sndfile_sink",
)  # fmt: skip
"""Modules that the copied process imports, so that its copies need not."""
PROGRESS, DONE, FAILED, DEFECT = "progress", "done", "failed", "defect"
"""Kinds of messages of a worker."""
CONFINE_SECONDS = 60
"""Of processor time, for a worker that only confines itself."""


@dataclass(frozen=True)
class Task:
    """Recording to anonymize.

    Args:
        source: file in the folder of the request.
        folder: of the output.
        suffix: of the client's file name, such as ``.m4a``; it decides between extensions of one
            container.
        system: name.
        settings: texts by parameter.
        pseudonym: of the speaker; the key itself does not reach the worker.
        fallback: system for recordings that the first one refuses; ``none`` for none.
        seconds: longest recording.
        memory: bytes of the worker beyond its start.
        cpu_seconds: processor time of the worker.
        output_bytes: of the output.
        audit: whether attackers run on the result.
        output_format: as services call it, such as ``mp3_44100_128``; None keeps the container.
        known_only: whether settings that the system does not have are left out, as services'
            clients send settings without knowing the system.
        people: those in the recording, of whom the chosen ones are hidden; None: it has one
            speaker.
    """

    source: Path
    folder: Path
    suffix: str
    system: str
    settings: Mapping[str, str]
    pseudonym: Pseudonym
    fallback: str = DEFAULT_FALLBACK
    seconds: float = 3600.0
    memory: int = 3 << 30
    cpu_seconds: int = 3600
    output_bytes: int = 4 << 30
    audit: bool = False
    output_format: str | None = None
    known_only: bool = False
    people: People | None = field(default=None, repr=False)


def work(connection: Connection, task: Task | SpeakersTask) -> None:
    """Main function of a worker process; sends JSON arrays of a kind and a value.

    It is not unpickled: what a recording made of a worker must not reach the server.

    Args:
        connection: to the server.
        task: what to do.
    """
    import torch

    torch.set_num_threads(1)

    def tell(kind: str, value: Any) -> None:
        connection.send_bytes(json.dumps([kind, value]).encode())

    try:
        confine(task.memory, task.cpu_seconds, task.output_bytes)
        end_with_server()
        if isinstance(task, SpeakersTask):
            found = find_speakers(task)
        else:
            outcome = run(task, lambda done, of: tell(PROGRESS, [done, of]))
            found = {**asdict(outcome), "path": outcome.path.name}
        kind, value = DONE, found
    except VoicenymError as error:
        kind, value = FAILED, _failure(error, task.folder)
    except MemoryError:
        kind, value = FAILED, _failure(AudioError(_NO_MEMORY), task.folder)
    except RuntimeError as error:
        known = "alloc" in str(error)  # torch's word for a lack of memory
        kind, value = DEFECT, {"place": defect_lines(error)}
        if known:
            kind, value = FAILED, _failure(AudioError(_NO_MEMORY), task.folder)
    except Exception as error:  # a defect; its message may quote the recording
        kind, value = DEFECT, {"place": defect_lines(error)}
        if is_disk_full(error):
            kind, value = FAILED, _failure(disk_full(), task.folder)
    with contextlib.suppress(OSError):
        tell(kind, value)
        connection.close()
    os._exit(0)  # nothing to flush, and torch's own end takes a while


def confine_and_end(memory: int) -> None:
    """Main function of a worker process without a task: its exit code is 0 if it could work.

    Args:
        memory: bytes beyond those of its start.
    """
    confine(memory, CONFINE_SECONDS, 0)
    os._exit(0)


_NO_MEMORY = f"{NAME}: needs more memory than the server gives; send a shorter one"


def _failure(error: VoicenymError, folder: Path) -> dict[str, Any]:
    """Problem of an error, in which files of the request are the recording."""
    found = problem_of(error)
    status = 413 if isinstance(error, TooLongError) else found.status
    texts = {"detail": str(found), "cure": found.cure}
    return {"status": status, **{name: _nameless(text, folder) for name, text in texts.items()}}


def _nameless(text: str, folder: Path) -> str:
    """Message in which the files of the request are the recording."""
    return re.sub(rf"{re.escape(str(folder))}/[\w.]+", NAME, text)


def run(task: Task, progress: Any = lambda done, of: None) -> Outcome:
    """Anonymizes a recording within this process.

    Args:
        task: what to do.
        progress: called with seconds done and seconds in all, None where unknown.

    Raises:
        VoicenymError: as the systems and files raise them, in which the recording has no name.
    """
    from voicenym.anonymizer import SYSTEMS, load
    from voicenym.anonymizer.live_delay import check_delay_is_used
    from voicenym.audio import open_reader
    from voicenym.corpus.batches.single_file import anonymize_file

    texts = dict(task.settings)
    if task.known_only:
        known = {item.name for item in SYSTEMS.parameters(task.system)}
        texts = {name: text for name, text in texts.items() if name in known}
    given = SYSTEMS.values(task.system, texts)
    anonymizer = load(task.system, **given)
    check_delay_is_used(anonymizer)
    anonymizer.check()
    other = _fallback(task, anonymizer)
    with task.source.open("rb") as source:
        with open_reader(source) as reader:
            whole = stated_seconds(reader, task.seconds)
            target = task.folder / f"output{_extension(reader, task.suffix)}"
            is_film = reader.has_picture and task.output_format is None

        def report(done: float) -> None:
            if done > task.seconds:
                raise too_long(task.seconds)
            progress(done, whole)

        if task.people is not None:
            outcome = _people(task, task.people, anonymizer, other, target, report)
            return replace(outcome, is_film=is_film)
        done = anonymize_file(
            anonymizer, task.pseudonym, source, target, name=NAME, progress=report, fallback=other
        )
    made = anonymizer if done.refusal is None or other is None else other
    settings = given if made is anonymizer else {}  # the other system is made without any
    audit = _audit(task.source, target, made.card.name, settings) if task.audit else None
    if task.output_format is not None:
        from voicenym.apps.serve.forms.output_formats import converted

        target = converted(target, task.output_format)
    return Outcome(
        target,
        done.duration,
        done.rate,
        done.channels,
        made.card.name,
        "" if done.refusal is None else done.refusal.reason,
        done.warnings,
        audit,
        is_film,
    )


def _fallback(task: Task, anonymizer: Anonymizer) -> Anonymizer | None:
    """System for a recording that the first one refuses; None without one.

    Raises:
        UnknownSystemError: it would never be used. The default passes: it is named by clients that
            send every field.
    """
    from voicenym.anonymizer import load

    if task.fallback == NO_FALLBACK:
        return None
    if not anonymizer.may_refuse:
        if task.fallback != DEFAULT_FALLBACK:
            raise UnknownSystemError(
                f"fallback {task.fallback}: {task.system} with these settings refuses no "
                "recording; leave fallback out"
            )
        return None
    if task.fallback == task.system:
        raise UnknownSystemError(
            f"fallback {task.fallback}: is the system itself; send another one, or {NO_FALLBACK}"
        )
    return load(task.fallback)


def _people(
    task: Task,
    people: People,
    anonymizer: Anonymizer,
    other: Anonymizer | None,
    target: Path,
    report: Callable[[float], None],
) -> Outcome:
    """Hides the chosen people of a recording."""
    from voicenym.corpus.people import several_speakers
    from voicenym.diarization.treatments import Treatment, choice

    who = choice(people.turns, people.only, people.keep, Treatment(people.unsure))
    what = several_speakers.plan_speakers(task.source, "turns", people.turns, who)
    if what.frames > task.seconds * what.rate:
        raise too_long(task.seconds)
    result, refusals = several_speakers.anonymize_speakers(
        anonymizer, people.pseudonyms, task.source, target, what, progress=report, fallback=other
    )
    made = other if refusals and other is not None else anonymizer
    reasons = sorted({one.reason for one in refusals.values()})
    return Outcome(
        target,
        result.duration,
        result.rate,
        result.channels,
        made.card.name,
        "; ".join(reasons),
        tuple(_nameless(text, task.folder) for text in result.warnings),
        {"refused": _KEPT} if task.audit else None,
    )


_KEPT = "it compares recordings of one person, and this one was sent with turns."


def _extension(reader: Any, suffix: str) -> str:
    """Extension of the output: that of the input's container, as found in its content."""
    from voicenym.audio.container_files.containers import EXTENSIONS

    container = reader.format.container
    if EXTENSIONS.get(suffix.lower()) == container:
        return suffix.lower()
    if container == "mp4":
        return ".mp4" if reader.has_picture else ".m4a"
    found = next((name for name, kind in EXTENSIONS.items() if kind == container), None)
    return found or (".mkv" if reader.has_picture else ".wav")


def _audit(
    original: Path, anonymized: Path, system: str, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Audit as JSON; a refusal instead where it cannot run, since the output stands without it."""
    from voicenym.evaluation.recording_audit import audit
    from voicenym.verification.verifiers import verifier

    try:
        found = audit(original, anonymized, [verifier("ecapa-small")], system, settings)
    except (VoicenymError, ImportError, ValueError) as error:
        text = str(error) if isinstance(error, VoicenymError) else type(error).__name__
        return {"refused": text}
    return {
        "verdict": found.verdict,
        "searched": found.searched(),
        "attackers": [
            {"attacker": sight.attacker, "llr": sight.llr, "words": sight.words}
            for sight in found.sights
        ],
        "copied": found.copied,
        "pitch_hz": dict(zip(("before", "after"), found.pitch, strict=True)),
        "seconds": dict(zip(("before", "after"), found.seconds, strict=True)),
        "tags": len(found.tags),
    }
