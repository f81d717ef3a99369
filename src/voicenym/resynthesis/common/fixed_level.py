"""Fixed level of synthetic speech: of the input's level, only where its phrases are remains.

The level of a recording, its course over seconds and the noise of its pauses tell recordings of one
session, room and microphone from others (:mod:`voicenym.verification.room_measures`). Here no level
of the input reaches the output: the power of the synthesizer's speech over 3 s is set to a
constant, and between phrases there is silence.
"""

from __future__ import annotations

import numpy as np
import torch

from voicenym.dsp.phrases import Phrases
from voicenym.resynthesis.common.output_level import (
    HOP,
    LEAST_POWER,
    Level,
    averaged,
    averaging_window,
)

USUAL = 10 ** (-26 / 20)
"""Root mean square of speech of fixed level: -26 dB of full scale, as in ITU-T P.56 and P.830."""
FADE = 5
"""Context in frames of the fades around a phrase: 0.1 s."""
SECONDS = 3.0
"""Width of the window over which power is set."""
HIGHEST_GAIN = 4.0
"""12 dB, so that noise that the synthesizer makes of noise does not become as loud as speech."""


class FixedLevel(Level):
    """Streaming gain control; its first signal is no sound but the presence of phrases: 1 within,
    0 between them (:func:`presence`).

    Args:
        rows: of the signals.
        device: of the signals.
    """

    context = round(SECONDS / 2.0 * 16_000 / HOP)

    def __init__(self, rows: int, device: str = "cpu") -> None:
        super().__init__(rows, device)
        self._fade = averaging_window(FADE, device)

    def gains(self, source: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
        """Amplitude gains, as of :class:`Level`, from the shares of frames within phrases and the
        mean squares of the synthetic signal, each ``[row, frame]``.
        """
        share, power = (averaged(x, self._window) for x in (source, source * made))
        usual = USUAL * (share / power.clamp_min(LEAST_POWER)).sqrt()
        beside, frames = self.context - FADE, share.shape[1]
        faded = averaged(source, self._fade)[:, beside : beside + frames]
        return usual.clamp_max(HIGHEST_GAIN) * faded


def presence(phrases: Phrases, start: float, samples: int, rate: int) -> torch.Tensor:
    """Whether samples ``[time]`` are within phrases: 1 or 0.

    Args:
        phrases: of the recording.
        start: of the samples, in seconds.
        samples: how many.
        rate: in Hz.

    Example:
        >>> presence(Phrases(np.array([[0.2, 0.4]]), 1.0), 0.0, 5, 10).tolist()
        [0.0, 0.0, 1.0, 1.0, 0.0]
    """
    found = torch.zeros(samples)
    edges = np.rint((phrases.spans - start) * rate).astype(int).clip(0, samples)
    for first, last in edges.tolist():
        found[first:last] = 1.0
    return found
