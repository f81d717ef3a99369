"""F0 tracks of whole recordings, so that a second pass over a signal does not track it again."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from voicenym.dsp.pitch.online import Pitch, PitchStream

MOST_SECONDS = 60.0
"""Longest recording whose track is kept; memory stays bounded."""
BEHIND_SECONDS = 0.5
"""Silence after the end that is tracked, too: second passes end with as much."""


@dataclass(frozen=True, eq=False)
class RecordedPitch:
    """F0 track of a signal that is followed by silence.

    Args:
        samples: ``[row, time]``, with the silence.
        track: all frames that a :class:`~voicenym.dsp.pitch.online.PitchStream` gives for them.
    """

    samples: torch.Tensor
    track: Pitch

    def __repr__(self) -> str:
        return f"RecordedPitch({list(self.samples.shape)})"


class PitchRecorder:
    """Streaming F0 tracker that keeps its track.

    Args:
        rows, rate, device: as in :class:`~voicenym.dsp.pitch.online.PitchStream`.
    """

    def __init__(self, rows: int, rate: int, device: str | torch.device = "cpu") -> None:
        self._stream = PitchStream(rows, rate, device=device)
        self.hop = self._stream.hop
        self._behind = round(BEHIND_SECONDS * rate) + self._stream.latency + self.hop
        self._most = round(MOST_SECONDS * rate)
        self._samples = torch.zeros(rows, 0, device=device)
        self._blocks: list[torch.Tensor] | None = []
        self._parts: list[Pitch] = []
        self._pushed = 0

    def push(self, block: torch.Tensor) -> Pitch:
        """Adds ``[row, time]``; returns the finished frames."""
        self._pushed += block.shape[1]
        found = self._stream.push(block)
        if self._blocks is not None:
            if self._pushed > self._most:
                self._blocks, self._parts = None, []
            else:
                self._blocks.append(block)
                self._parts.append(found)
        return found

    def finish(self) -> tuple[Pitch, RecordedPitch | None]:
        """The remaining frames, as :meth:`PitchStream.flush` gives them, and the whole track; None
        for a recording that is too long.
        """
        if self._blocks is None:
            return self._stream.flush(), None
        silence = self._samples.new_zeros(self._samples.shape[0], self._behind)
        missing = -(-self._pushed // self.hop) - sum(p.f0.shape[1] for p in self._parts)
        rest = self._stream.push(silence)
        parts = zip(*self._parts, rest, strict=True)
        whole = Pitch(*(torch.cat(part, dim=1) for part in parts))
        recorded = RecordedPitch(torch.cat([*self._blocks, silence], dim=1), whole)
        return Pitch(*(part[:, :missing] for part in rest)), recorded


class PitchFollower:
    """F0 tracker of a second pass: gives the frames of a recorded track as long as the signal is
    the recorded one, sample for sample, and tracks it otherwise. Its frames are those of a
    :class:`~voicenym.dsp.pitch.online.PitchStream` in either case.

    Args:
        rows, rate, device: as there.
        recorded: of the first pass; None without one.

    Attributes:
        hop, latency: as there.
    """

    def __init__(
        self,
        rows: int,
        rate: int,
        recorded: RecordedPitch | None = None,
        device: str | torch.device = "cpu",
    ) -> None:
        self._stream = PitchStream(rows, rate, device=device)
        self.hop, self.latency = self._stream.hop, self._stream.latency
        same_rows = recorded is not None and recorded.samples.shape[0] == rows
        self._recorded = recorded if same_rows else None
        self._pushed = self._given = 0

    def push(self, block: torch.Tensor) -> Pitch:
        """Adds ``[row, time]``; returns the finished frames."""
        if self._recorded is not None:
            stop = self._pushed + block.shape[1]
            if torch.equal(self._recorded.samples[:, self._pushed : stop], block):
                self._pushed = stop
                return self._next(self._stream.frames_after(stop))
            self._catch_up()
        return self._stream.push(block)

    def flush(self) -> Pitch:
        """The remaining frames: in total ``ceil(time / hop)``."""
        if self._recorded is not None:
            total = -(-self._pushed // self.hop)
            behind = self._recorded.samples[:, self._pushed :]
            enough = total <= self._recorded.track.f0.shape[1]
            if enough and not bool(behind.any()):  # silence follows, as it is assumed at the end
                return self._next(total)
            self._catch_up()
        return self._stream.flush()

    def _next(self, total: int) -> Pitch:
        assert self._recorded is not None
        found = Pitch(*(part[:, self._given : total] for part in self._recorded.track))
        self._given = total
        return found

    def _catch_up(self) -> None:
        """Tracks what was pushed so far, whose frames were given already."""
        assert self._recorded is not None
        self._stream.push(self._recorded.samples[:, : self._pushed])
        self._recorded = None
