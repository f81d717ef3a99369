"""Long-term averages of a recording: mean spectral envelope, mean and deviation of ln F0.

They are accumulated block by block in a first pass over the recording, in constant memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from voicenym.dsp import envelope
from voicenym.dsp.overlap_add import OverlapAdd, root_hann
from voicenym.dsp.pitch.f0_statistics import moments, register
from voicenym.dsp.pitch.online import Pitch, PitchStream

FRAME_HOP = 0.008


@dataclass(frozen=True)
class AverageVoice:
    """Long-term averages of each row of a recording.

    Args:
        log_envelope: ``[row, bin]``, mean natural-log envelope.
        log_f0: ``[row]`` mean of ln F0 in Hz over voiced frames.
        log_f0_std: ``[row]`` its standard deviation.
    """

    log_envelope: torch.Tensor
    log_f0: torch.Tensor
    log_f0_std: torch.Tensor


class EnvelopeFrames:
    """Frame sizes at a sample rate, and the spectral envelope of windowed frames."""

    def __init__(self, rate: int, device: str) -> None:
        self.hop = round(FRAME_HOP * rate)
        self.length = 4 * self.hop
        self.bins = self.length // 2 + 1
        self.window = root_hann(self.length).to(device)
        self._coefficients = round(envelope.QUEFRENCY * rate)

    def envelope(self, windowed: torch.Tensor) -> torch.Tensor:
        """Natural-log envelopes ``[..., bin]`` of windowed frames ``[..., length]``."""
        log_spectrum = envelope.log_magnitude(torch.fft.rfft(windowed))
        cepstrum = envelope.cepstral_envelope(log_spectrum, self._coefficients)
        return envelope.log_envelope(cepstrum, self.length)

    @staticmethod
    def weight(windowed: torch.Tensor) -> torch.Tensor:
        """Frame weights ``[row, frame]``; louder frames weigh more."""
        return windowed.square().mean(-1).pow(0.25)


class AverageVoiceReader:
    """Accumulates the averages of a recording; without voiced frames, F0 statistics are typical
    ones.
    """

    def __init__(self, rows: int, rate: int, lengths: Sequence[int] | None, device: str) -> None:
        self._frames = EnvelopeFrames(rate, device)
        self._pitch = PitchStream(rows, rate, device=device)
        endless = [2**62] * rows if lengths is None else list(lengths)
        self._lengths = torch.tensor(endless, device=device)[:, None]
        self._seen = self._tracked = 0  # frames so far
        self._overlap = OverlapAdd(
            rows, self._frames.length, self._frames.hop, self._gather, device, outputs=0
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
        log_f0, std = register(self._f0)
        return AverageVoice(mean.float(), log_f0.float(), std.float())

    def _gather(self, frames: torch.Tensor) -> torch.Tensor:
        windowed = frames * self._frames.window
        # frames behind a row's end are padding of a batch
        frame = self._seen + torch.arange(frames.shape[1], device=frames.device)
        inside = (frame + 1) * self._frames.hop <= self._lengths
        self._seen += frames.shape[1]
        weight = (self._frames.weight(windowed) * inside)[..., None].double()
        self._envelope += (self._frames.envelope(windowed) * weight).sum(1)
        self._weight += weight.sum(1)
        return frames[:0]

    def _count(self, pitch: Pitch) -> None:
        frame = self._tracked + torch.arange(pitch.f0.shape[1], device=pitch.f0.device)
        self._tracked += pitch.f0.shape[1]
        inside = frame * self._pitch.hop < self._lengths
        self._f0 += moments(pitch.f0 * inside, pitch.level).sum(1)
