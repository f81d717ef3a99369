"""Checks of recordings that callers give: samples, channels and sample rates."""

from __future__ import annotations

import io
import math
from numbers import Real
from typing import TYPE_CHECKING, Any

from voicenym.audio.limits import LEAST_RATE, MOST_CHANNELS, MOST_RATE
from voicenym.audio.types import Audio
from voicenym.errors import AudioError

if TYPE_CHECKING:
    import torch


def checked_audio(audio: Any) -> Audio:
    """A recording as it is given; an :class:`AudioError` says what another object is."""
    if not isinstance(audio, Audio):
        raise AudioError(
            f"a recording is a voicenym.Audio, not {type(audio).__name__}; voicenym.read makes one "
            "of a file, and voicenym.Audio(samples, rate) of a tensor"
        )
    return audio


def check_binary_file(given: Any, method: str) -> None:
    """Refuses what is no open file object of bytes.

    Args:
        given: what a caller gives in place of a path.
        method: that it needs: ``read`` or ``write``.

    Raises:
        AudioError: it is none, is closed, or is of text.
    """
    kind = type(given).__name__
    if not callable(getattr(given, method, None)):
        raise AudioError(
            f"a recording's place is a path or a binary file object, not {kind}; io.BytesIO makes "
            "a file object of bytes"
        )
    if isinstance(given, io.TextIOBase):
        raise AudioError(f"{kind} is a file of text; open it in binary mode, as open(path, 'rb')")
    if getattr(given, "closed", False):
        raise AudioError(f"{kind} is closed; open the recording again, or give its path")


def checked_samples(samples: Any) -> torch.Tensor:
    """``[channel, time]`` of floats on the processor, outside of autograd, at least in single
    precision.

    Raises:
        AudioError: no dense tensor of floats, another shape, no channel, or too many.
    """
    import torch

    if not isinstance(samples, torch.Tensor):
        raise AudioError(
            f"samples are a torch tensor, not {type(samples).__name__}; an array of NumPy becomes "
            "one by torch.from_numpy"
        )
    if samples.ndim not in (1, 2):
        raise AudioError(
            f"samples need the shape [time] or [channel, time], not {list(samples.shape)}"
        )
    check_channels(1 if samples.ndim == 1 else samples.shape[0], samples.shape[-1])
    if not samples.is_floating_point():
        raise AudioError(
            f"samples need floats in [-1, 1], not {samples.dtype}; divide by full scale"
        )
    if samples.layout is not torch.strided or samples.is_meta:
        raise AudioError(
            f"samples are a dense tensor that has values, not {samples.layout} on "
            f"{samples.device}; .to_dense() makes one of a sparse tensor"
        )
    dense = samples.detach().cpu()
    dense = dense.float() if dense.dtype.itemsize < torch.float32.itemsize else dense
    return dense[None] if dense.ndim == 1 else dense


def check_channels(channels: int, length: int | None = None) -> None:
    """Refuses recordings without a channel, and those whose axes are exchanged.

    Args:
        channels: their number.
        length: samples of each, for the message.

    Raises:
        AudioError: none, or more than a recording has.
    """
    if channels == 0:
        raise AudioError("samples have no channel")
    if channels > MOST_CHANNELS:
        # each of some samples, which would come out nearly as they are
        of = "" if length is None else f" of {length}"
        raise AudioError(
            f"samples have {channels} channels{of}, and at most {MOST_CHANNELS} are handled: "
            "[time, channel], as soundfile reads, becomes [channel, time] by .T"
        )


def checked_rate(rate: Any) -> int:
    """A sample rate in Hz as an ``int``, within the limits of recordings that are read.

    Raises:
        AudioError: no whole number, or out of these limits.
    """
    number = isinstance(rate, Real) and not isinstance(rate, bool) and math.isfinite(rate)
    if not (number and rate > 0 and int(rate) == rate):
        raise AudioError(f"a sample rate is a whole number of Hz above 0, not {rate!r}")
    if not LEAST_RATE <= rate <= MOST_RATE:
        raise AudioError(
            f"a sample rate is {LEAST_RATE} to {MOST_RATE} Hz, not {rate}; check it, or convert "
            "the recording"
        )
    return int(rate)
