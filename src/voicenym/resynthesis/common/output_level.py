"""What was made, brought to the level of what was said.

A synthesizer that hears content, pitch and speaker alone decides how loud it speaks, and hisses
where nothing is said. Over a tenth of a second around each frame, its power becomes that of the
input: syllables keep their own course, and silence is silent.
"""

from __future__ import annotations

import torch

HOP = 160
AROUND = 5
"""Frames to either side that a gain hears, under a Hann window."""
HIGHEST_GAIN = 10.0
LEAST_POWER = 1e-12


class Level:
    """Gains, block by block.

    Args:
        rows: of the signals.
        device: of the signals.

    Attributes:
        latency: samples that are held back beside what is made later than it was said.
    """

    latency = (AROUND + 2) * HOP

    def __init__(self, rows: int, device: str = "cpu") -> None:
        window = torch.hann_window(2 * AROUND + 3, periodic=False, device=device)[1:-1]
        self._window = (window / window.sum())[None, None]

        def empty(frames: int = 0) -> torch.Tensor:
            return torch.zeros(rows, frames, device=device)

        self._said, self._made = empty(), empty()  # samples of frames that are not whole
        self._waiting = empty()  # samples of whole frames that wait for their gain
        # mean squares, from so many frames before the first that waits
        self._of_said, self._of_made = empty(AROUND + 1), empty(AROUND + 1)

    def push(self, said: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
        """The next samples of both ``[row, time]``, of any lengths, to those that are ready."""
        self._said, power = _taken(self._said, said)
        self._of_said = torch.cat([self._of_said, power], dim=1)
        before = torch.cat([self._made, made], dim=1)
        self._made, power = _taken(self._made, made)
        self._of_made = torch.cat([self._of_made, power], dim=1)
        whole = before[:, : before.shape[1] - self._made.shape[1]]
        self._waiting = torch.cat([self._waiting, whole], dim=1)
        known = min(self._of_said.shape[1], self._of_made.shape[1])
        frames = known - 2 * (AROUND + 1)
        if frames <= 0:
            return self._waiting[:, :0]
        said_around, made_around = (
            torch.nn.functional.conv1d(power[:, None, :known], self._window)[:, 0]
            for power in (self._of_said, self._of_made)
        )
        gains = (said_around / made_around.clamp_min(LEAST_POWER)).sqrt().clamp_max(HIGHEST_GAIN)
        out = self._waiting[:, : frames * HOP] * between_middles(gains)
        self._waiting = self._waiting[:, frames * HOP :].clone()
        self._of_said = self._of_said[:, frames:].clone()
        self._of_made = self._of_made[:, frames:].clone()
        return out

    def flush(self) -> torch.Tensor:
        """The rest, up to a whole frame; both signals are over."""
        zeros = self._waiting.new_zeros(len(self._waiting), (AROUND + 2) * HOP)
        held = self._waiting.shape[1] + -(-self._made.shape[1] // HOP) * HOP
        return self.push(zeros, zeros)[:, :held]


def between_middles(gains: torch.Tensor) -> torch.Tensor:
    """Straight lines from the middle of a frame to the next: ``[row, frame + 2]`` to the samples
    of all frames but the outer two.
    """
    place = (torch.arange(HOP, device=gains.device) + 0.5) / HOP + 0.5
    before, at, after = gains[:, :-2, None], gains[:, 1:-1, None], gains[:, 2:, None]
    rising = torch.lerp(before, at, place[: HOP // 2])
    falling = torch.lerp(at, after, place[HOP // 2 :] - 1.0)
    return torch.cat([rising, falling], dim=2).flatten(1)


def _taken(held: torch.Tensor, block: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What is left of samples ``[row, time]`` behind their last whole frame, and the mean squares
    ``[row, frame]`` of those that are whole.
    """
    signal = torch.cat([held, block], dim=1)
    ready = signal.shape[1] // HOP * HOP
    return signal[:, ready:].clone(), signal[:, :ready].unflatten(1, (-1, HOP)).square().mean(2)
