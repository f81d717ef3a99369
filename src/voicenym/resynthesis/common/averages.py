"""What resynthesis takes from a recording as a whole: its averages."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from voicenym.dsp.pitch.f0_statistics import moments, register
from voicenym.nets.content.bottleneck import Heard
from voicenym.resynthesis.common import pauses


@dataclass(frozen=True)
class Averages:
    """Of each row of a recording, over its louder frames.

    Args:
        bands: ``[row, band]``, natural logarithm of power.
        power: ``[row]``, natural logarithm of the mean square.
        log_f0: ``[row]``, of F0 in Hz, where voiced.
        log_f0_std: ``[row]``, its standard deviation.
        floor: ``[row]``, natural logarithm of the mean square of its pauses.
        content: ``[row, 1 + size + size * size]``, sums of its content
            (:func:`voicenym.resynthesis.bundled.content_normalisation.counted`); None where nobody
            asks for them.
    """

    bands: torch.Tensor
    power: torch.Tensor
    log_f0: torch.Tensor
    log_f0_std: torch.Tensor
    floor: torch.Tensor
    content: torch.Tensor | None = None

    @classmethod
    def of(cls, heard: Heard, f0: torch.Tensor, level: torch.Tensor) -> Averages:
        """The averages of whole rows.

        Args:
            heard: their frames.
            f0: ``[row, frame']`` in Hz, 0 where unvoiced.
            level: ``[row, frame']``, what an F0 counts.
        """
        sums = Sums(len(f0), heard.bands.shape[2])
        sums.add_frames(heard, torch.ones_like(heard.power))
        sums.add_pitch(f0, level)
        return sums.averages()


def weights(power: torch.Tensor) -> torch.Tensor:
    """What frames count: loud ones tell more of the voice than faint ones. Any shape."""
    return (0.25 * power.double()).exp()


class Sums:
    """Averages in the making.

    Args:
        rows, bands: sizes.
        device: where the frames are.
    """

    def __init__(self, rows: int, bands: int, device: str = "cpu") -> None:
        self.frames = torch.zeros(rows, bands + 2, dtype=torch.float64, device=device)
        """Weight; power and bands times it."""
        self.levels = torch.zeros(rows, pauses.BINS, dtype=torch.float64, device=device)
        """Of :func:`~voicenym.resynthesis.common.pauses.counted`."""
        self.pitch = torch.zeros(rows, 3, dtype=torch.float64, device=device)
        """Of :func:`~voicenym.dsp.pitch.f0_statistics.moments`."""

    def add_frames(self, heard: Heard, inside: torch.Tensor) -> None:
        """Count frames; ``inside`` ``[row, frame]`` is 0 for those that are padding."""
        self.frames = self.frames + self.of_frames(heard, inside).sum(1)
        self.levels = self.levels + (pauses.counted(heard.power) * inside[..., None]).sum(1)

    @staticmethod
    def of_frames(heard: Heard, inside: torch.Tensor) -> torch.Tensor:
        """``[row, frame, 2 + band]``: what each frame adds."""
        weight = (weights(heard.power) * inside)[..., None]
        values = torch.cat([heard.power[..., None], heard.bands], dim=2).double()
        return torch.cat([weight, weight * values], dim=2)

    def add_pitch(self, f0: torch.Tensor, level: torch.Tensor) -> None:
        """Count pitch ``[row, frame]``, in Hz and 0 where unvoiced, by its level."""
        self.pitch = self.pitch + moments(f0, level).sum(1)

    def averages(self) -> Averages:
        """Of what was counted; a recording without voiced frames has a typical pitch."""
        means = self.frames[:, 1:] / self.frames[:, :1].clamp_min(1e-12)
        log_f0, std = register(self.pitch)
        floor = pauses.floor(self.levels)
        found = (means[:, 1:], means[:, 0], log_f0, std, floor)
        return Averages(*(value.float() for value in found))


def between(f0: torch.Tensor) -> torch.Tensor:
    """Pitch in the middle between frames: ``[row, frame + 1]`` to ``[row, frame]``, in Hz.

    Trackers centre frames on multiples of the hop, synthesizers on the middles between. Where one
    side is unvoiced, the other's pitch holds.
    """
    left, right = f0[:, :-1], f0[:, 1:]
    both = (left > 0) & (right > 0)
    return torch.where(both, (left * right).clamp_min(0).sqrt(), torch.maximum(left, right))
