"""Runs targets on damaged files in a child process, and classifies the results.

An input is good when it is read, or refused by an error for users that names a file and is short.
Anything else is a finding: another exception, a signal, memory beyond the limit, no end. A child
that dies, or does not answer for :data:`PATIENCE` seconds, is replaced; the run goes on behind the
input that killed it. How long an input takes is not judged otherwise.
"""

from __future__ import annotations

import faulthandler
import os
import random
import resource
import select
import shutil
import signal
import struct
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from targets import TARGETS, Target

PATIENCE = 120.0
"""Seconds after which a child is taken to hang; a safety net."""
MEMORY = 3 << 30
"""Bytes that a child may take beyond what it has when it starts."""
LONGEST = 700
"""Characters of a message, without the names of files."""


@dataclass
class Report:
    """What became of the inputs of a target.

    Args:
        read: inputs that were valid still.
        refused: inputs that an error for users refused.
        findings: by what happened, the indices of the inputs.
    """

    read: int = 0
    refused: int = 0
    findings: dict[str, list[int]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return self.read + self.refused + sum(map(len, self.findings.values()))


def shares(count: int, targets: Sequence[Target] = TARGETS) -> dict[str, int]:
    """How many inputs each target gets of so many."""
    whole = sum(target.weight for target in targets)
    return {target.name: max(1, count * target.weight // whole) for target in targets}


def run(target: Target, count: int, seed: int = 0, first: int = 0) -> Report:
    """Fuzz a target.

    Args:
        target: what is fuzzed.
        count: inputs.
        seed: of what is drawn.
        first: index of the first input.
    """
    report, at = Report(), first
    with tempfile.TemporaryDirectory(prefix="voicenym-fuzz-") as name:
        valid = Path(name) / "valid"
        valid.mkdir()
        files = target.make(valid)
        while at < first + count:
            for index, verdict in _child(target, valid, files, range(at, first + count), seed):
                at = index + 1
                if verdict == "read":
                    report.read += 1
                elif verdict == "refused":
                    report.refused += 1
                else:
                    report.findings.setdefault(verdict, []).append(index)
    return report


def _child(
    target: Target, valid: Path, files: list[str], indices: range, seed: int
) -> Iterator[tuple[int, str]]:
    """Verdicts of inputs one after another, up to the last or to one that ends the child."""
    here, there = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(here)
        status = 1
        try:
            _work(target, valid, files, indices, seed, there)
            status = 0
        finally:
            os._exit(status)
    os.close(there)
    index = indices.start
    try:
        with os.fdopen(here, "rb", buffering=0) as pipe:
            while index < indices.stop:
                ready, _, _ = select.select([pipe], [], [], PATIENCE)
                if not ready:
                    os.kill(pid, signal.SIGKILL)
                    yield index, "hangs"
                    return
                head = pipe.read(4)
                if len(head) < 4:
                    break
                yield index, pipe.read(struct.unpack("<I", head)[0]).decode()
                index += 1
    finally:
        _, status = os.waitpid(pid, 0)
    if index < indices.stop:
        number = os.waitstatus_to_exitcode(status)
        yield index, f"dies of signal {-number}" if number < 0 else f"exits with {number}"


def _work(
    target: Target, valid: Path, files: list[str], indices: range, seed: int, pipe: int
) -> None:
    import torch

    torch.set_num_threads(1)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.disable()  # a signal is told as a finding
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)  # libraries write what they think of an input
    for index in indices:
        verdict = judged(target, valid, files, index, seed).encode("utf-8", "replace")
        os.write(pipe, struct.pack("<I", len(verdict)) + verdict)


def judged(target: Target, valid: Path, files: list[str], index: int, seed: int) -> str:
    """``read``, ``refused``, or what is wrong."""
    from voicenym.errors import VoicenymError

    folder = valid.parent / "damaged"
    path = damaged(target, valid, files, index, seed, folder)
    try:
        target.read(folder, path)
    except VoicenymError as error:
        return _message(str(error), folder, path)
    except MemoryError:
        return "takes too much memory"
    except RecursionError:
        return f"RecursionError in {_place(sys.exc_info()[2])}"
    except Exception as error:
        return f"{type(error).__name__} in {_place(error.__traceback__)}"
    return "read"


def damaged(
    target: Target, valid: Path, files: list[str], index: int, seed: int, folder: Path
) -> Path:
    """A folder like the valid one, in which one file is damaged."""
    rng = random.Random(f"{seed} {target.name} {index}")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(valid, folder)
    for path in folder.iterdir():  # tables that name files of the folder
        if path.stat().st_size < 20_000 and str(valid).encode() in (text := path.read_bytes()):
            path.write_bytes(text.replace(str(valid).encode(), str(folder).encode()))
    path = folder / rng.choice(files)
    data = path.read_bytes()
    made_up = index % 50 == 49
    path.write_bytes(rng.randbytes(rng.randrange(2_000)) if made_up else target.mutate(data, rng))
    return path


def _message(text: str, folder: Path, path: Path) -> str:
    if target_free(text, folder, path):
        return f"a message that names no file: {text[:60]!r}"
    plain = text.replace(str(folder), "")
    if "\n" in plain.strip() and "left out" not in plain:
        return f"a message of several lines: {plain[:60]!r}"
    if len(plain) > LONGEST:
        return f"a message of {len(plain) // 100 * 100} characters and more"
    if "Traceback" in text:
        return "a message with a traceback"
    return "refused"


def target_free(text: str, folder: Path, path: Path) -> bool:
    """Whether a message names neither the damaged file nor its folder; settings have no file."""
    if path.suffix == ".txt":
        return False
    return path.name not in text and str(folder) not in text


def _place(trace: object) -> str:
    frames = traceback.extract_tb(trace)  # type: ignore[arg-type]
    own = [f for f in frames if "/voicenym/" in f.filename] or frames[-1:]
    last = own[-1]
    return f"{Path(last.filename).name}:{last.lineno} ({last.name})"
