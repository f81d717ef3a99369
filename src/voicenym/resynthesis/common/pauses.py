"""Noise floor normalisation: pauses are attenuated to a common level.

The noise of the room and the microphone in pauses, relative to speech, differs more between the
sessions of a corpus than within them, so that it links recordings
(:mod:`voicenym.verification.prosody`). Frames little above a recording's noise floor are therefore
attenuated to a common floor; the level of speech is kept, and so are frames below the common floor.

Levels are natural logarithms of power throughout.
"""

from __future__ import annotations

import torch

LOWEST, HIGHEST, WIDTH = -24.0, 1.0, 0.25
"""Range and width of the histogram's bins; levels beyond count in the outer ones."""
BINS = round((HIGHEST - LOWEST) / WIDTH)
SHARE = 0.05
"""Share of a recording's frames below its noise floor."""
FLOOR = -10.0
"""Common noise floor: 43 dB below the average."""
MARGIN = 1.5
"""Range above the noise floor that counts as noise: 6.5 dB."""
FAINTEST_SPEECH = -3.0
"""13 dB below the average; louder frames are never changed."""
STEEPEST = 4.0
"""Largest slope of the level mapping."""


def counted(power: torch.Tensor) -> torch.Tensor:
    """One-hot level histogram: levels ``[...]`` to ``[..., bin]`` float64."""
    place = ((power - LOWEST) / WIDTH).floor().clamp(0, BINS - 1).long()
    return torch.nn.functional.one_hot(place, BINS).double()


def floor(counts: torch.Tensor) -> torch.Tensor:
    """Noise floor: the level that a share :data:`SHARE` of the frames lie below, ``[...]``, from a
    histogram ``[..., bin]``.

    Linear interpolation within a bin; an empty histogram gives the highest level, because no pause
    is known.
    """
    total = counts.sum(-1, keepdim=True)
    below = counts.cumsum(-1)
    wanted = SHARE * total
    place = (below < wanted).sum(-1, keepdim=True).clamp_max(BINS - 1)
    inside = counts.gather(-1, place)
    before = below.gather(-1, place) - inside
    part = (wanted - before) / inside.clamp_min(1e-12)
    found = LOWEST + WIDTH * (place + part.clamp(0.0, 1.0))
    return torch.where(total > 0, found, HIGHEST)[..., 0]


def quieted(level: torch.Tensor, lowest: torch.Tensor) -> torch.Tensor:
    """Levels with attenuated pauses; levels of speech are unchanged.

    Args:
        level: ``[row, frame]``, less the recording's average.
        lowest: the recording's floor, less its average; as ``level``, or ``[row, 1]``.
    """
    knee = (lowest + MARGIN).clamp_max(FAINTEST_SPEECH)
    noise = knee - lowest
    slope = ((knee - FLOOR) / noise.clamp_min(1e-6)).clamp(1.0, STEEPEST)
    slope = torch.where(noise > 0.0, slope, 1.0)  # no pauses: speech has no such floor
    return torch.where(level < knee, knee - (knee - level) * slope, level)
