"""Fixed level of synthetic speech: no level of the input remains, only the places of its phrases.

The level of a recording, its course over seconds and the noise of its pauses tell recordings of one
session, room and microphone from others (:mod:`voicenym.verification.room_measures`). Here no level
of the input reaches the output: the power of the synthesizer's speech over 3 s is set to a
constant, and between phrases there is silence.
"""

from __future__ import annotations

import numpy as np
import torch

from voicenym.dsp.phrases import Phrases
from voicenym.resynthesis.common.output_level import LEAST_POWER, averaged
from voicenym.resynthesis.common.slow_level import SHORT, SlowLevel

USUAL = 10 ** (-26 / 20)
"""Root mean square of speech of fixed level: -26 dB of full scale, as in ITU-T P.56 and P.830."""
HIGHEST_GAIN = 4.0
"""12 dB, so that noise that the synthesizer makes of noise does not become as loud as speech."""


class FixedLevel(SlowLevel):
    """Streaming gain control over 3 s; its first signal is no sound but the presence of phrases: 1
    within, 0 between them (:func:`presence`). Phrases fade over 0.1 s.

    Args:
        rows: of the signals.
        device: of the signals.
    """

    def gains(self, source: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
        """Amplitude gains, as of :class:`SlowLevel`.

        Args:
            source: ``[row, frame]``, shares of frames within phrases.
            made: ``[row, frame]``, mean squares of the synthetic signal.
        """
        share, power = (averaged(x, self._window) for x in (source, source * made))
        usual = USUAL * (share / power.clamp_min(LEAST_POWER)).sqrt()
        beside, frames = self.context - SHORT, share.shape[1]
        faded = averaged(source, self._short)[:, beside : beside + frames]
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
