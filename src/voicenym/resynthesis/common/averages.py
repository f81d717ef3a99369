"""Long-term averages of a recording for resynthesis: mel bands, power, F0, noise floor, content."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from voicenym.dsp.pitch.f0_statistics import moments, register
from voicenym.nets.content.bottleneck import AcousticFrames
from voicenym.resynthesis.common import pauses


@dataclass(frozen=True)
class Averages:
    """Averages of each row of a recording; louder frames weigh more.

    Args:
        bands: ``[row, band]``, natural logarithm of power.
        power: ``[row]``, natural logarithm of the mean square.
        log_f0: ``[row]``, of F0 in Hz, where voiced.
        log_f0_std: ``[row]``, its standard deviation.
        floor: ``[row]``, natural logarithm of the mean square of its pauses.
        content: ``[row, 1 + size + size * size]``, sums of its content
            (:func:`voicenym.resynthesis.bundled.content_normalisation.counted`); None if not
            requested.
    """

    bands: torch.Tensor
    power: torch.Tensor
    log_f0: torch.Tensor
    log_f0_std: torch.Tensor
    floor: torch.Tensor
    content: torch.Tensor | None = None

    @classmethod
    def of(cls, acoustic: AcousticFrames, f0: torch.Tensor, level: torch.Tensor) -> Averages:
        """Averages of whole rows.

        Args:
            acoustic: their frames.
            f0: ``[row, frame']`` in Hz, 0 where unvoiced.
            level: ``[row, frame']``, what an F0 counts.
        """
        sums = Sums(len(f0), acoustic.bands.shape[2])
        sums.add_frames(acoustic, torch.ones_like(acoustic.power))
        sums.add_pitch(f0, level)
        return sums.averages()


def weights(power: torch.Tensor) -> torch.Tensor:
    """Frame weights of any shape; louder frames weigh more."""
    return (0.25 * power.double()).exp()


class Sums:
    """Accumulator of averages.

    Args:
        rows, bands: sizes.
        device: where the frames are.
    """

    def __init__(self, rows: int, bands: int, device: str = "cpu") -> None:
        self.frames = torch.zeros(rows, bands + 2, dtype=torch.float64, device=device)
        """Weight; power and bands times it."""
        self.levels = torch.zeros(rows, pauses.BINS, dtype=torch.float64, device=device)
        """Histogram of levels, see :func:`~voicenym.resynthesis.common.pauses.counted`."""
        self.pitch = torch.zeros(rows, 3, dtype=torch.float64, device=device)
        """Moments of ln F0, see :func:`~voicenym.dsp.pitch.f0_statistics.moments`."""

    def add_frames(self, acoustic: AcousticFrames, inside: torch.Tensor) -> None:
        """Adds frames; ``inside`` ``[row, frame]`` is 0 for padding."""
        self.frames = self.frames + self.of_frames(acoustic, inside).sum(1)
        self.levels = self.levels + (pauses.counted(acoustic.power) * inside[..., None]).sum(1)

    @staticmethod
    def of_frames(acoustic: AcousticFrames, inside: torch.Tensor) -> torch.Tensor:
        """Contributions of each frame, ``[row, frame, 2 + band]``."""
        weight = (weights(acoustic.power) * inside)[..., None]
        values = torch.cat([acoustic.power[..., None], acoustic.bands], dim=2).double()
        return torch.cat([weight, weight * values], dim=2)

    def add_pitch(self, f0: torch.Tensor, level: torch.Tensor) -> None:
        """Adds F0 ``[row, frame]`` in Hz, 0 where unvoiced, weighted by level."""
        self.pitch = self.pitch + moments(f0, level).sum(1)

    def averages(self) -> Averages:
        """Averages of the frames added so far; without voiced frames, F0 statistics are typical."""
        means = self.frames[:, 1:] / self.frames[:, :1].clamp_min(1e-12)
        log_f0, std = register(self.pitch)
        floor = pauses.floor(self.levels)
        found = (means[:, 1:], means[:, 0], log_f0, std, floor)
        return Averages(*(value.float() for value in found))


def between(f0: torch.Tensor) -> torch.Tensor:
    """F0 at the midpoints of frames: ``[row, frame + 1]`` to ``[row, frame]``, in Hz.

    Trackers centre frames on multiples of the hop, synthesizers on the midpoints between. If one
    side is unvoiced, the other side's F0 is used.
    """
    left, right = f0[:, :-1], f0[:, 1:]
    both = (left > 0) & (right > 0)
    return torch.where(both, (left * right).clamp_min(0).sqrt(), torch.maximum(left, right))
