"""Interface of text-to-speech voices, and the one in a folder."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.pseudonym import Pseudonym

Timbre = tuple[float, ...]
"""A synthesiser's own description of one of its voices: shares of styles, or a speaker."""
PURPOSE = "asr-tts.timbre"
"""Name of the draws of a timbre."""


class Synthesiser(Protocol):
    """Speaks texts in many voices."""

    rate: int
    """Of its samples, in Hz."""
    language: str
    """Code such as ``en-us``, of espeak-ng."""
    sexes: tuple[str, ...]
    """Labels of its voices, of ``f`` and ``m``; empty where they have none."""
    voices: int
    """Number of voices that it was published with."""

    def timbre(self, pseudonym: Pseudonym, sex: str = "") -> Timbre:
        """The voice of a pseudonym.

        Args:
            pseudonym: draws it.
            sex: ``f`` or ``m``, one of :attr:`sexes`; empty for any.
        """
        ...

    def speak(self, text: str, timbre: Timbre, speed: float, rng: np.random.Generator) -> Any:
        """Speech ``[time]`` float32 of a sentence; empty where nothing can be pronounced.

        Args:
            text: a sentence, with punctuation.
            timbre: of the voice.
            speed: 1 for the usual one; higher is faster.
            rng: of the noise within the speech.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.speech_synthesis.phonemes`.
        """
        ...

    def check(self) -> None:
        """Checks what it needs beside its files.

        Raises:
            DependencyError, VoicenymError: as :meth:`speak`.
        """
        ...


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
    if place.is_file():
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
        VoicenymError: no voice there, or one that cannot be read.
    """
    model = graph_file(place)
    return _opened(model, version(place))


@functools.lru_cache(maxsize=2)
def _opened(model: Path, version: str) -> Synthesiser:
    from voicenym.nets.speech_synthesis.kokoro import Kokoro
    from voicenym.nets.speech_synthesis.piper import Piper, config_of

    return Piper(model) if config_of(model).is_file() else Kokoro(model)


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


def json_of(path: Path) -> Mapping[str, Any]:
    """A configuration of a voice.

    Raises:
        VoicenymError: it cannot be read.
    """
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise VoicenymError(f"{path}: cannot be read ({error}); it comes with the voice") from error
