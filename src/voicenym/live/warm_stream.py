"""Streams whose first blocks take no longer than later ones.

The thread that computes has memory of its own, which a first run fetches page by page: the first
steps of a network would be 10 ms late and drop out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from voicenym.anonymizer.stream import Stream

WARMING_SECONDS = 1.0
"""Sound that goes through another stream before the first one."""


def buzz(samples: int, rate: int) -> torch.Tensor:
    """A voiced sound of 120 Hz at a usual level, ``[time]``."""
    import torch

    seconds = torch.arange(samples) / rate
    harmonics = [torch.sin(2 * math.pi * 120 * k * seconds) / k for k in range(1, 20)]
    return 0.05 * torch.stack(harmonics).sum(0)


def warmed(make_stream: Callable[[], Stream], rate: int, block: int) -> Callable[[], Stream]:
    """Function that makes streams; before the first it runs another, in the thread that calls it.

    Args:
        make_stream: makes a stream with one row at ``rate``.
        rate: sample rate in Hz.
        block: samples of a block.
    """
    cold = True

    def made() -> Stream:
        nonlocal cold
        if cold:
            cold, other = False, make_stream()
            for part in buzz(round(WARMING_SECONDS * rate), rate).split(block):
                other.push(part)
        return make_stream()

    return made
