"""Runs an ONNX graph on one core, with noise that the caller draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from voicenym.errors import DependencyError, VoicenymError
from voicenym.libraries import library
from voicenym.nets.speech_synthesis.onnx_noise import ZERO, with_noise_inputs

TRIES = 6
"""Attempts with ever more noise, each with four times as much."""


class Graph:
    """An ONNX graph, ready to run on one core; equal inputs and noise give equal outputs.

    Args:
        model: the ONNX file.

    Attributes:
        inputs: names of its inputs without those of noise.

    Raises:
        DependencyError: onnxruntime is not installed.
        VoicenymError: the file cannot be read or run.
    """

    def __init__(self, model: Path) -> None:
        try:
            onnxruntime: Any = library("onnxruntime")
        except ImportError as error:
            raise DependencyError(
                "text to speech: pip install 'voicenym[speech]', or onnxruntime alone"
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            content = model.read_bytes()
        except OSError as error:
            raise VoicenymError(f"{model}: cannot be read ({error.strerror})") from error
        try:
            noisy = with_noise_inputs(content)
            self._session = onnxruntime.InferenceSession(
                noisy.graph, options, ["CPUExecutionProvider"]
            )
        except VoicenymError as error:
            raise VoicenymError(f"{model}: {error}") from error
        except Exception as error:  # onnxruntime has no class of its own to catch
            first = str(error).splitlines()[0]
            raise VoicenymError(f"{model}: cannot be run ({first}); give an ONNX file") from error
        self._noises = noisy.noises
        own = {*noisy.noises, ZERO}
        self.inputs = tuple(x.name for x in self._session.get_inputs() if x.name not in own)
        self._kinds = {x.name: x.type for x in self._session.get_inputs()}

    def integers(self, name: str) -> bool:
        """Whether an input takes integers."""
        return "int" in self._kinds.get(name, "")

    def __call__(
        self, inputs: dict[str, np.ndarray], rng: np.random.Generator, noise: int
    ) -> np.ndarray:
        """The first output, flat, float32.

        Args:
            inputs: by name.
            rng: of the noise.
            noise: about how many random numbers each noise needs; more are drawn if necessary.

        Raises:
            VoicenymError: the graph fails.
        """
        drawn: dict[str, np.ndarray] = {name: np.zeros(0, np.float32) for name in self._noises}
        for attempt in range(TRIES):
            given = dict(inputs)
            for name, kind in self._noises.items():
                more = noise * 4**attempt - len(drawn[name])
                draw = rng.standard_normal if kind == "normal" else rng.random
                drawn[name] = np.concatenate([drawn[name], draw(max(0, more), np.float32)])
                given[name] = drawn[name]
            if self._noises:
                given[ZERO] = np.zeros(1, np.int64)
            try:
                found = self._session.run(None, given)[0]
            except Exception as error:  # as above
                if self._noises and attempt < TRIES - 1 and "eshape" in str(error):
                    continue  # the noise was too short for its shape
                first = str(error).splitlines()[0]
                raise VoicenymError(f"the voice's graph fails ({first})") from error
            return np.asarray(found, dtype=np.float32).reshape(-1)
        raise AssertionError("the last attempt returns or raises")
