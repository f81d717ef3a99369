"""Synthetic speech of any texts, by published text-to-speech voices.

A voice is an ONNX graph that synthesizes phonemes: Piper's (VITS, Kim et al., ICML 2021) or
Kokoro's (StyleTTS 2, Li et al., NeurIPS 2023). Phonemes come from the system's espeak-ng, which
runs as a program of its own. Both graphs draw their noise themselves, so that no two readings are
equal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from voicenym import processes
from voicenym.errors import DependencyError, VoicenymError

CLAUSE = re.compile(r"([,.;:!?]+)\s*")
ESPEAK = "espeak-ng"
KOKORO_RATE = 24_000
LONGEST = 500
"""Phonemes in one call of Kokoro."""
KOKORO_PHONES = (
    ("eɪ", "A"), ("aɪ", "I"), ("aʊ", "W"), ("oʊ", "O"), ("ɔɪ", "Y"), ("tʃ", "ʧ"), ("dʒ", "ʤ"),
    ("əl", "ᵊl"), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɪə", "iə"), ("ɚ", "əɹ"), ("ɐ", "ə"), ("ʔ", "t"),
    ("r", "ɹ"), ("e", "A"), ("ː", ""),
)  # fmt: skip
"""Replacements of espeak-ng's phonemes by Kokoro's for American English, in their order."""


class Voice(Protocol):
    """A synthetic voice."""

    rate: int
    """Hz."""

    def __call__(self, text: str, rng: np.random.Generator) -> np.ndarray:
        """Speech ``[time]`` float32 of a sentence, with random variation."""


def phonemes(text: str, language: str = "en-us") -> str:
    """Phonemes (IPA) of a text, with its punctuation.

    Args:
        text: a sentence.
        language: a voice of espeak-ng.

    Raises:
        DependencyError: espeak-ng is not installed.
        VoicenymError: it does not know the language.
    """
    parts = CLAUSE.split(text.strip())
    clauses = []
    for clause, mark in zip(parts[::2], [*parts[1::2], ""], strict=True):
        if clause.strip():
            clauses.append(_espeak(clause.strip(), language) + mark[:1])
    return " ".join(clauses)


def _espeak(clause: str, language: str) -> str:
    command = [ESPEAK, "-q", "--ipa", "-v", language, "--", clause]
    try:
        done = processes.program(command)
    except FileNotFoundError:
        raise DependencyError("reading aloud: install the program espeak-ng") from None
    if done.returncode:
        raise VoicenymError(f"espeak-ng: {done.stderr.strip()}; give a language that it knows")
    # espeak-ng marks a change of language in parentheses
    return re.sub(r"\([a-z-]+\)", "", " ".join(done.stdout.split()))


class Piper:
    """A voice of Piper with a single speaker.

    Args:
        model: the ONNX file; its configuration lies beside it as ``NAME.onnx.json``.

    Raises:
        DependencyError: onnxruntime is not installed.
        VoicenymError: the files cannot be read.
    """

    def __init__(self, model: Path) -> None:
        config = _json(model.with_name(f"{model.name}.json"))
        self.rate = int(config["audio"]["sample_rate"])
        self._language = str(config["espeak"]["voice"])
        self._numbers: Mapping[str, Sequence[int]] = config["phoneme_id_map"]
        self._session = session(model)

    def __call__(self, text: str, rng: np.random.Generator) -> np.ndarray:
        between = self._numbers["_"]
        numbers = [*self._numbers["^"], *between]
        for letter in phonemes(text, self._language):
            if letter in self._numbers:
                numbers += [*self._numbers[letter], *between]
        numbers += self._numbers["$"]
        # variation of the sound, length, variation of lengths; 0.667, 1 and 0.8 are Piper's own
        scales = [rng.uniform(0.4, 0.8), rng.uniform(0.8, 1.3), rng.uniform(0.5, 0.9)]
        inputs = {
            "input": np.array([numbers], dtype=np.int64),
            "input_lengths": np.array([len(numbers)], dtype=np.int64),
            "scales": np.array(scales, dtype=np.float32),
        }
        return np.asarray(self._session.run(None, inputs)[0], dtype=np.float32).reshape(-1)


class Kokoro:
    """Voices of Kokoro, each a mixture of the given styles.

    Args:
        model: the ONNX file.
        styles: ``[length, ..., 256]`` by name: a style vector by the number of phonemes.
        vocabulary: numbers of phonemes.

    Raises:
        DependencyError: onnxruntime is not installed.
        VoicenymError: the file cannot be read.
    """

    rate = KOKORO_RATE

    def __init__(
        self, model: Path, styles: Mapping[str, np.ndarray], vocabulary: Mapping[str, int]
    ) -> None:
        self._styles = [styles[name].reshape(len(styles[name]), -1) for name in sorted(styles)]
        self._numbers = vocabulary
        self._session = session(model)

    def __call__(self, text: str, rng: np.random.Generator) -> np.ndarray:
        letters = phonemes(text)
        for theirs, its in KOKORO_PHONES:
            letters = letters.replace(theirs, its)
        numbers = [self._numbers[x] for x in letters if x in self._numbers][:LONGEST]
        shares = rng.dirichlet(np.full(len(self._styles), 0.5))
        mixed = sum(
            share * style[min(len(numbers), len(style)) - 1]
            for share, style in zip(shares, self._styles, strict=True)
        )
        inputs = {
            "tokens": np.array([[0, *numbers, 0]], dtype=np.int64),
            "style": np.asarray(mixed, dtype=np.float32).reshape(1, -1),
            "speed": np.array([rng.uniform(0.8, 1.2)], dtype=np.float32),
        }
        return np.asarray(self._session.run(None, inputs)[0], dtype=np.float32).reshape(-1)


def session(model: Path) -> Any:
    """An ONNX graph, ready to run on one core.

    Raises:
        DependencyError: onnxruntime is not installed.
        VoicenymError: the file cannot be read.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise DependencyError("reading aloud: pip install onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(model), options, ["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has no class of its own to catch
        first = str(error).splitlines()[0]
        raise VoicenymError(f"{model}: cannot be run ({first}); give an ONNX file") from error


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise VoicenymError(f"{path}: cannot be read ({error}); it comes with the voice") from error
