"""Checks of what callers give: samples, sample rates and pseudonyms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING

from voicenym.anonymizer.torch_state import check_torch_state
from voicenym.errors import AudioError

if TYPE_CHECKING:
    import torch

    from voicenym.pseudonym import Pseudonym

MOST_MAGNITUDE = 100.0
"""Largest magnitude of samples: 40 dB above full scale. Beyond, they are integers of another scale,
of which full-scale noise would be made."""


def checked(samples: torch.Tensor) -> torch.Tensor:
    """``[channel, time]`` float32, finite, or an :class:`AudioError`."""
    import torch

    from voicenym.audio.reader import MOST_CHANNELS

    check_torch_state()
    if not isinstance(samples, torch.Tensor):
        raise AudioError(
            f"samples are a torch tensor, not {type(samples).__name__}; an array of NumPy becomes "
            "one by torch.from_numpy"
        )
    if samples.ndim not in (1, 2):
        raise AudioError(
            f"samples need the shape [time] or [channel, time], not {list(samples.shape)}"
        )
    if samples.ndim == 2 and samples.shape[0] == 0:
        raise AudioError("samples have no channel")
    if samples.ndim == 2 and samples.shape[0] > MOST_CHANNELS:
        # each of some samples, which would come out nearly as they are
        raise AudioError(
            f"samples have {samples.shape[0]} channels of {samples.shape[1]}, and at most "
            f"{MOST_CHANNELS} are anonymized: [time, channel], as soundfile reads, becomes "
            "[channel, time] by .T"
        )
    if not samples.is_floating_point():
        raise AudioError(
            f"samples need floats in [-1, 1], not {samples.dtype}; divide by full scale"
        )
    largest = float(torch.stack(torch.aminmax(samples)).abs().max()) if samples.numel() else 0.0
    if not math.isfinite(largest):
        raise AudioError("samples contain NaN or infinity; repair the recording first")
    if largest > MOST_MAGNITUDE:
        raise AudioError(
            f"samples reach {largest:.6g}, where full scale is 1; divide by full scale, such as "
            "32768 for 16-bit integers"
        )
    flat = samples.detach().to("cpu", torch.float32)
    return flat[None] if flat.ndim == 1 else flat


def checked_rate(rate: int) -> int:
    """A sample rate that is a whole number above 0, or an :class:`AudioError`."""
    if not (isinstance(rate, Real) and rate > 0 and math.isfinite(rate) and int(rate) == rate):
        raise AudioError(f"a sample rate is a whole number of Hz above 0, not {rate!r}")
    return int(rate)


def checked_pseudonyms(pseudonyms: Sequence[Pseudonym]) -> Sequence[Pseudonym]:
    """Pseudonyms as they are given; a :class:`TypeError` names what is none, such as a name."""
    from voicenym.pseudonym import Pseudonym

    for pseudonym in pseudonyms:
        if not isinstance(pseudonym, Pseudonym):
            raise TypeError(
                f"a pseudonym is made by Key.pseudonym(speaker), and is no "
                f"{type(pseudonym).__name__}"
            )
    return pseudonyms
