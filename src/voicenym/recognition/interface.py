"""Recogniser: the interface of speech recognisers, from recordings to words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from voicenym.errors import AudioError

RATE = 16000
"""Sample rate of a recogniser's input, in Hz."""

Recording = NDArray[np.float32]
"""Samples ``[time]`` in [-1, 1] at :data:`RATE`."""


class Recogniser(Protocol):
    """Transcribes recordings.

    The transcript of a recording depends on that recording alone, not on others of the batch or on
    earlier ones. Use a recogniser in a ``with`` block, or close it.
    """

    @property
    def name(self) -> str:
        """Name in tables and cards; it includes the weights, where there are several."""
        ...

    @property
    def identity(self) -> str:
        """Digest of weights and settings: equal identities mean equal transcripts."""
        return self.name

    def transcribe(self, recordings: Sequence[Recording]) -> list[str]:
        """The words of each recording, in order; empty where nothing is recognised.

        Args:
            recordings: each ``[time]``, mono float samples in [-1, 1] at 16 kHz.

        Raises:
            AudioError: a recording of another shape, or with samples that are not finite.
        """
        ...

    def close(self) -> None:
        """Release resources; a second call, or further use, is allowed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def digest_of(*parts: Any) -> str:
    """Digest of values by their ``repr``, and of files, given as paths, by what they hold."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else repr(part).encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]


def checked(recording: Any, index: int) -> Recording:
    """A recording as ``[time]`` float32, for a recogniser's boundary.

    Args:
        recording: a caller's argument.
        index: its position, for the message.

    Raises:
        AudioError: not one channel of finite floating-point samples.
    """
    samples = np.asarray(recording)
    if samples.ndim != 1 or not np.issubdtype(samples.dtype, np.floating):
        raise AudioError(
            f"recording {index}: expected floating-point samples [time], found {samples.dtype} "
            f"{list(samples.shape)}; mix its channels to one and divide integers by their range"
        )
    if not np.isfinite(samples).all():
        raise AudioError(
            f"recording {index}: samples that are not finite; correct the program that made them"
        )
    return samples.astype(np.float32, copy=False)
