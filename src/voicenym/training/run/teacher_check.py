"""Check that a resumed run has the frozen networks of its start.

A training learns from them, and its checkpoints do not hold them: other weights of the same shapes
would go unnoticed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.nets.names_and_paths import as_path, is_path
from voicenym.private import private_folder, write_private

TEACHERS_FILE = "teachers.json"
LAST_CHECKPOINT = "last.ckpt"
WEIGHTS = (".safetensors", ".bin", ".onnx", ".npz")
"""Endings of files of weights."""
CONFIG = "config.json"
PITCH = ("tracker", "lowest", "highest")
"""Settings of a pipeline by which its F0 is found."""


@dataclass(frozen=True)
class Teacher:
    """What an option names.

    Args:
        value: name, path, tuple of them or None.
        parts: of a pipeline, those that the training reads; others may be assembled meanwhile.
    """

    value: Any
    parts: tuple[str, ...] = ()


@contextmanager
def same_teachers(folder: Path, teachers: Mapping[str, Teacher]) -> Iterator[None]:
    """Checks the teachers of a run before it, as :func:`check_teachers` does.

    A run that fails before it wrote anything leaves no folder.

    Args:
        folder, teachers: of the run; without teachers nothing is checked.

    Raises:
        VoicenymError: as of ``check_teachers``.
    """
    new = not folder.exists()
    if teachers:
        check_teachers(folder, teachers)
    try:
        yield
    except BaseException:
        if teachers and new and [place.name for place in folder.iterdir()] == [TEACHERS_FILE]:
            (folder / TEACHERS_FILE).unlink()
            folder.rmdir()
        raise


def check_teachers(folder: Path, teachers: Mapping[str, Teacher]) -> None:
    """Writes which weights the teachers of a run have, or compares them with those of its start.

    Args:
        folder: of the run.
        teachers: by the option that names them.

    Raises:
        VoicenymError: a teacher is another one than at the start, or the file cannot be written.
    """
    path = folder / TEACHERS_FILE
    try:
        now = {
            flag: [_weights(text, one.parts) for text in _texts(one.value)]
            for flag, one in teachers.items()
        }
        if (folder / LAST_CHECKPOINT).exists() and path.exists():
            before = _read(path)
            for flag, found in now.items():
                if flag in before and before[flag] != found:
                    raise VoicenymError(
                        f"{folder}: its training started with "
                        f"{_difference(flag, teachers[flag].value, before[flag])}; give those of "
                        "its start, or choose another folder with -o"
                    )
        private_folder(folder)
        write_private(path, json.dumps(now, indent=2) + "\n")
    except OSError as error:
        place = error.filename or folder
        raise VoicenymError(f"{place}: {error.strerror}; choose another folder") from error


def _read(path: Path) -> Mapping[str, Any]:
    """Teachers at the start.

    Raises:
        OSError: it cannot be read.
        VoicenymError: it is damaged.
    """
    try:
        before = json.loads(path.read_text("utf-8"))
    except ValueError:
        before = None
    if not isinstance(before, dict):
        raise VoicenymError(
            f"{path}: is damaged; remove it, if the networks that the training reads are the same"
        )
    return before


def _difference(flag: str, value: Any, before: list[str]) -> str:
    if not before:
        return f"no {flag}"
    given = " ".join(_texts(value))
    return f"other weights of {flag} than {given}" if given else f"{flag}, and this is without"


def _texts(value: Any) -> Iterator[str]:
    """Names and paths in an option."""
    for one in value if isinstance(value, tuple) else (value,):
        if one is not None:
            yield as_path(one) if isinstance(one, Path) else str(one)


def _weights(text: str, parts: tuple[str, ...]) -> str:
    """Digest of the weights at a path. A name stays as it is: the weights of a name are pinned.

    Args:
        text: a name, a path, or one of them after a kind, as in ``ecapa:PLACE``.
        parts: of a pipeline.
    """
    kind, colon, rest = text.partition(":")
    for start, place in (("", text), (f"{kind}{colon}", rest)):
        if is_path(place) and (Path(place).is_dir() or Path(place).is_file()):
            return f"{start}{_digest(Path(place), parts)}"
    return text


def _digest(place: Path, read: tuple[str, ...]) -> str:
    """SHA-256 of a file; or of the weights and configurations of a folder and of its parts, without
    what a training left beside them. Of a pipeline, what it records of the parts that are read.
    """
    if place.is_file():
        return _of_file(place)
    if read and (recorded := _pipeline(place)) is not None:
        shas = {name: recorded["parts"].get(name) for name in read}
        pitch = {name: recorded.get(name) for name in PITCH}
        return hashlib.sha256(json.dumps([shas, pitch], sort_keys=True).encode()).hexdigest()
    total = hashlib.sha256()
    parts = [place, *sorted(part for part in place.iterdir() if (part / CONFIG).is_file())]
    for part in parts:
        for path in sorted(part.iterdir()):
            if path.suffix in WEIGHTS or path.name == CONFIG:
                name = path.relative_to(place).as_posix()
                total.update(f"{name}\0{_of_file(path)}\n".encode())
    return total.hexdigest()


def _pipeline(place: Path) -> dict[str, Any] | None:
    """Configuration of a pipeline with the digests of its parts; None if the folder is no such."""
    try:
        found = json.loads((place / CONFIG).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("parts"), dict) else None


def _of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
