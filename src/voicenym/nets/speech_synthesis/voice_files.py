"""Files of text-to-speech voices: the voice of Piper or of Kokoro in a folder."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.nets.sealed_folder import check_seal, sealed
from voicenym.nets.speech_synthesis.kokoro import Kokoro, belonging, vocabulary
from voicenym.nets.speech_synthesis.piper import Piper, config_of
from voicenym.nets.speech_synthesis.synthesiser import Synthesiser
from voicenym.nets.weights.weight_files import copy_files


def graphs(folder: Path) -> list[Path]:
    """ONNX files of a folder, or of its subfolder ``onnx``."""
    return sorted(folder.glob("*.onnx")) or sorted((folder / "onnx").glob("*.onnx"))


def graph_file(place: Path) -> Path:
    """The ONNX file of a voice.

    Args:
        place: the file, or a folder with it.

    Raises:
        VoicenymError: none there, or several.
    """
    if place.is_file() and place.suffix.lower() == ".onnx":
        return place
    found = graphs(place) if place.is_dir() else []
    if len(found) == 1:
        return found[0]
    raise VoicenymError(
        f"{place}: {'holds several ONNX files' if found else 'no voice there'}; give the ONNX file "
        "of a voice of Piper with its NAME.onnx.json beside it, or a folder of Kokoro"
    )


def opened(place: Path) -> Synthesiser:
    """The voice of Piper or of Kokoro in a folder or file; read once per process.

    Raises:
        DependencyError: onnxruntime is not installed.
        VoicenymError: no voice there, one that cannot be read, or one that was pulled or converted
            and has changed.
    """
    model = graph_file(place)
    return _opened(model, version(place))


@functools.lru_cache(maxsize=2)
def _opened(model: Path, version: str) -> Synthesiser:
    check_seal(model.parent, [model, *_beside(model)])
    return Piper(model) if config_of(model).is_file() else Kokoro(model)


def _beside(model: Path) -> list[Path]:
    """Files that belong to the graph of a voice, but for the vocabulary of Kokoro."""
    if config_of(model).is_file():
        return [config_of(model)]
    return list(belonging(model.parent.parent if model.parent.name == "onnx" else model.parent))


def version(place: Path) -> str:
    """Digest of a voice's graph.

    Raises:
        VoicenymError: no voice there.
    """
    model = graph_file(place)
    try:
        found = os.stat(model)
    except OSError as error:
        raise VoicenymError(f"{model}: cannot be read ({error.strerror})") from error
    return _digest(model, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=8)
def _digest(model: Path, modified: int, size: int) -> str:
    with model.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def copied(model: Path, folder: Path) -> str:
    """Copies a voice of Piper or Kokoro, with what belongs to it, to a folder of its own.

    Args:
        model: the ONNX file.
        folder: made where there is none; gets a ``config.json`` with the SHA-256 of all of it.

    Returns:
        One-line description.

    Raises:
        DependencyError, VoicenymError: as :func:`opened`, and where the folder cannot be written.
    """
    found = opened(model)  # fails before anything is written
    home = model.parent.parent if model.parent.name == "onnx" else model.parent
    piper = isinstance(found, Piper)
    try:
        files = (model, *_beside(model))
        config: dict[str, Any] = {"kind": "piper" if piper else "kokoro"}
        if not piper:
            config["vocab"] = dict(vocabulary(home))
        text = json.dumps(sealed(files, config), indent=2, ensure_ascii=False) + "\n"
        copy_files(files, folder, text)
    except OSError as error:
        raise VoicenymError(f"{folder}: cannot be written ({error.strerror})") from error
    return f"{found.voices} voice{'s' if found.voices > 1 else ''}, {found.rate} Hz"
