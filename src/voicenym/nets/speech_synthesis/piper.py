"""Voices of Piper: VITS (Kim et al., ICML 2021) as an ONNX graph, with one or many speakers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voicenym.errors import VoicenymError
from voicenym.nets.speech_synthesis.onnx_session import Graph
from voicenym.nets.speech_synthesis.phonemes import check_program, phonemes
from voicenym.nets.speech_synthesis.synthesiser import PURPOSE, Synthesiser, Timbre, json_of

if TYPE_CHECKING:
    from voicenym.pseudonym import Pseudonym

SIZE, FRAMES = 192, 6
"""Numbers of a frame, and frames of a phoneme or blank, of the noise."""
VARIATION, VARIATION_OF_LENGTHS = 0.667, 0.8
"""Piper's own."""


def config_of(model: Path) -> Path:
    """Where the configuration of an ONNX file lies."""
    return model.with_name(f"{model.name}.json")


class Piper(Synthesiser):
    """A voice of Piper.

    Args:
        model: the ONNX file; its configuration lies beside it as ``NAME.onnx.json``.

    Raises:
        DependencyError: onnxruntime is not installed.
        VoicenymError: the files cannot be read.
    """

    sexes: tuple[str, ...] = ()

    def __init__(self, model: Path) -> None:
        where = config_of(model)
        config = json_of(where)
        try:
            self.rate = int(config["audio"]["sample_rate"])
            self._numbers: Mapping[str, Sequence[int]] = dict(config["phoneme_id_map"])
            self._spelt = config.get("phoneme_type", "espeak") == "text"
            self.language = str(config.get("espeak", {}).get("voice", "")) or "en-us"
            self.voices = max(1, int(config.get("num_speakers", 1)))
            usual = config.get("inference", {})
            self._noise = float(usual.get("noise_scale", VARIATION))
            self._length = float(usual.get("length_scale", 1.0))
            self._lengths_noise = float(usual.get("noise_w", VARIATION_OF_LENGTHS))
            self._ends = tuple(list(self._numbers[mark]) for mark in "^_$")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise VoicenymError(
                f"{where}: no configuration of a voice of Piper ({error!r}); it comes with the "
                "voice"
            ) from error
        self._graph = Graph(model)

    def timbre(self, pseudonym: Pseudonym, sex: str = "") -> Timbre:
        return (float(pseudonym.index(PURPOSE, self.voices)),)

    def speak(
        self, text: str, timbre: Timbre, speed: float, rng: np.random.Generator
    ) -> np.ndarray:
        begin, between, end = self._ends
        numbers = [*begin, *between]
        letters = text.lower() if self._spelt else phonemes(text, self.language)
        for letter in letters:
            if letter in self._numbers:
                numbers += [*self._numbers[letter], *between]
        if len(numbers) == len(begin) + len(between):
            return np.zeros(0, np.float32)
        numbers += end
        length = self._length / speed
        inputs: dict[str, np.ndarray] = {
            "input": np.array([numbers], dtype=np.int64),
            "input_lengths": np.array([len(numbers)], dtype=np.int64),
            "scales": np.array([self._noise, length, self._lengths_noise], dtype=np.float32),
        }
        if "sid" in self._graph.inputs:
            inputs["sid"] = np.array([int(timbre[0])], dtype=np.int64)
        return self._graph(inputs, rng, round(SIZE * FRAMES * max(1.0, length) * len(numbers)))

    def check(self) -> None:
        if not self._spelt:
            check_program(self.language)
