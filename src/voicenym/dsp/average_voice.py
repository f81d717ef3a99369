"""What a recording sounds like on average: its mean spectral envelope, its mean F0 and F0's spread.

Gathered block by block, before a recording is changed, in memory that does not grow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from voicenym.dsp import envelope
from voicenym.dsp.overlap import OverlapAdd, root_hann
from voicenym.dsp.pitch.online import Pitch, PitchStream

FRAME_HOP = 0.008
ENVELOPE_QUEFRENCY = 0.0018
"""Seconds of cepstrum that carry over: formants, nothing of the voice source."""

TYPICAL_LOG_F0 = math.log(150.0)
TYPICAL_LOG_F0_STD = 0.20


@dataclass(frozen=True)
class AverageVoice:
    """What each row of a recording sounds like on average.

    Args:
        log_envelope: ``[row, bin]``, mean natural-log envelope.
        log_f0: ``[row]`` mean of ln F0 in Hz over voiced frames.
        log_f0_std: ``[row]`` its standard deviation.
    """

    log_envelope: torch.Tensor
    log_f0: torch.Tensor
    log_f0_std: torch.Tensor


class EnvelopeFrames:
    """Sizes at a rate, and the envelope of windowed frames."""

    def __init__(self, rate: int, device: str) -> None:
        self.hop = round(FRAME_HOP * rate)
        self.length = 4 * self.hop
        self.bins = self.length // 2 + 1
        self.window = root_hann(self.length).to(device)
        self._coefficients = round(ENVELOPE_QUEFRENCY * rate)

    def envelope(self, windowed: torch.Tensor) -> torch.Tensor:
        """``[..., length]`` to natural-log envelope ``[..., bin]``."""
        log_spectrum = envelope.log_magnitude(torch.fft.rfft(windowed))
        cepstrum = envelope.cepstral_envelope(log_spectrum, self._coefficients)
        return envelope.log_envelope(cepstrum, self.length)

    @staticmethod
    def weight(windowed: torch.Tensor) -> torch.Tensor:
        """``[row, frame]``: loud frames tell more of the voice than faint ones."""
        return windowed.square().mean(-1).pow(0.25)


def f0_moments(pitch: Pitch) -> torch.Tensor:
    """``[3, row, frame]``: weight, and ln F0 and its square times the weight.

    The weight is the level, so that the hum of the mains in a pause, which has a pitch too, does
    not pass for the speaker's.
    """
    log_f0 = pitch.f0.double().clamp_min(1.0).log()
    weight = pitch.level.double() * (pitch.f0 > 0)
    return torch.stack([weight, weight * log_f0, weight * log_f0.square()])


class AverageVoiceReader:
    """Means over a recording; a recording without voiced frames is a typical voice."""

    def __init__(self, rows: int, rate: int, lengths: Sequence[int] | None, device: str) -> None:
        self._frames = EnvelopeFrames(rate, device)
        self._pitch = PitchStream(rows, rate, device=device)
        endless = [2**62] * rows if lengths is None else list(lengths)
        self._lengths = torch.tensor(endless, device=device)[:, None]
        self._heard = self._tracked = 0  # frames so far
        self._overlap = OverlapAdd(
            rows, self._frames.length, self._frames.hop, self._gather, device
        )
        self._envelope = torch.zeros(rows, self._frames.bins, dtype=torch.float64, device=device)
        self._weight = torch.zeros(rows, 1, dtype=torch.float64, device=device)
        self._f0 = torch.zeros(rows, 3, dtype=torch.float64, device=device)

    def push(self, block: torch.Tensor) -> None:
        self._overlap.push(block)
        self._count(self._pitch.push(block))

    def result(self) -> AverageVoice:
        self._count(self._pitch.flush())
        mean = self._envelope / self._weight.clamp_min(1e-12)
        weight, total, squares = self._f0.T
        known = weight > 0
        divisor = torch.where(known, weight, 1.0)
        log_f0 = torch.where(known, total / divisor, TYPICAL_LOG_F0)
        variance = squares / divisor - log_f0.square()
        std = torch.where(known, variance.clamp_min(0).sqrt(), TYPICAL_LOG_F0_STD)
        return AverageVoice(mean.float(), log_f0.float(), std.clamp(0.05, 0.5).float())

    def _gather(self, frames: torch.Tensor) -> torch.Tensor:
        windowed = frames * self._frames.window
        # what lies behind a row's end is padding of a batch
        frame = self._heard + torch.arange(frames.shape[1], device=frames.device)
        inside = (frame + 1) * self._frames.hop <= self._lengths
        self._heard += frames.shape[1]
        weight = (self._frames.weight(windowed) * inside)[..., None].double()
        self._envelope += (self._frames.envelope(windowed) * weight).sum(1)
        self._weight += weight.sum(1)
        return frames

    def _count(self, pitch: Pitch) -> None:
        frame = self._tracked + torch.arange(pitch.f0.shape[1], device=pitch.f0.device)
        self._tracked += pitch.f0.shape[1]
        inside = frame * self._pitch.hop < self._lengths
        self._f0 += (f0_moments(pitch) * inside).sum(-1).T
