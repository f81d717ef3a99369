"""Checks of recordings that callers give to verifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voicenym.errors import AudioError

if TYPE_CHECKING:
    import torch


def checked_recordings(recordings: Sequence[Any]) -> list[npt.NDArray[np.float32]]:
    """Recordings ``[time]`` as contiguous float32 arrays.

    Args:
        recordings: arrays of floats, mono, in [-1, 1]; or tensors of torch.

    Raises:
        AudioError: integers, which are of another scale; another shape; NaN or infinity.
    """
    return [_checked(number, given) for number, given in enumerate(recordings)]


def tensors(recordings: Sequence[Any]) -> list[torch.Tensor]:
    """Recordings of :func:`checked_recordings` as tensors, which nobody changes.

    Raises:
        AudioError: as there.
    """
    import torch

    # torch warns of arrays that are read-only
    arrays = checked_recordings(recordings)
    return [torch.from_numpy(x if x.flags.writeable else x.copy()) for x in arrays]


def _checked(number: int, given: Any) -> npt.NDArray[np.float32]:
    detach = getattr(given, "detach", None)
    samples = np.asarray(detach().cpu() if callable(detach) else given)
    if samples.dtype.kind != "f":
        raise AudioError(
            f"recording {number} needs floats in [-1, 1], not {samples.dtype}; divide by full scale"
        )
    if samples.ndim != 1:
        raise AudioError(
            f"recording {number} needs the shape [time], mono, not {list(samples.shape)}; give a "
            "list of recordings, of one channel each"
        )
    if not np.isfinite(samples).all():
        raise AudioError(f"recording {number} contains NaN or infinity; leave it out")
    return np.ascontiguousarray(samples, dtype=np.float32)
