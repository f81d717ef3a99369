"""What statistical speaker verifiers hear: normalised cepstra of the frames that hold speech."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import torch

from voicenym.dsp.features.mfcc import MEAN_WINDOW, MFCC, normalised, with_slopes
from voicenym.dsp.speech_activity import levelled, speech_frames


@dataclass(frozen=True)
class Cepstra:
    """Coefficients with slopes, their sliding mean taken out, then the frames without speech.

    In the order of Kaldi's i-vector recipes. The defaults are those of the verifier with which
    Turner et al. (paper 1) repeat their tests: 24 coefficients of 25 ms; the rest is Kaldi's.

    Args:
        coefficients: cepstral coefficients, log energy among them.
        bands: of the filterbank.
        low, high: its limits in Hz.
        slopes: 2 adds slopes and slopes of slopes.
        window: frames of the sliding mean; 0 for the utterance's mean.
        variance: whether deviations are made equal too.
    """

    coefficients: int = 24
    bands: int = 30
    low: float = 20.0
    high: float = 7600.0
    slopes: int = 2
    window: int = MEAN_WINDOW
    variance: bool = False

    @property
    def dimension(self) -> int:
        """Numbers in a frame."""
        return self.coefficients * (1 + self.slopes)

    def settings(self) -> dict[str, Any]:
        """Fields, fit for JSON."""
        return asdict(self)

    @torch.inference_mode()
    def __call__(self, signal: torch.Tensor) -> torch.Tensor:
        """``[time]`` at 16 kHz to ``[frame, dimension]``; no frame where nothing is speech."""
        mfcc = _mfcc(self.coefficients, self.bands, self.low, self.high)
        cepstra = mfcc(levelled(signal))
        features = normalised(with_slopes(cepstra, self.slopes), self.window or None, self.variance)
        return features[speech_frames(cepstra[:, 0])]


@cache
def _mfcc(coefficients: int, bands: int, low: float, high: float) -> MFCC:
    return MFCC(coefficients, bands, low, high)
