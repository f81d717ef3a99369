"""Level control of synthetic speech: its short-time power follows that of the input.

A synthesizer conditioned on content, F0 and speaker alone chooses its own level, and produces noise
in silence. The power of its output over 0.1 s around each frame is set to that of the input: the
shape of syllables is kept, and silence stays silent.
"""

from __future__ import annotations

import torch

HOP = 160
HIGHEST_GAIN = 10.0
LEAST_POWER = 1e-12


class Level:
    """Streaming gain control.

    Args:
        rows: of the signals.
        device: of the signals.

    Attributes:
        context: frames on either side in the average of a gain, under a Hann window.
        ahead: of these, frames after it.
        latency: samples that are held back, beside the delay of the synthetic signal.
    """

    context = 5

    def __init__(self, rows: int, device: str = "cpu") -> None:
        self._window = averaging_window(self.context, device, self.ahead)
        self.latency = (self.ahead + 2) * HOP

        def empty(frames: int = 0) -> torch.Tensor:
            return torch.zeros(rows, frames, device=device)

        self._source, self._made = empty(), empty()  # samples of frames that are not whole
        self._waiting = empty()  # samples of whole frames that wait for their gain
        # mean squares, from so many frames before the first that waits
        before = self.context + 1
        self._source_power, self._made_power = empty(before), empty(before)

    @property
    def ahead(self) -> int:
        return self.context

    def push(self, source: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
        """Adds samples of both signals ``[row, time]``, of any lengths; returns finished ones."""
        self._source, power = _taken(self._source, source)
        self._source_power = torch.cat([self._source_power, power], dim=1)
        before = torch.cat([self._made, made], dim=1)
        self._made, power = _taken(self._made, made)
        self._made_power = torch.cat([self._made_power, power], dim=1)
        whole = before[:, : before.shape[1] - self._made.shape[1]]
        self._waiting = torch.cat([self._waiting, whole], dim=1)
        known = min(self._source_power.shape[1], self._made_power.shape[1])
        frames = known - (self.context + 1) - (self.ahead + 1)
        if frames <= 0:
            return self._waiting[:, :0]
        gains = self.gains(self._source_power[:, :known], self._made_power[:, :known])
        out = self._waiting[:, : frames * HOP] * between_middles(gains)
        self._waiting = self._waiting[:, frames * HOP :].clone()
        self._source_power = self._source_power[:, frames:].clone()
        self._made_power = self._made_power[:, frames:].clone()
        return out

    def gains(self, source: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
        """Amplitude gains ``[row, frame - context - ahead]`` from mean squares ``[row, frame]``;
        one frame on either side of those that are finished.
        """
        wanted, found = (averaged(power, self._window) for power in (source, made))
        return (wanted / found.clamp_min(LEAST_POWER)).sqrt().clamp_max(HIGHEST_GAIN)

    def flush(self) -> torch.Tensor:
        """The remaining samples, up to a whole frame; both signals end here."""
        zeros = self._waiting.new_zeros(len(self._waiting), (self.ahead + 2) * HOP)
        held = self._waiting.shape[1] + -(-self._made.shape[1] // HOP) * HOP
        return self.push(zeros, zeros)[:, :held]


class EarlyLevel(Level):
    """The same for live streams: it looks one frame ahead, and as far back as :class:`Level`."""

    @property
    def ahead(self) -> int:
        return 1


def averaging_window(context: int, device: str, ahead: int | None = None) -> torch.Tensor:
    """Hann window ``[1, 1, 2 * context + 1]`` whose sum is 1.

    Args:
        context: elements on either side of the middle.
        device: of the window.
        ahead: elements after the middle, where the window ends earlier.
    """
    window = torch.hann_window(2 * context + 3, periodic=False, device=device)[1:-1]
    window = window if ahead is None else window[: context + 1 + ahead]
    return (window / window.sum())[None, None]


def averaged(power: torch.Tensor, window: torch.Tensor) -> torch.Tensor:
    """Weighted averages of ``[row, frame]`` under a window, where it fits."""
    return torch.nn.functional.conv1d(power[:, None], window)[:, 0]


def between_middles(gains: torch.Tensor) -> torch.Tensor:
    """Linear interpolation from frame centre to frame centre: ``[row, frame + 2]`` to the samples
    of all frames but the outer two.
    """
    place = (torch.arange(HOP, device=gains.device) + 0.5) / HOP + 0.5
    before, at, after = gains[:, :-2, None], gains[:, 1:-1, None], gains[:, 2:, None]
    rising = torch.lerp(before, at, place[: HOP // 2])
    falling = torch.lerp(at, after, place[HOP // 2 :] - 1.0)
    return torch.cat([rising, falling], dim=2).flatten(1)


def _taken(held: torch.Tensor, block: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Samples ``[row, time]`` after the last whole frame, and mean squares ``[row, frame]`` of
    whole frames.
    """
    signal = torch.cat([held, block], dim=1)
    ready = signal.shape[1] // HOP * HOP
    return signal[:, ready:].clone(), signal[:, :ready].unflatten(1, (-1, HOP)).square().mean(2)
