"""Frame-wise processing with overlap-add, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

MAX_FRAMES = 2048
"""Frames (of all rows) processed at once: enough for vector operations, few enough for the
cache.
"""

FrameProcess = Callable[[torch.Tensor], torch.Tensor]


def root_hann(length: int) -> torch.Tensor:
    """Square root of the periodic Hann window, ``[length]``; applied twice at a hop of half its
    length, it adds up to one.
    """
    return torch.hann_window(length, periodic=True, dtype=torch.float64).sqrt().float()


def synthesis_window(analysis: torch.Tensor, begin: int, hop: int) -> torch.Tensor:
    """Synthesis window ``[length]`` of frames of which the samples before ``begin`` are not used: a
    Hann window over the rest, scaled so that its products with the analysis window, of all frames
    over a sample, add up to one.

    Args:
        analysis: window that frames have already, ``[length]``.
        begin: in samples, a multiple of the hop.
        hop: in samples.
    """
    used = len(analysis) - begin
    double: dict[str, Any] = {"dtype": torch.float64, "device": analysis.device}
    window = torch.zeros(len(analysis), **double)
    window[begin:] = torch.hann_window(used + 1, periodic=True, **double)[1:]
    total = (analysis * window).reshape(-1, hop).sum(0)
    return (window / total.repeat(len(analysis) // hop)).float()


class OverlapAdd:
    """Streaming overlap-add: cuts a signal into frames, processes them, and adds them up.

    Frame k covers the samples ``[k hop - (length - hop), k hop + hop)``; every sample is in
    ``length / hop`` frames, the first ones too, and the end is padded with zeros.

    Args:
        rows: rows of the signal.
        length, hop: in samples; hop divides length.
        process: ``[row, frame, length] -> [row, frame, length - unused * hop]``; both windows are
            its affair.
        device: where the frames are.
        outputs: rows that ``process`` returns, where it is given more than it changes.
        unused: hops at the beginning of frames for which ``process`` returns nothing; the output
            is finished so much sooner.
    """

    def __init__(
        self,
        rows: int,
        length: int,
        hop: int,
        process: FrameProcess,
        device: str = "cpu",
        outputs: int | None = None,
        unused: int = 0,
    ) -> None:
        if length % hop:
            raise ValueError(f"hop {hop} must divide the frame length {length}")
        if not 0 <= unused < length // hop:
            raise ValueError(f"{unused} of {length // hop} hops of a frame are unused")
        self.length, self.hop = length, hop
        self.latency = length - unused * hop - 1
        self._process = process
        self._overlap = length - hop
        self._input = torch.zeros(rows, self._overlap, device=device)
        outputs = rows if outputs is None else outputs
        self._carried = self._overlap - unused * hop
        self._carry = torch.zeros(outputs, self._carried, device=device)
        self._skip = self._carried  # samples of the padding, which are never given back
        self._pushed = 0
        self._returned = 0

    def push(self, block: torch.Tensor) -> torch.Tensor:
        self._pushed += block.shape[1]
        signal = torch.cat([self._input, block], dim=1)
        frames = max(0, (signal.shape[1] - self._overlap) // self.hop)
        self._input = signal[:, frames * self.hop :]
        # in equal parts: a short one costs nearly as much as a long one
        parts_needed = max(1, -(-frames * signal.shape[0] // MAX_FRAMES))
        at_once = max(1, -(-frames // parts_needed))
        parts = []
        for first in range(0, frames, at_once):
            last = min(first + at_once, frames)
            parts.append(self._add(signal[:, first * self.hop : last * self.hop + self._overlap]))
        parts = parts or [signal[: len(self._carry), :0]]
        out = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
        skipped = min(self._skip, out.shape[1])
        self._skip -= skipped
        out = out[:, skipped:]
        self._returned += out.shape[1]
        return out

    def flush(self) -> torch.Tensor:
        return self.finish(self._input[:, :0])

    def finish(self, block: torch.Tensor) -> torch.Tensor:
        """:meth:`push` and :meth:`flush` in one: the last frames are processed with the others."""
        missing = self._pushed + block.shape[1] - self._returned
        padding = block.new_zeros(block.shape[0], self._overlap + self.hop)
        return self.push(torch.cat([block, padding], dim=1))[:, :missing]

    def _add(self, signal: torch.Tensor) -> torch.Tensor:
        """Processes ``[row, frames * hop + overlap]``; returns the finished ``[row, frames *
        hop]``.
        """
        processed = self._process(signal.unfold(1, self.length, self.hop))
        rows, frames, _ = processed.shape
        parts = processed.unflatten(2, (-1, self.hop))
        count = parts.shape[2]
        total = signal.new_empty(rows, frames + count - 1, self.hop)
        total[:, :frames] = parts[:, :, 0]
        total[:, frames:] = 0.0
        for part in range(1, count):
            total[:, part : part + frames] += parts[:, :, part]
        total = total.flatten(1)
        total[:, : self._carried] += self._carry
        self._carry = total[:, frames * self.hop :].clone()
        return total[:, : frames * self.hop]
