"""Batches of rows of different lengths: rows of equal length are processed together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch

from voicenym.nets.content.content_encoder import RATE
from voicenym.nets.streaming import Memory, extend
from voicenym.resynthesis.common.output_level import Level
from voicenym.resynthesis.common.windows import Window, Windows


class Output:
    """Post-processing of a synthetic signal: low-pass filter and level control.

    Args:
        rows: of the signals.
        taps: low-pass filter of the synthetic signal, of :func:`low_pass`; None for none.
        device: of the signals.
        level: control of the level; that of :class:`Level` by default.

    Attributes:
        latency: delay of the output relative to the synthetic signal, in samples.
    """

    def __init__(
        self, rows: int, taps: torch.Tensor | None, device: str, level: Level | None = None
    ) -> None:
        self._taps = None if taps is None else taps.to(device)
        self._filtering = Memory()
        self._level = level or Level(rows, device)
        self.latency = self._level.latency + (0 if taps is None else len(taps) // 2)

    def push(self, source: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
        """Adds input and synthetic samples ``[row, time]``, of any lengths; returns the finished
        ones.
        """
        if self._taps is not None:
            side = len(self._taps) // 2
            extended = extend(made, side, side, self._filtering, "band")
            made = made[:, :0]
            if extended.shape[1] >= len(self._taps):
                made = torch.conv1d(extended[:, None], self._taps[None, None])[:, 0]
        return self._level.push(source, made)

    def flush(self, made: torch.Tensor) -> torch.Tensor:
        """The remaining samples, with the last synthetic ones, up to a whole frame; both signals
        end here.
        """
        self._filtering.last = True
        return torch.cat([self.push(made[:, :0], made), self._level.flush()], dim=1)


class Group(ABC):
    """Rows of equal length, processed together.

    Args:
        rows: indices of the rows in the signal.
        end: length of the rows in samples.
        taps: see :class:`Output`.
        device: of the signal.
        level: see :class:`Output`.

    Attributes:
        given: samples returned so far.
        finished: whether the rows have ended.
        latency: delay of the output relative to the input, in samples.
    """

    def __init__(
        self,
        rows: list[int],
        end: int,
        taps: torch.Tensor | None,
        device: str,
        level: Level | None = None,
    ) -> None:
        self.rows, self.end = rows, end
        self._output = Output(len(rows), taps, device, level)
        self._waiting = torch.zeros(len(rows), 0, device=device)
        self.given, self.finished = 0, False
        self.latency = self._output.latency

    @abstractmethod
    def process(self, window: Window) -> None:
        """Processes a window up to the end of the rows; passes input and output to :meth:`put`."""

    @abstractmethod
    def rest(self) -> torch.Tensor:
        """Remaining synthetic samples ``[row, time]`` after the end of the rows."""

    @property
    def ready(self) -> int:
        """Number of finished samples that wait to be returned."""
        return self._waiting.shape[1]

    def put(self, source: torch.Tensor, made: torch.Tensor) -> None:
        """Adds input and synthetic samples, of any lengths."""
        self._waiting = torch.cat([self._waiting, self._output.push(source, made)], dim=1)

    def finish(self) -> None:
        """Ends the rows."""
        if not self.finished:
            self._waiting = torch.cat([self._waiting, self._output.flush(self.rest())], dim=1)
            self.finished = True

    def take(self, count: int) -> torch.Tensor:
        """The next ``count`` finished samples; zeros after the end."""
        some, self._waiting = self._waiting[:, :count], self._waiting[:, count:].clone()
        self.given += count
        return torch.nn.functional.pad(some, (0, count - some.shape[1]))


class Grouped:
    """Core of a system that processes groups of rows in overlapping windows.

    Args:
        groups: of all rows.
        windows: segmentation of the signal.
        rows: of the signal.
        device: of the signal.
        total: samples of the longest output, where it is not that of the input.

    Attributes:
        latency: largest number of samples held back.
    """

    def __init__(
        self,
        groups: Sequence[Group],
        windows: Windows,
        rows: int,
        device: str = "cpu",
        total: int | None = None,
    ) -> None:
        self._groups, self._windows, self._total = list(groups), windows, total
        self._rows, self._device = rows, device
        self._pushed = self._given = 0
        self.latency = windows.step + windows.context + self._groups[0].latency

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> torch.Tensor:
        """Adds ``[row, time]``; returns the finished samples."""
        self._pushed += block.shape[1]
        return self._worked(self._windows.push(block), last=False)

    @torch.inference_mode()
    def flush(self) -> torch.Tensor:
        """The remaining samples."""
        return self._worked(self._windows.flush(), last=True)

    def _worked(self, windows: Sequence[Window], last: bool) -> torch.Tensor:
        for window in windows:
            for group in self._groups:
                group.process(window)
        for group in self._groups:
            if last or self._windows.start >= group.end:
                group.finish()
        ready = [group.given + group.ready for group in self._groups if not group.finished]
        most = self._pushed if self._total is None else self._total
        stop = most if last else min([most, *ready])
        out = torch.zeros(self._rows, stop - self._given, device=self._device)
        for group in self._groups:
            out[group.rows] = group.take(out.shape[1])
        self._given = stop
        return out


def low_pass(rate: int, taps: int = 127) -> torch.Tensor:
    """Windowed-sinc low-pass filter ``[tap]`` at 16 kHz for recordings at ``rate`` Hz."""
    n = torch.arange(taps) - taps // 2
    share = 0.97 * rate / RATE
    found = share * torch.sinc(share * n) * torch.hamming_window(taps, periodic=False)
    return found / found.sum()
