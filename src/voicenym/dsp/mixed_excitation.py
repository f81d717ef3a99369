"""Mixed excitation: pulses below a cut-off frequency and noise above it, where speech is voiced."""

from __future__ import annotations

import torch

SLOPE = 400.0
"""Hz of the logistic transition at the cut-off frequency."""
FEW_LEVELS = 8
"""Frames for each level of voicing from which on a table of levels costs less than the frames."""


class MixedExcitation:
    """Magnitudes of pulses and of noise by frequency; their powers add up to 1.

    Args:
        cutoff: cut-off frequencies in Hz, ``[row]``.
        rate: sample rate in Hz.
        bins: of a spectrum, from 0 to half the rate.
    """

    def __init__(self, cutoff: torch.Tensor, rate: int, bins: int) -> None:
        self._cutoff, self._rate, self._bins = cutoff, rate, bins

    def __call__(self, voicing: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Magnitudes of pulses and of noise, ``[row, frame, bin]`` each.

        Most frames are voiced or not and few lie between: each of these voicings is computed once.

        Args:
            voicing: 0 to 1, ``[row, frame]``.
        """
        levels, which = torch.unique(voicing, return_inverse=True)
        if len(levels) * FEW_LEVELS > voicing.shape[1]:
            return self._of(voicing)
        count = len(self._cutoff)
        rows = torch.arange(count, device=which.device)[:, None]
        pulses, noise = self._of(levels.expand(count, -1))
        return pulses[rows, which], noise[rows, which]

    def _of(self, voicing: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The magnitudes, computed for each voicing."""
        frequency = torch.linspace(0.0, 0.5 * self._rate, self._bins, device=voicing.device)
        below = torch.sigmoid((self._cutoff[:, None, None] - frequency) / SLOPE)
        share = voicing[..., None] * below
        return share.sqrt(), (1.0 - share).sqrt_()
