"""Long-term averages of a recording: mean spectral envelope, mean and deviation of ln F0.

They are accumulated block by block in a first pass over the recording, in constant memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from voicenym.dsp.envelopes import envelope
from voicenym.dsp.overlap_add import OverlapAdd, root_hann
from voicenym.dsp.pitch.f0_statistics import moments, register
from voicenym.dsp.pitch.online import Pitch
from voicenym.dsp.pitch.recorded_pitch import PitchRecorder, RecordedPitch

FRAME_HOP = 0.008
OVERLAP = 4
"""Hops of a frame."""
KEPT_SECONDS = 40.0
"""Longest recording whose envelopes are kept for the second pass: 130 KB a second."""


@dataclass(frozen=True)
class AverageVoice:
    """Long-term averages of each row of a recording.

    Args:
        log_envelope: ``[row, bin]``, mean natural-log envelope.
        log_f0: ``[row]`` mean of ln F0 in Hz over voiced frames.
        log_f0_std: ``[row]`` its standard deviation.
        pitch: F0 track of a recording that is not too long.
        envelopes: log envelopes ``[row, frame, bin]`` of its frames, from the first on.
    """

    log_envelope: torch.Tensor
    log_f0: torch.Tensor
    log_f0_std: torch.Tensor
    pitch: RecordedPitch | None = field(default=None, repr=False)
    envelopes: torch.Tensor | None = field(default=None, repr=False)

    def known_envelopes(self, first: int, news: torch.Tensor) -> torch.Tensor | None:
        """Log envelopes ``[row, frame, bin]`` of the first pass, if the signal is the same.

        Args:
            first: number of the first frame.
            news: the samples that each frame has and the one before has not, ``[row, frame, hop]``.

        Returns:
            Those of frames that the first pass has; None if samples differ.
        """
        if self.pitch is None or self.envelopes is None:
            return None
        rows, frames, hop = news.shape
        count = min(frames, self.envelopes.shape[1] - first)
        part = self.pitch.samples[:, first * hop : (first + count) * hop]
        if count <= 0 or part.shape[0] != rows:
            return None
        if not torch.equal(part.unflatten(1, (-1, hop)), news[:, :count]):
            return None
        return self.envelopes[:, first : first + count]


class EnvelopeFrames:
    """Frame sizes at a sample rate, and the spectral envelope of windowed frames.

    Args:
        rate: in Hz.
        device: of the frames.
        hop: in seconds.
        overlap: hops of a frame.
    """

    def __init__(
        self, rate: int, device: str, hop: float = FRAME_HOP, overlap: int = OVERLAP
    ) -> None:
        self.hop = round(hop * rate)
        self.length = overlap * self.hop
        self.bins = self.length // 2 + 1
        self.window = root_hann(self.length).to(device)
        self._coefficients = round(envelope.QUEFRENCY * rate)

    def envelope(self, windowed: torch.Tensor) -> torch.Tensor:
        """Natural-log envelopes ``[..., bin]`` of windowed frames ``[..., length]``."""
        return envelope.of_spectrum(torch.fft.rfft(windowed), self._coefficients)

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
        self._pitch = PitchRecorder(rows, rate, device)
        endless = [2**62] * rows if lengths is None else list(lengths)
        self._lengths = torch.tensor(endless, device=device)[:, None]
        self._seen = self._tracked = 0  # frames so far
        self._overlap = OverlapAdd(
            rows, self._frames.length, self._frames.hop, self._gather, device, outputs=0
        )
        self._envelope = torch.zeros(rows, self._frames.bins, dtype=torch.float64, device=device)
        self._weight = torch.zeros(rows, 1, dtype=torch.float64, device=device)
        self._f0 = torch.zeros(rows, 3, dtype=torch.float64, device=device)
        self._most = round(KEPT_SECONDS * rate / self._frames.hop)
        self._kept: list[torch.Tensor] | None = []

    def push(self, block: torch.Tensor) -> None:
        self._overlap.push(block)
        self._count(self._pitch.push(block))

    def result(self) -> AverageVoice:
        rest, track = self._pitch.finish()
        self._count(rest)
        mean = self._envelope / self._weight.clamp_min(1e-12)
        log_f0, std = register(self._f0)
        kept = torch.cat(self._kept, dim=1) if self._kept else None
        return AverageVoice(mean.float(), log_f0.float(), std.float(), track, kept)

    def _gather(self, frames: torch.Tensor) -> torch.Tensor:
        windowed = frames * self._frames.window
        # frames behind a row's end are padding of a batch
        frame = self._seen + torch.arange(frames.shape[1], device=frames.device)
        inside = (frame + 1) * self._frames.hop <= self._lengths
        self._seen += frames.shape[1]
        weight = (self._frames.weight(windowed) * inside)[..., None].double()
        found = self._frames.envelope(windowed)
        if self._kept is not None:
            if self._seen > self._most:
                self._kept = None
            else:
                self._kept.append(found)
        self._envelope += (found * weight).sum(1)
        self._weight += weight.sum(1)
        return frames[:0]

    def _count(self, pitch: Pitch) -> None:
        frame = self._tracked + torch.arange(pitch.f0.shape[1], device=pitch.f0.device)
        self._tracked += pitch.f0.shape[1]
        inside = frame * self._pitch.hop < self._lengths
        self._f0 += moments(pitch.f0 * inside, pitch.level).sum(1)
