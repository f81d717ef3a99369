"""What a worker process does with one recording: anonymize, convert, audit."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from voicenym.apps.serve.confinement import confine
from voicenym.errors import AudioError, VoicenymError
from voicenym.pseudonym import Pseudonym

MODULES = (
    "torch", "numpy", "soxr", "soundfile", "av", "scipy.signal", "scipy.special", "tomllib",
    "voicenym.corpus.single_file", "voicenym.corpus.near_original", "voicenym.corpus.fallback",
    "voicenym.apps.serve.job_task", "voicenym.apps.serve.warm_systems",
    "voicenym.audio.av_sink", "voicenym.audio.av_source", "voicenym.audio.wav_reader",
    "voicenym.audio.wav_sink", "voicenym.audio.sndfile_source", "voicenym.audio.sndfile_sink",
)  # fmt: skip
"""Modules that the copied process imports, so that its copies need not."""
NAME = "the recording"
"""Name of every recording in messages."""
PROGRESS, DONE, FAILED = "progress", "done", "failed"


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
    """

    source: Path
    folder: Path
    suffix: str
    system: str
    settings: Mapping[str, str]
    pseudonym: Pseudonym
    fallback: str = "recast"
    seconds: float = 3600.0
    memory: int = 3 << 30
    cpu_seconds: int = 3600
    output_bytes: int = 4 << 30
    audit: bool = False
    output_format: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a task.

    Args:
        path: of the output, in the task's folder.
        seconds: of the recording.
        rate: in Hz.
        channels: of the recording.
        system: that made the output.
        refusal: why it was not the chosen one; empty if it was.
        warnings: sentences.
        audit: of :func:`voicenym.evaluation.recording_audit.audit`, as JSON; None without one.
    """

    path: Path
    seconds: float
    rate: int
    channels: int
    system: str
    refusal: str = ""
    warnings: tuple[str, ...] = ()
    audit: Mapping[str, Any] | None = field(default=None, repr=False)


class TooLongError(AudioError):
    """A recording that is longer than the server takes."""


def work(connection: Connection, task: Task) -> None:
    """Main function of a worker process; sends messages of a kind and a value.

    Args:
        connection: to the server.
        task: what to do.
    """
    import torch

    torch.set_num_threads(1)
    try:
        confine(task.memory, task.cpu_seconds, task.output_bytes)
        outcome = run(task, lambda done, of: connection.send((PROGRESS, (done, of))))
        message: tuple[str, Any] = (DONE, outcome)
    except VoicenymError as error:
        message = (FAILED, (type(error), _nameless(str(error), task)))
    except MemoryError:
        message = (FAILED, (AudioError, _NO_MEMORY))
    except RuntimeError as error:
        known = "alloc" in str(error)  # torch's word for a lack of memory
        message = (FAILED, (AudioError, _NO_MEMORY) if known else (None, _place(error)))
    except Exception as error:  # a defect; its message may quote the recording
        message = (FAILED, (None, _place(error)))
    with contextlib.suppress(OSError):
        connection.send(message)
        connection.close()
    os._exit(0)  # nothing to flush, and torch's own end takes a while


_NO_MEMORY = f"{NAME}: needs more memory than the server gives; send a shorter one"


def _nameless(text: str, task: Task) -> str:
    """Message in which the files of the request are the recording."""
    return re.sub(rf"{re.escape(str(task.folder))}/[\w.]+", NAME, text)


def _place(error: BaseException) -> str:
    from voicenym.apps.web.quiet_log import defect_lines

    return defect_lines(error)


def run(task: Task, progress: Any = lambda done, of: None) -> Outcome:
    """Anonymizes a recording within this process.

    Args:
        task: what to do.
        progress: called with seconds done and seconds in all, None where unknown.

    Raises:
        VoicenymError: as the systems and files raise them, in which the recording has no name.
    """
    from voicenym.anonymizer import SYSTEMS, load
    from voicenym.audio import open_reader
    from voicenym.corpus.single_file import anonymize_file

    given = SYSTEMS.values(task.system, dict(task.settings))
    anonymizer = load(task.system, **given)
    anonymizer.check()
    other = None
    if anonymizer.may_refuse and task.fallback not in ("none", task.system):
        other = load(task.fallback)
    with task.source.open("rb") as source:
        with open_reader(source) as reader:
            whole = None if reader.frames is None else reader.frames / reader.rate
            if whole is not None and whole > task.seconds * 1.05 + 1.0:  # may be an estimate
                raise _too_long(task)
            target = task.folder / f"output{_extension(reader, task.suffix)}"

        def report(done: float) -> None:
            if done > task.seconds:
                raise _too_long(task)
            progress(done, whole)

        done = anonymize_file(
            anonymizer, task.pseudonym, source, target, name=NAME, progress=report, fallback=other
        )
    made = anonymizer if done.refusal is None or other is None else other
    audit = _audit(task.source, target, made.card.name, given) if task.audit else None
    if task.output_format is not None:
        from voicenym.apps.serve.output_formats import converted

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
    )


def _too_long(task: Task) -> TooLongError:
    return TooLongError(
        f"{NAME}: is longer than {task.seconds:g} s, the limit of this server; send a shorter one, "
        "or raise the limit of the server"
    )


def _extension(reader: Any, suffix: str) -> str:
    """Extension of the output: that of the input's container, as found in its content."""
    from voicenym.audio.containers import EXTENSIONS

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
