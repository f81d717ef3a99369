"""Speaker vectors of short windows within regions of speech."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import torch

from voicenym.kept_work import KeptWork, digest_of
from voicenym.nets.speakers.speaker_encoder import Encoder

WINDOW = 1.5
"""Seconds of a window."""
HOP = 0.25
"""Seconds between windows of a region."""
AT_ONCE = 64
"""Windows that are embedded together."""


def windows_of(
    regions: npt.NDArray[np.floating], window: float = WINDOW, hop: float = HOP
) -> npt.NDArray[np.float64]:
    """Windows ``[window, (start, end)]`` in seconds, in order of their starts.

    The windows of a region lie evenly in it, from its start to its end; a region that is shorter
    than a window is one window.

    Args:
        regions: ``[region, (start, end)]`` in seconds.
        window: length in seconds.
        hop: greatest distance of windows in seconds.

    Example:
        >>> import numpy as np
        >>> windows_of(np.array([[1.0, 3.0], [5.0, 5.5]])).tolist()
        [[1.0, 2.5], [1.25, 2.75], [1.5, 3.0], [5.0, 5.5]]
    """
    found = []
    for start, end in regions.tolist():
        if end - start <= window:
            found.append(np.array([[start, end]]))
            continue
        count = 1 + int(np.ceil(round((end - start - window) / hop, 6)))
        starts = np.linspace(start, end - window, count)
        found.append(np.stack([starts, starts + window], axis=1))
    return np.concatenate([np.zeros((0, 2)), *found])


def window_vectors(
    blocks: Iterable[torch.Tensor],
    windows: npt.NDArray[np.floating],
    encoder: Encoder,
    kept: KeptWork | None = None,
) -> npt.NDArray[np.float32]:
    """Speaker vectors ``[window, size]`` of unit length; nothing else grows with the recording.

    Args:
        blocks: ``[time]`` of one signal at the encoder's rate, in order.
        windows: ``[window, (start, end)]`` in seconds, in order of their starts.
        encoder: in evaluation mode.
        kept: vectors that an interrupted run computed, and to which those of this one are added.
    """
    limits = np.rint(windows * encoder.RATE).astype(np.int64)
    # one array: small ones between large freed ones pin the heap
    found, done = np.empty((len(limits), encoder.size), np.float32), 0
    waiting: list[torch.Tensor] = []
    signal = torch.zeros(0)
    first = 0  # sample of the recording at which the signal begins
    coming = 0

    def embed() -> None:
        nonlocal done
        found[done : done + len(waiting)] = _vectors(waiting, encoder, kept)
        done += len(waiting)
        waiting.clear()

    for block in blocks:
        signal = torch.cat([signal, block])
        while coming < len(limits) and limits[coming, 1] <= first + len(signal):
            start, end = (limits[coming] - first).tolist()
            waiting.append(signal[start:end].clone())
            coming += 1
            if len(waiting) >= AT_ONCE:
                embed()
        keep = limits[coming, 0] if coming < len(limits) else first + len(signal)
        passed = int(min(max(keep - first, 0), len(signal)))
        signal, first = signal[passed:], first + passed
    for start, end in (limits[coming:] - first).clip(0).tolist():  # ends beyond the last sample
        waiting.append(signal[start:end].clone())
    if waiting:
        embed()
    return found


def _vectors(
    waiting: Sequence[torch.Tensor], encoder: Encoder, kept: KeptWork | None
) -> npt.NDArray[np.float32]:
    """Vectors of windows that are embedded together, or were by an interrupted run."""
    key = "" if kept is None else digest_of(*(window.numpy().tobytes() for window in waiting))
    if kept is not None and (part := kept.take(key)) is not None:
        data = kept.read(part.place, part.size)
        return np.frombuffer(data, np.float32).reshape(len(waiting), encoder.size).copy()
    found = encoder.embed(waiting, padded=round(WINDOW * encoder.RATE))  # one shape of batches
    vectors = torch.nn.functional.normalize(found, dim=1).numpy()
    if kept is not None:
        kept.note(key, {}, np.ascontiguousarray(vectors, dtype=np.float32).tobytes())
    return vectors
