"""Refuses a live system whose settings return its input (law 8).

A file is compared with its input while it is written
(:mod:`voicenym.corpus.nearness.near_original`). A session cannot take back what has gone out, so
that its stream gets a sound before it begins.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voicenym.corpus.nearness.near_original import SAME_SAMPLES
from voicenym.errors import VoicenymError
from voicenym.live.warm_stream import buzz

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from voicenym.anonymizer.stream import Stream

SECONDS = 2.0
BLOCK_SECONDS = 0.02
HIGHEST = 3500.0
"""Highest frequency of the sound in Hz: conversions of the sample rate pass it unchanged."""


def refuse_echo(make_stream: Callable[[], Stream], rate: int, name: str) -> None:
    """Check that a stream's output is not its input.

    Of a buzz with noise at 8, 16 and 48 kHz, ``mcadams``, ``vtln`` and ``vcloak`` had correlations
    of up to 0.98 under four keys each, and settings without effect 1.00.

    Args:
        make_stream: makes a stream with one row at ``rate``.
        rate: sample rate in Hz.
        name: of the system, for the message.

    Raises:
        VoicenymError: the output correlates with the input by
            :data:`~voicenym.corpus.nearness.near_original.SAME_SAMPLES` or more.
    """
    import torch

    stream, sound = make_stream(), _sound(rate)
    block = max(1, round(BLOCK_SECONDS * rate))
    out = torch.cat([stream.push(part) for part in sound.split(block)]).double().cpu()
    given = sound[: len(out)].double()
    energy = math.sqrt(float(given @ given) * float(out @ out))
    if energy > 0.0 and abs(float(given @ out)) / energy >= SAME_SAMPLES:
        raise VoicenymError(
            f"{name} returns its input with these settings, so that your own voice would go out; "
            "choose stronger settings, or another system"
        )


def _sound(rate: int) -> torch.Tensor:
    """A buzz and as much noise, ``[time]``."""
    import torch

    voiced = buzz(round(SECONDS * rate), rate)
    spectrum = torch.fft.rfft(torch.randn(len(voiced), generator=torch.Generator().manual_seed(1)))
    spectrum[int(HIGHEST * len(voiced) / rate) :] = 0.0
    noise = torch.fft.irfft(spectrum, n=len(voiced))
    return voiced + noise * (voiced.std() / noise.std())
