"""Rows that are worked on in groups, each as long as it is, and come out side by side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch

from voicenym.nets.content.content_encoder import RATE
from voicenym.nets.streaming import Memory, extend
from voicenym.resynthesis.common.output_level import Level
from voicenym.resynthesis.common.windows import Window, Windows


class Output:
    """What was made, within the band of the recording and at the level of what was said.

    Args:
        rows: of the signals.
        taps: a filter that what is made goes through, of :func:`low_pass`; None for none.
        device: of the signals.

    Attributes:
        latency: samples by which what is ready lags behind what was made.
    """

    def __init__(self, rows: int, taps: torch.Tensor | None, device: str) -> None:
        self._taps = None if taps is None else taps.to(device)
        self._filtering = Memory()
        self._level = Level(rows, device)
        self.latency = self._level.latency + (0 if taps is None else len(taps) // 2)

    def push(self, said: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
        """The next samples of both ``[row, time]``, of any lengths, to those that are ready."""
        if self._taps is not None:
            side = len(self._taps) // 2
            around = extend(made, side, side, self._filtering, "band")
            made = made[:, :0]
            if around.shape[1] >= len(self._taps):
                made = torch.conv1d(around[:, None], self._taps[None, None])[:, 0]
        return self._level.push(said, made)

    def flush(self, made: torch.Tensor) -> torch.Tensor:
        """The rest, with the last that was made, up to a whole frame; both signals are over."""
        self._filtering.last = True
        return torch.cat([self.push(made[:, :0], made), self._level.flush()], dim=1)


class Group(ABC):
    """Rows that end together.

    Args:
        rows: their numbers in the signal.
        end: samples that they have.
        taps: see :class:`Output`.
        device: of the signal.

    Attributes:
        given: samples that were taken.
        finished: whether nothing more will be heard.
        latency: samples by which what is ready lags behind what was heard.
    """

    def __init__(self, rows: list[int], end: int, taps: torch.Tensor | None, device: str) -> None:
        self.rows, self.end = rows, end
        self._output = Output(len(rows), taps, device)
        self._waiting = torch.zeros(len(rows), 0, device=device)
        self.given, self.finished = 0, False
        self.latency = self._output.latency

    @abstractmethod
    def hear(self, window: Window) -> None:
        """Work on a window, up to where the rows end; what was said and made is :meth:`put`."""

    @abstractmethod
    def rest(self) -> torch.Tensor:
        """What is still to be made, ``[row, time]``, when the rows are over."""

    @property
    def ready(self) -> int:
        """Samples that wait to be taken."""
        return self._waiting.shape[1]

    def put(self, said: torch.Tensor, made: torch.Tensor) -> None:
        """The next samples of what was said and of what was made, of any lengths."""
        self._waiting = torch.cat([self._waiting, self._output.push(said, made)], dim=1)

    def finish(self) -> None:
        """Nothing more will be heard of these rows."""
        if not self.finished:
            self._waiting = torch.cat([self._waiting, self._output.flush(self.rest())], dim=1)
            self.finished = True

    def take(self, count: int) -> torch.Tensor:
        """So many of the samples that wait; zeros behind the end."""
        some, self._waiting = self._waiting[:, :count], self._waiting[:, count:].clone()
        self.given += count
        return torch.nn.functional.pad(some, (0, count - some.shape[1]))


class Grouped:
    """A system's machine over groups of rows, in windows.

    Args:
        groups: of all rows.
        windows: in which they hear the signal.
        rows: of the signal.
        device: of the signal.

    Attributes:
        latency: samples that are held back at most.
    """

    def __init__(
        self, groups: Sequence[Group], windows: Windows, rows: int, device: str = "cpu"
    ) -> None:
        self._groups, self._windows = list(groups), windows
        self._rows, self._device = rows, device
        self._pushed = self._given = 0
        self.latency = windows.step + windows.context + self._groups[0].latency

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> torch.Tensor:
        """``[row, time]`` in, as much as is ready out."""
        self._pushed += block.shape[1]
        return self._worked(self._windows.push(block), last=False)

    @torch.inference_mode()
    def flush(self) -> torch.Tensor:
        """The rest."""
        return self._worked(self._windows.flush(), last=True)

    def _worked(self, windows: Sequence[Window], last: bool) -> torch.Tensor:
        for window in windows:
            for group in self._groups:
                group.hear(window)
        for group in self._groups:
            if last or self._windows.start >= group.end:
                group.finish()
        ready = [group.given + group.ready for group in self._groups if not group.finished]
        stop = self._pushed if last else min([self._pushed, *ready])
        out = torch.zeros(self._rows, stop - self._given, device=self._device)
        for group in self._groups:
            out[group.rows] = group.take(out.shape[1])
        self._given = stop
        return out


def low_pass(rate: int, taps: int = 127) -> torch.Tensor:
    """A windowed sinc at 16 kHz that keeps what recordings of ``rate`` Hz can hold, ``[tap]``."""
    n = torch.arange(taps) - taps // 2
    share = 0.97 * rate / RATE
    found = share * torch.sinc(share * n) * torch.hamming_window(taps, periodic=False)
    return found / found.sum()
