"""Normalised cepstra of speech frames, the features of statistical speaker verifiers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import torch

from voicenym.dsp.features.mfcc import MEAN_WINDOW, MFCC, normalised, with_slopes
from voicenym.dsp.speech_activity import levelled, speech_frames


@dataclass(frozen=True)
class Cepstra:
    """MFCCs with deltas, sliding mean normalisation, and removal of non-speech frames.

    The order is that of Kaldi's i-vector recipes. The defaults are those of the verifier with which
    Turner et al. (2022) repeat their tests: 24 coefficients of 25 ms; the rest is Kaldi's.

    Args:
        coefficients: cepstral coefficients, log energy among them.
        bands: of the filterbank.
        low, high: its limits in Hz.
        slopes: order of the deltas; 2 adds deltas and delta-deltas.
        window: frames of the sliding mean; 0 for the utterance's mean.
        variance: whether variances are normalised too.
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
        """Elements of a frame."""
        return self.coefficients * (1 + self.slopes)

    def settings(self) -> dict[str, Any]:
        """Fields as a dictionary, fit for JSON."""
        return asdict(self)

    @torch.inference_mode()
    def __call__(self, signal: torch.Tensor) -> torch.Tensor:
        """Features ``[frame, dimension]`` of ``[time]`` at 16 kHz; no frames where there is no
        speech.
        """
        mfcc = _mfcc(self.coefficients, self.bands, self.low, self.high)
        cepstra = mfcc(levelled(signal))
        features = normalised(with_slopes(cepstra, self.slopes), self.window or None, self.variance)
        return features[speech_frames(cepstra[:, 0])]


@cache
def _mfcc(coefficients: int, bands: int, low: float, high: float) -> MFCC:
    return MFCC(coefficients, bands, low, high)
