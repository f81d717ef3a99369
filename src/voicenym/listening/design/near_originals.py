"""How a recording of a system is nearly its original: listeners would hear that voice.

An original that was stored again in another format, at another rate or level, is not found by the
bytes of its file. The comparison is that of published files.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from voicenym.corpus.nearness import stored_nearness


class _Samples:
    """Samples ``[time]`` as a stored sound."""

    channels = 1

    def __init__(self, samples: np.ndarray, rate: int) -> None:
        self._samples, self.rate, self.samples = samples, rate, len(samples)

    def blocks(self) -> Iterator[np.ndarray]:
        yield self._samples[None].astype(np.float32)


def nearness(original: np.ndarray, made: np.ndarray, rate: int) -> str:
    """How a recording is nearly its original, in words; empty if it is not.

    Args:
        original, made: ``[time]``.
        rate: of both, in Hz.
    """
    return stored_nearness.nearness(_Samples(original, rate), _Samples(made, rate))
