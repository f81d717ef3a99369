"""A verifier without weights: people differ in the long-term spectra of their speech."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from voicenym.verification.verifier import Verifier

FRAME = 512


class BandLevels(Verifier):
    """Mean levels of equal bands, relative to their own mean.

    Args:
        bands: how many.
    """

    name = "levels of bands"

    def __init__(self, bands: int = 16) -> None:
        self.bands = bands
        self.version = f"1-{bands}"

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        return np.stack([self._levels(samples) for samples in recordings])

    def _levels(self, samples: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        frames = np.pad(samples, (0, -len(samples) % FRAME)).reshape(-1, FRAME)
        power = np.square(np.abs(np.fft.rfft(frames * np.hanning(FRAME)))).mean(0)
        levels = [np.log(band.mean() + 1e-10) for band in np.array_split(power[1:], self.bands)]
        return (np.array(levels) - np.mean(levels)).astype(np.float32)
