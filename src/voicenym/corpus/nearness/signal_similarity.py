"""Similarity of an output to its input, measured block by block.

All of a recording is compared, in segments of about a second, each channel with its own:

1. **log-mel distance**: 1 - r, r being the correlation of the two log spectra (24 bands up to 4
   kHz, 32 ms frames) less their means over the segment, band by band (a gain, a filter), and over
   the bands, frame by frame (a changing level). 0 is the same pattern, 1 an unrelated one. It
   ignores phase, sign, delay, and a change of speed by a percent.
2. **waveform correlation**: normalised, of either sign, at the best lag, below 4 kHz and with a
   pre-emphasis of 6 dB an octave, so that the first harmonics do not dominate.

Both are at the best lag within a second. Silence and steady sound have no pattern: the first
measure does not apply to them, and neither applies to silence.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from voicenym.corpus.nearness.folded_sound import FoldedSound
from voicenym.corpus.nearness.segment_similarity import (
    FEWEST_FRAMES,
    MARGIN,
    SEGMENT,
    Segments,
    compare,
    mel_bands,
)

COMPARED_RATE = 8_000
"""Sample rate of the comparison, or slightly more: pitch and the first formants lie below 4 kHz."""
MOST_FOLDED = 64
"""Largest decimation factor, which covers the rates of microphones."""
WINDOW_SECONDS = 0.032
SECTION = 8 * SEGMENT
"""Frames that are compared together."""
OTHER_DISTANCE = 0.1
"""Log-mel distance above which patterns differ, regardless of the waveforms' correlation: steady
noise, in which no harmonics move, keeps that high. Such waveforms are not compared.
"""
PROMISING = 0.15
"""Distance at the section's lag up to which a segment's own lag is searched."""


class SignalSimilarity:
    """Compares an output with its input block by block, in bounded memory.

    Args:
        rate: in Hz, of both.
        channels: of both.
        tempo: length of the output over that of the input.
        promising: distance at the section's lag up to which a segment gets a lag of its own;
            infinity for all.
        other: distance at that lag up to which its waveform is compared; infinity for all.

    Attributes:
        found: by channel.
    """

    def __init__(
        self,
        rate: int,
        channels: int,
        tempo: float = 1.0,
        promising: float = PROMISING,
        other: float = OTHER_DISTANCE,
    ) -> None:
        self._fold = min(max(1, rate // COMPARED_RATE), MOST_FOLDED)
        self._rate = rate / self._fold
        self._window = 1 << round(math.log2(WINDOW_SECONDS * self._rate))
        self._tempo = tempo
        self._promising, self._other = promising, other
        self._input = FoldedSound(channels, self._fold)
        # silence before the beginning, so that the output may be early
        self._output = FoldedSound(channels, self._fold, self._ahead)
        self.found = [Segments() for _ in range(channels)]

    @property
    def _ahead(self) -> int:
        return MARGIN * self._window

    def push_input(self, block: np.ndarray | torch.Tensor) -> None:
        """``[channel, time]`` of the input."""
        self._input.add(block)
        self._compare()

    def push_output(self, block: np.ndarray | torch.Tensor) -> None:
        """``[channel, time]`` of the output."""
        self._output.add(block)
        self._compare()

    def finish(self) -> None:
        """Compare the remaining samples."""
        if 0 < self._input.length < FEWEST_FRAMES * self._window:
            # silence at the end, so that a recording shorter than a segment has one
            self._input.length = FEWEST_FRAMES * self._window
        self._section(self._input.length // self._window)

    def _compare(self) -> None:
        size = SECTION * self._window
        while self._input.length >= size and self._output.length >= self._span(SECTION):
            self._section(SECTION)
            self._input.drop(size)
            self._output.drop(round(size * self._tempo))

    def _span(self, frames: int) -> int:
        """Number of output samples that correspond to a number of input frames."""
        return round(frames * self._window * self._tempo) + 2 * self._ahead + self._window

    def _section(self, frames: int) -> None:
        if frames == 0:
            return
        before = self._input.first(frames * self._window)
        after = self._output.first(self._span(frames))
        bands = mel_bands(self._window, round(self._rate))
        for one, other, found in zip(before, after, self.found, strict=True):
            compare(one, other, bands, self._tempo, self._promising, self._other, found)
