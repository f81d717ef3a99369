"""Speaker vectors of the latest speech of a live stream of the codec."""

from __future__ import annotations

from typing import Protocol

import torch

from voicenym.nets.codec.codec import RATE, Codec
from voicenym.nets.codec.style_encoder import LEAST_SAMPLES

SECONDS = 10.0
"""Speech that a vector is of, at most."""


class LatestSpeaker(Protocol):
    """Speaker vectors of the latest speech."""

    def push(self, block: torch.Tensor) -> None:
        """Adds ``[row, time]``."""

    def vectors(self, former: torch.Tensor) -> torch.Tensor:
        """Vectors ``[row, size]``; of rows without sound, and where there is too little speech for
        one, ``former``.
        """


class WholeSpeaker:
    """Computes each vector from samples; revision 1 of ``musa``.

    Args:
        codec: with the speaker encoder.
        rows: of the stream.
    """

    def __init__(self, codec: Codec, rows: int) -> None:
        self._codec = codec
        self._past = codec.voices.mean.new_zeros(rows, 0)

    def push(self, block: torch.Tensor) -> None:
        self._past = torch.cat([self._past, block], dim=1)[:, -round(SECONDS * RATE) :]

    def vectors(self, former: torch.Tensor) -> torch.Tensor:
        if self._past.shape[1] < LEAST_SAMPLES:
            return former
        audible = self._past.any(1)[:, None]
        return torch.where(audible, self._codec.speaker(self._past), former)


class RunningSpeaker:
    """Computes mels once, as speech comes, and each vector from these; from revision 2 on.

    It differs from :class:`WholeSpeaker` at the ends of the speech, where that has mels of mirrored
    samples, and takes half of its time for a vector.

    Args:
        codec: with the speaker encoder.
        rows: of the stream.
    """

    def __init__(self, codec: Codec, rows: int) -> None:
        self._encoder = codec.speakers
        mel = self._encoder.mel
        self._most = round(SECONDS * RATE) // mel.hop
        empty = codec.voices.mean.new_zeros
        self._samples = empty(rows, 0)  # of windows that are not whole
        self._mels = empty(rows, 0, mel.bank.shape[0])
        self._audible = empty(rows, 0, dtype=torch.bool)

    def push(self, block: torch.Tensor) -> None:
        mel = self._encoder.mel
        samples = torch.cat([self._samples, block], dim=1)
        count = max(0, (samples.shape[1] - mel.fft) // mel.hop + 1)
        if count:
            whole = samples[:, : (count - 1) * mel.hop + mel.fft]
            audible = whole.unfold(1, mel.fft, mel.hop).any(2)
            self._mels = torch.cat([self._mels, mel.of_windows(whole)], dim=1)[:, -self._most :]
            self._audible = torch.cat([self._audible, audible], dim=1)[:, -self._most :]
        self._samples = samples[:, count * mel.hop :].clone()

    def vectors(self, former: torch.Tensor) -> torch.Tensor:
        if not self._mels.shape[1]:
            return former
        return torch.where(self._audible.any(1)[:, None], self._encoder.of_mels(self._mels), former)
