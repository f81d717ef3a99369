"""Voices of Kokoro: StyleTTS 2 (Li et al., NeurIPS 2023) as an ONNX graph, with mixed styles.

A voice is a table of style vectors by the number of phonemes. A mixture of tables is a voice, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voicenym.errors import VoicenymError
from voicenym.nets.speech_synthesis.onnx_session import Graph
from voicenym.nets.speech_synthesis.phonemes import check_program, phonemes
from voicenym.nets.speech_synthesis.synthesiser import PURPOSE, Synthesiser, Timbre, json_of

if TYPE_CHECKING:
    from voicenym.pseudonym import Pseudonym

RATE = 24_000
SIZE = 256
"""Elements of a style."""
LONGEST = 500
"""Phonemes in one call."""
MIXED = 3
"""Voices of the bank in a mixture."""
NOISE = 100_000
"""Random numbers of a graph that draws some, at first."""
REPLACED = (
    ("eɪ", "A"), ("aɪ", "I"), ("aʊ", "W"), ("oʊ", "O"), ("ɔɪ", "Y"), ("tʃ", "ʧ"), ("dʒ", "ʤ"),
    ("əl", "ᵊl"), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɪə", "iə"), ("ɚ", "əɹ"), ("ɐ", "ə"), ("ʔ", "t"),
    ("r", "ɹ"), ("e", "A"), ("ː", ""),
)  # fmt: skip
"""Replacements of espeak-ng's phonemes by Kokoro's for American English, in their order."""
ENGLISH = ("a", "b")
"""First letters of the names of voices of American and British English."""


class Kokoro(Synthesiser):
    """Voices of Kokoro in English, each a mixture of up to three of the bank.

    The bank is what lies beside the graph, or one folder above it: ``voices/*.bin`` (float32) or
    ``*.npz`` (styles by name), with the numbers of the phonemes in ``tokenizer.json``,
    ``vocab.json`` or ``config.json``. Names such as ``af_heart`` state language and sex; voices of
    other languages are used where there are none of English.

    Args:
        model: the ONNX file.

    Raises:
        DependencyError: onnxruntime is not installed.
        VoicenymError: a file cannot be read, or is not there.
    """

    rate = RATE
    language = "en-us"

    def __init__(self, model: Path) -> None:
        folder = model.parent.parent if model.parent.name == "onnx" else model.parent
        self._numbers = vocabulary(folder)
        bank = dict(_bank(folder))
        if not bank:
            raise VoicenymError(
                f"{folder}: no styles of Kokoro there (voices/*.bin or *.npz); they come with it"
            )
        english = {name for name in bank if name[:1] in ENGLISH and name[2:3] == "_"}
        names = sorted(english or bank)
        self._styles = [bank[name] for name in names]
        self._labels = [name[1] if name[2:3] == "_" and name[1] in "fm" else "" for name in names]
        self.voices = len(names)
        self.sexes = tuple(sorted({label for label in self._labels if label}))
        self._graph = Graph(model)

    def timbre(self, pseudonym: Pseudonym, sex: str = "") -> Timbre:
        """Shares of the bank's voices: of three that the pseudonym draws, by Dirichlet(1/2)."""
        fit = [row for row, label in enumerate(self._labels) if not sex or label == sex]
        if not fit:
            raise VoicenymError(f"Kokoro: no voice of the bank is of the sex {sex!r}")
        order = pseudonym.uniforms(f"{PURPOSE}.bank", len(self._styles))
        chosen = sorted(fit, key=lambda row: order[row])[:MIXED]
        # the square of a normal number is of Gamma(1/2)
        weights = [x * x for x in pseudonym.normals(f"{PURPOSE}.shares", len(chosen))]
        shares = [0.0] * len(self._styles)
        for row, weight in zip(chosen, weights, strict=True):
            shares[row] = weight / sum(weights)
        return tuple(shares)

    def speak(
        self, text: str, timbre: Timbre, speed: float, rng: np.random.Generator
    ) -> np.ndarray:
        letters = phonemes(text, self.language)
        for theirs, its in REPLACED:
            letters = letters.replace(theirs, its)
        known = [self._numbers[x] for x in letters if x in self._numbers]
        parts = [self._spoken(part, timbre, speed, rng) for part in _parts(known)]
        return np.concatenate([np.zeros(0, np.float32), *parts])

    def _spoken(
        self, numbers: list[int], timbre: Timbre, speed: float, rng: np.random.Generator
    ) -> np.ndarray:
        style = sum(
            share * table[min(len(numbers), len(table)) - 1]
            for share, table in zip(timbre, self._styles, strict=True)
            if share
        )
        tokens = "tokens" if "tokens" in self._graph.inputs else "input_ids"
        rate = np.int64 if self._graph.integers("speed") else np.float32
        inputs: dict[str, np.ndarray] = {
            tokens: np.array([[0, *numbers, 0]], dtype=np.int64),
            "style": np.asarray(style, dtype=np.float32).reshape(1, -1),
            "speed": np.array([speed], dtype=rate),
        }
        return self._graph(inputs, rng, NOISE)

    def check(self) -> None:
        check_program(self.language)


def _parts(numbers: list[int]) -> Iterator[list[int]]:
    """At most :data:`LONGEST` phonemes each, of about equal length."""
    count = -(-len(numbers) // LONGEST)
    for i in range(count):
        yield numbers[i * len(numbers) // count : (i + 1) * len(numbers) // count]


def _bank(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Names and tables ``[length, 256]`` of styles."""
    try:
        for path in belonging(folder):
            with path.open("rb") as file:
                packed = file.read(2) == b"PK"
            if packed:  # an archive of numpy, also by the name .bin
                yield from _archive(path)
            else:
                yield path.stem, np.fromfile(path, "<f4").reshape(-1, SIZE)
    except (OSError, ValueError) as error:
        raise VoicenymError(f"{folder}: styles cannot be read ({error}); fetch them again") from (
            error
        )


def _archive(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    with np.load(path, allow_pickle=False) as found:
        for name in found.files:
            yield name, np.asarray(found[name], np.float32).reshape(-1, SIZE)


def belonging(folder: Path) -> Iterator[Path]:
    """Files of styles in a folder of Kokoro."""
    for place in (folder, folder / "voices"):
        yield from sorted((*place.glob("*.bin"), *place.glob("*.npz")))


def vocabulary(folder: Path) -> Mapping[str, int]:
    """Numbers of phonemes in a folder of Kokoro.

    Raises:
        VoicenymError: none there.
    """
    for name in ("tokenizer.json", "vocab.json", "config.json"):
        if not (folder / name).is_file():
            continue
        found = json_of(folder / name)
        inner = found.get("model", found)
        vocabulary = inner.get("vocab") if isinstance(inner, dict) else None
        if isinstance(vocabulary, dict):
            return {str(letter): int(number) for letter, number in vocabulary.items()}
    raise VoicenymError(
        f"{folder}: no numbers of phonemes there (tokenizer.json, vocab.json or config.json); they "
        "come with Kokoro, as NAME.onnx.json comes with a voice of Piper"
    )
