"""Drawn timing: durations from predictions and the key; the length of the recording changes.

A phrase gets the duration that is predicted from its content
(:mod:`voicenym.nets.synthesis.duration_predictor`), times a rate that the pseudonym and the phrase
draw; within it, sounds come nearer to their predicted durations. Of a pause only its kind is kept:
short, middle or long; its duration is drawn. So is the silence before and after speech.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from voicenym.dsp.phrases import Phrases
from voicenym.resynthesis.common.phrase_tempo import EACH, OWN

Array = npt.NDArray[np.float64]

FOLLOWED = 0.7
"""Exponent of the predicted ratios within a phrase: 1 would make all sounds of a kind equally
long.
"""
KINDS = ((0.6, 0.2, 0.45), (2.0, 0.55, 1.1))
"""Pauses below so many seconds are drawn from a range of seconds; longer ones are changed by
:data:`LONG`.
"""
EDGES = ((1.0, 0.15, 0.45),)
"""The same of the silence before and after speech."""
LONG = 0.3
"""Largest change of the logarithm of the duration of long pauses."""


class DrawnTiming:
    """Time map of one recording.

    Args:
        seed: of rates and pauses.
        phrases: of the recording.
        ratios: ``[frame]``, predicted durations as shares of those in the recording.
        frame: seconds of a frame.
    """

    def __init__(self, seed: int, phrases: Phrases, ratios: Array, frame: float) -> None:
        self._output, self._source = timing_knots(seed, phrases, ratios, frame)

    @property
    def input_seconds(self) -> float:
        """Length of the input."""
        return float(self._source[-1])

    def frames(self, seconds: float, frame: float) -> int:
        """Frames of the output, of so many seconds each, for the first seconds of the input: those
        whose middle is before the end of these seconds in the output.
        """
        until = float(np.interp(seconds, self._source, self._output))
        return math.ceil(round(until / frame - 0.5, 6))

    def source_times(self, seconds: torch.Tensor) -> torch.Tensor:
        """Times of the input that the output has at its own times, ``[1, time]`` in seconds."""
        found = np.interp(seconds.double().numpy(), self._output, self._source)
        return torch.from_numpy(found)[None]


def timing_knots(seed: int, phrases: Phrases, ratios: Array, frame: float) -> tuple[Array, Array]:
    """Times of output and input in seconds, both increasing; linear in between.

    Args:
        seed, phrases, ratios, frame: as of :class:`DrawnTiming`.

    Example:
        >>> phrases = Phrases(np.array([[1.5, 2.5]]), 4.0)
        >>> output, source = timing_knots(7, phrases, np.full(100, 0.5), 0.04)
        >>> source[[0, -1]].tolist(), bool(output[-1] < 4.0)
        ([0.0, 4.0], True)
    """
    spans, seconds = phrases
    if not len(spans) or seconds <= 0.0:
        whole = np.array([0.0, max(seconds, 0.0)])
        return whole, whole
    rng = np.random.default_rng(seed)
    own, *each = rng.uniform(-1.0, 1.0, 1 + len(spans))
    predicted, position = (
        np.concatenate([[0.0], np.cumsum(values)]) * frame for values in (ratios, ratios**FOLLOWED)
    )
    edges = np.arange(len(ratios) + 1) * frame
    output, source, last = [0.0], [0.0], 0.0
    for number, (start, end) in enumerate(spans.tolist()):
        if start > last:
            kinds = EDGES if number == 0 else KINDS
            output.append(output[-1] + _pause(start - last, kinds, rng))
            source.append(start)
        inner = edges[(edges > start + 1e-6) & (edges < end - 1e-6)]
        times = np.concatenate([[start], inner, [end]])
        share = np.interp(times, edges, position) - np.interp(start, edges, position)
        wanted = float(np.diff(np.interp([start, end], edges, predicted))[0])
        wanted *= np.exp(OWN * own + EACH * each[number])
        output.extend((output[-1] + share[1:] * wanted / share[-1]).tolist())
        source.extend(times[1:].tolist())
        last = end
    if seconds > last:
        output.append(output[-1] + _pause(seconds - last, EDGES, rng))
        source.append(seconds)
    return np.array(output), np.array(source)


def _pause(
    seconds: float, kinds: Sequence[tuple[float, float, float]], rng: np.random.Generator
) -> float:
    """Drawn duration of a pause. Each takes one number of the generator."""
    drawn = rng.uniform()
    for below, shortest, longest in kinds:
        if seconds < below:
            return shortest + (longest - shortest) * drawn
    return float(seconds * np.exp(LONG * (2.0 * drawn - 1.0)))
