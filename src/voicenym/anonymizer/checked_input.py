"""Checks of what callers give to systems: samples and numbers of channels."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING

from voicenym.anonymizer.torch_state import check_torch_state
from voicenym.audio.given_audio import check_channels, checked_samples
from voicenym.errors import AudioError

if TYPE_CHECKING:
    import torch

MOST_MAGNITUDE = 100.0
"""Largest magnitude of samples: 40 dB above full scale. Beyond, they are integers of another scale,
of which full-scale noise would be made."""


def checked(samples: torch.Tensor) -> torch.Tensor:
    """``[channel, time]`` float32, finite, or an :class:`AudioError`."""
    import torch

    check_torch_state()
    rows = checked_samples(samples)
    largest = float(torch.stack(torch.aminmax(rows)).abs().max()) if rows.numel() else 0.0
    if not math.isfinite(largest):
        raise AudioError("samples contain NaN or infinity; repair the recording first")
    if largest > MOST_MAGNITUDE:
        raise AudioError(
            f"samples reach {largest:.6g}, where full scale is 1; divide by full scale, such as "
            "32768 for 16-bit integers"
        )
    return rows.to(torch.float32)


def checked_channels(channels: int) -> int:
    """A number of channels, or an :class:`AudioError`."""
    if not isinstance(channels, Integral) or isinstance(channels, bool) or channels < 1:
        raise AudioError(f"a stream has 1 channel or more, not {channels!r}")
    check_channels(int(channels))
    return int(channels)
