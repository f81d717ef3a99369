"""Level that is the synthesizer's own: the trajectory of the speaker's level does not pass.

Level trajectories over syllables tell speakers apart (:mod:`voicenym.verification.prosody`). Only
the level over seconds follows the input here, so that quiet passages stay quiet; syllables have the
level that the synthesizer gives them, and the key draws slow deviations. A ceiling above the
input's short-time level keeps silence silent.
"""

from __future__ import annotations

import math

import torch

from voicenym.dsp.random_contours import random_contours
from voicenym.resynthesis.common.output_level import HOP, Level, averaged, averaging_window

RATE = 16_000
SHORT = 5
"""Context in frames of the short-time level: 0.1 s."""
NEAR = 25
"""Frames on either side of which the loudest sets the ceiling: more than the timing may move."""
HEADROOM = 10.0 ** (12.0 / 10.0)
"""Ceiling over the loudest short-time power nearby, 12 dB: it never binds within speech."""
DEVIATION = 1.5 * math.log(10.0) / 20.0
"""Standard deviation of the drawn level, 1.5 dB, as a natural logarithm."""
SWAY = (0.1, 1.0)
"""Modulation frequencies of the drawn level in Hz: phrases, not syllables."""


class DrawnLevel(Level):
    """Streaming gain control over 3 s, with deviations that the key draws.

    Args:
        seeds: ``[row]``, of the deviations.
        device: of the signals.
    """

    context = 150

    def __init__(self, seeds: torch.Tensor, device: str = "cpu") -> None:
        super().__init__(len(seeds), device)
        self._seeds = seeds.tolist()
        self._short = averaging_window(SHORT, device)
        self._frame = 0  # number of the first frame that waits

    def gains(self, source: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
        slow = super().gains(source, made)
        first, frames = self._frame - 1, slow.shape[1]
        seconds = (first + torch.arange(frames)) * (HOP / RATE)
        drawn = random_contours(self._seeds, seconds, SWAY).to(slow)
        slow = slow * (DEVIATION * drawn).exp()
        # short-time powers, cut to the same frames
        wanted, found = (averaged(power, self._short) for power in (source, made))
        beside = self.context - SHORT
        loudest = torch.nn.functional.max_pool1d(wanted[:, None], 2 * NEAR + 1, 1, NEAR)[:, 0]
        loudest, found = (x[:, beside : beside + frames] for x in (loudest, found))
        ceiling = (HEADROOM * loudest / found.clamp_min(1e-12)).sqrt()
        self._frame += frames - 2
        return torch.minimum(slow, ceiling)
