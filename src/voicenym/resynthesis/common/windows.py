"""A long recording in windows that overlap, always cut at the same places.

Networks with attention, and trackers that compare a frame with the whole, need a stretch of speech
around what they are asked for. Where the cuts lie depends on the samples before them alone and
never on the blocks that a recording comes in, so that blocks of any size give the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from voicenym.nets.synthesis.synthesizer import SynthesisStream, Synthesizer


@dataclass(frozen=True)
class Window:
    """A stretch of a signal.

    Args:
        samples: ``[row, time]``, context included.
        start: of the samples, counted from the signal's beginning.
        before: samples at their beginning that are context.
        kept: samples after these that the window stands for.
    """

    samples: torch.Tensor
    start: int
    before: int
    kept: int


class Windows:
    """Cuts a signal: a window stands for ``step`` samples and has up to ``context`` on either side.

    Args:
        rows: of the signal.
        step, context: in samples.
        device: of the signal.

    Raises:
        ValueError: a step of nothing, or a context below nothing.
    """

    def __init__(self, rows: int, step: int, context: int, device: str = "cpu") -> None:
        if step < 1 or context < 0:
            raise ValueError(f"windows of {step} samples with {context} beside them")
        self.step, self.context = step, context
        self._held = torch.zeros(rows, 0, device=device)
        self._first = 0  # where what is held begins
        self._next = 0  # where the next window's kept part begins

    @property
    def end(self) -> int:
        """Samples that were pushed."""
        return self._first + self._held.shape[1]

    @property
    def start(self) -> int:
        """The sample at which the next window's own begin."""
        return self._next

    def push(self, block: torch.Tensor) -> list[Window]:
        """``[row, time]`` to the windows that are complete."""
        self._held = torch.cat([self._held, block], dim=1)
        found = []
        while self.end >= self._next + self.step + self.context:
            found.append(self._window(self._next + self.step))
        return found

    def flush(self) -> list[Window]:
        """What is left; the signal is over."""
        found = []
        while self._next < self.end:
            found.append(self._window(min(self._next + self.step, self.end)))
        return found

    def _window(self, stop: int) -> Window:
        start = max(0, self._next - self.context)
        last = min(stop + self.context, self.end)
        samples = self._held[:, start - self._first : last - self._first].clone()
        found = Window(samples, start, self._next - start, stop - self._next)
        self._next = stop
        forgotten = max(0, stop - self.context) - self._first
        self._held = self._held[:, forgotten:].clone()
        self._first += forgotten
        return found


class WindowedSynthesis:
    """A waveform by a network that needs the whole, in windows that meet where nothing is voiced.

    A window begins its sines anew, so that two of them would beat if they met within a vowel: they
    meet at the unvoiced frame that is nearest to where they should, over which one fades into the
    other. It has the interface of :class:`~voicenym.nets.synthesis.synthesizer.SynthesisStream`.

    Args:
        network: any.
        speaker: ``[1, element]``: rows are voiced at different times, so that each has its own.
        seed: ``[1]`` int64.
        step, context: frames that a window stands for, and hears on either side.
        slack: frames by which a meeting may move.

    Raises:
        ValueError: several rows, or a context that the slack uses up.
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
        self._begun = 0  # frame at which the next window's kept part begins
        self._count = 0  # windows so far
        self._tail: torch.Tensor | None = None  # how the last window goes on over a frame
        self.latency = (step + slack + context) * network.hop

    @torch.inference_mode()
    def push(self, content: torch.Tensor, f0: torch.Tensor) -> torch.Tensor:
        """``[1, frame, element]`` and ``[1, frame]`` to what is ready, ``[1, time]``."""
        self._content = torch.cat([self._content, content], dim=1)
        self._f0 = torch.cat([self._f0, f0], dim=1)
        parts = [self._speaker.new_zeros(1, 0)]
        while self._end >= (self._count + 1) * self._step + self._slack + self._context:
            parts.append(self._window(self._meeting()))
        return torch.cat(parts, dim=1)

    @torch.inference_mode()
    def flush(self) -> torch.Tensor:
        """The rest, ``[1, time]``; the stream is over."""
        parts = [self._speaker.new_zeros(1, 0)]
        while self._begun < self._end:
            over = (self._count + 1) * self._step >= self._end
            parts.append(self._window(self._end if over else self._meeting()))
        return torch.cat(parts, dim=1)

    @property
    def _end(self) -> int:
        return self._first + self._f0.shape[1]

    def _meeting(self) -> int:
        """The frame at which the next window ends and another begins."""
        wanted = (self._count + 1) * self._step
        low = max(wanted - self._slack, self._begun + 1)
        near = self._f0[0, low - self._first : wanted + self._slack + 1 - self._first]
        quiet = (near == 0).nonzero()[:, 0] + low
        if not len(quiet):
            return wanted
        return int(quiet[(quiet - wanted).abs().argmin()])

    def _window(self, stop: int) -> torch.Tensor:
        start = max(0, self._begun - self._context)
        last = min(stop + self._context, self._end)
        frames = slice(start - self._first, last - self._first)
        made: torch.Tensor = self._network(
            self._content[:, frames], self._f0[:, frames], self._speaker, self._seed
        )
        hop = self._network.hop
        kept = made[:, (self._begun - start) * hop : (stop - start) * hop].clone()
        if self._tail is not None:
            width = min(hop, kept.shape[1])
            fade = (torch.arange(width, device=kept.device) + 0.5) / hop
            kept[:, :width] = torch.lerp(self._tail[:, :width], kept[:, :width], fade)
        self._tail = made[:, (stop - start) * hop : (stop + 1 - start) * hop].clone()
        forgotten = max(0, stop - self._context) - self._first
        self._content = self._content[:, forgotten:].clone()
        self._f0 = self._f0[:, forgotten:].clone()
        self._first += forgotten
        self._begun, self._count = stop, self._count + 1
        return kept


def spoken(
    network: Synthesizer, speaker: torch.Tensor, seed: torch.Tensor
) -> SynthesisStream | WindowedSynthesis:
    """A network that is given its frames part by part, in the best way it has."""
    if network.streams:
        return network.stream(speaker, seed)
    return WindowedSynthesis(network, speaker, seed)
