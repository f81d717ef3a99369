"""Level control over seconds: syllables keep the level that the synthesizer gives them.

The level of syllables identifies speakers (:mod:`voicenym.verification.prosody`). The power of the
output over 3 s is set to that of the input, so that quiet passages stay quiet. A ceiling above the
input's short-time power keeps silence silent.
"""

from __future__ import annotations

import torch

from voicenym.resynthesis.common.output_level import HOP, Level, averaged, averaging_window

SHORT = 5
"""Context in frames of the short-time level: 0.1 s."""
NEAR = 16
"""Frames on either side of which the loudest sets the ceiling, which spares onsets and decays."""
HEADROOM = 10.0 ** (12.0 / 10.0)
"""Ceiling over the loudest short-time power nearby: 12 dB, which limits pauses, not speech."""
SECONDS = 3.0
"""Width of the window of the level that follows the input."""


class SlowLevel(Level):
    """Streaming gain control over 3 s, with a ceiling.

    Args:
        rows: of the signals.
        device: of the signals.
    """

    context = round(SECONDS / 2.0 * 16_000 / HOP)

    def __init__(self, rows: int, device: str = "cpu") -> None:
        super().__init__(rows, device)
        self._short = averaging_window(SHORT, device)

    def gains(self, source: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
        """Amplitude gains, as of :class:`Level`: those over 3 s, but never above the ceiling."""
        slow = super().gains(source, made)
        # short-time powers, cut to the same frames
        wanted, found = (averaged(power, self._short) for power in (source, made))
        beside, frames = self.context - SHORT, slow.shape[1]
        loudest = torch.nn.functional.max_pool1d(wanted[:, None], 2 * NEAR + 1, 1, NEAR)[:, 0]
        loudest, found = (x[:, beside : beside + frames] for x in (loudest, found))
        return torch.minimum(slow, (HEADROOM * loudest / found.clamp_min(1e-12)).sqrt())
