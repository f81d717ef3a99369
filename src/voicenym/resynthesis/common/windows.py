"""Segmentation of long recordings into overlapping windows at fixed positions.

Networks with attention, and trackers that normalise over a recording, need context around the
frames they compute. The positions of the windows do not depend on the blocks that a recording
arrives in, so that blocks of any size give the same result.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from voicenym.nets.synthesis.synthesizer import SynthesisStream, Synthesizer


@dataclass(frozen=True)
class Window:
    """Segment of a signal with context.

    Args:
        samples: ``[row, time]``, context included.
        start: position of the first sample in the signal.
        before: number of context samples at the beginning.
        kept: number of samples after these that the window is responsible for.
    """

    samples: torch.Tensor
    start: int
    before: int
    kept: int


class Windows:
    """Streaming segmentation into windows of ``step`` samples with up to ``context`` on either
    side.

    Args:
        rows: of the signal.
        step, context: in samples.
        device: of the signal.
        ahead: context after the step, where it is not as long as that before it.

    Raises:
        ValueError: step below 1, or negative context.
    """

    def __init__(
        self, rows: int, step: int, context: int, device: str = "cpu", ahead: int | None = None
    ) -> None:
        if step < 1 or context < 0 or (ahead is not None and ahead < 0):
            raise ValueError(f"windows of {step} samples with {context} beside them")
        self.step, self.context = step, context
        self.ahead = context if ahead is None else ahead
        self._held = torch.zeros(rows, 0, device=device)
        self._first = 0  # where what is held begins
        self._next = 0  # where the next window's kept part begins

    @property
    def end(self) -> int:
        """Number of samples pushed so far."""
        return self._first + self._held.shape[1]

    @property
    def start(self) -> int:
        """Position at which the next window's own samples begin."""
        return self._next

    def push(self, block: torch.Tensor) -> list[Window]:
        """Adds ``[row, time]``; returns the complete windows."""
        self._held = torch.cat([self._held, block], dim=1)
        found = []
        while self.end >= self._next + self.step + self.ahead:
            found.append(self._window(self._next + self.step))
        return found

    def flush(self) -> list[Window]:
        """The remaining windows; the signal ends here."""
        found = []
        while self._next < self.end:
            found.append(self._window(min(self._next + self.step, self.end)))
        return found

    def _window(self, stop: int) -> Window:
        start = max(0, self._next - self.context)
        last = min(stop + self.ahead, self.end)
        samples = self._held[:, start - self._first : last - self._first].clone()
        found = Window(samples, start, self._next - start, stop - self._next)
        self._next = stop
        forgotten = max(0, stop - self.context) - self._first
        self._held = self._held[:, forgotten:].clone()
        self._first += forgotten
        return found


class WindowedSynthesis:
    """Synthesis in overlapping windows that join at unvoiced frames, for networks that do not
    stream.

    Each window restarts the phase of the excitation, so that two windows would interfere within a
    vowel: they are cross-faded at the nearest unvoiced frame. It has the interface of
    :class:`~voicenym.nets.synthesis.synthesizer.SynthesisStream`.

    Args:
        network: the synthesizer.
        speaker: ``[1, element]``; one row, because rows are unvoiced at different times.
        seed: ``[1]`` int64.
        step, context: frames of a window, and context frames on either side.
        slack: largest shift of a join, in frames.

    Raises:
        ValueError: several rows, slack outside 0 to step, or no context.
    """

    def __init__(
        self,
        network: Synthesizer,
        speaker: torch.Tensor,
        seed: torch.Tensor,
        step: int = 1000,
        context: int = 200,
        slack: int = 150,
    ) -> None:
        if len(speaker) != 1:
            raise ValueError(f"one row at a time, not {len(speaker)}")
        if not 0 <= slack < step or context < 1:
            raise ValueError(f"windows of {step} frames, {context} beside them, and {slack} slack")
        self._network, self._speaker, self._seed = network, speaker, seed
        self._step, self._context, self._slack = step, context, slack
        self._content = speaker.new_zeros(1, 0, int(network.config()["content"]))
        self._f0 = speaker.new_zeros(1, 0)
        self._first = 0  # frame at which what is held begins
        self._start = 0  # frame at which the next window's kept part begins
        self._count = 0  # windows so far
        self._tail: torch.Tensor | None = None  # how the last window goes on over a frame
        self.latency = (step + slack + context) * network.hop

    @torch.inference_mode()
    def push(self, content: torch.Tensor, f0: torch.Tensor) -> torch.Tensor:
        """Adds content ``[1, frame, element]`` and F0 ``[1, frame]``; returns the finished ``[1,
        time]``.
        """
        self._content = torch.cat([self._content, content], dim=1)
        self._f0 = torch.cat([self._f0, f0], dim=1)
        parts = [self._speaker.new_zeros(1, 0)]
        while self._end >= (self._count + 1) * self._step + self._slack + self._context:
            parts.append(self._window(self._meeting()))
        return torch.cat(parts, dim=1)

    @torch.inference_mode()
    def flush(self) -> torch.Tensor:
        """The remaining samples, ``[1, time]``; the stream ends here."""
        parts = [self._speaker.new_zeros(1, 0)]
        while self._start < self._end:
            over = (self._count + 1) * self._step >= self._end
            parts.append(self._window(self._end if over else self._meeting()))
        return torch.cat(parts, dim=1)

    @property
    def _end(self) -> int:
        return self._first + self._f0.shape[1]

    def _meeting(self) -> int:
        """Frame at which the next two windows join."""
        wanted = (self._count + 1) * self._step
        low = max(wanted - self._slack, self._start + 1)
        near = self._f0[0, low - self._first : wanted + self._slack + 1 - self._first]
        quiet = (near == 0).nonzero()[:, 0] + low
        if not len(quiet):
            return wanted
        return int(quiet[(quiet - wanted).abs().argmin()])

    def _window(self, stop: int) -> torch.Tensor:
        start = max(0, self._start - self._context)
        last = min(stop + self._context, self._end)
        frames = slice(start - self._first, last - self._first)
        made: torch.Tensor = self._network(
            self._content[:, frames], self._f0[:, frames], self._speaker, self._seed
        )
        hop = self._network.hop
        kept = made[:, (self._start - start) * hop : (stop - start) * hop].clone()
        if self._tail is not None:
            width = min(hop, kept.shape[1])
            fade = (torch.arange(width, device=kept.device) + 0.5) / hop
            kept[:, :width] = torch.lerp(self._tail[:, :width], kept[:, :width], fade)
        self._tail = made[:, (stop - start) * hop : (stop + 1 - start) * hop].clone()
        forgotten = max(0, stop - self._context) - self._first
        self._content = self._content[:, forgotten:].clone()
        self._f0 = self._f0[:, forgotten:].clone()
        self._first += forgotten
        self._start, self._count = stop, self._count + 1
        return kept


def synthesis_stream(
    network: Synthesizer, speaker: torch.Tensor, seed: torch.Tensor
) -> SynthesisStream | WindowedSynthesis:
    """Stream of a synthesizer: its own if it streams, else :class:`WindowedSynthesis`."""
    if network.streams:
        return network.stream(speaker, seed)
    return WindowedSynthesis(network, speaker, seed)
