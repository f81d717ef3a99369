"""What resynthesis learns of a recording before it changes it, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from voicenym.dsp.pitch.online import Pitch, PitchStream
from voicenym.nets.content.bottleneck import HOP, RATE
from voicenym.nets.speakers.encoder import Encoder
from voicenym.nets.streaming import Memory
from voicenym.resynthesis.average import Averages, Sums
from voicenym.resynthesis.parts import Parts

PART_SECONDS = 20.0
"""A recording's vector is the mean of those of parts this long."""
LEAST_SECONDS = 1.0
"""A last part shorter than this counts only where there is no other."""


@dataclass(frozen=True)
class Profile:
    """A recording as a whole.

    Args:
        averages: of its rows.
        vectors: ``[row, element]`` of its speakers; None where nobody asks for them.
    """

    averages: Averages
    vectors: torch.Tensor | None = None


class AveragesReader:
    """First pass over a recording: its averages, block by block.

    Args:
        parts: whose ear hears.
        rows: of the signal.
        lengths: samples of each row, where rows are padded; None for all.
        device: where to compute.
    """

    def __init__(
        self, parts: Parts, rows: int, lengths: Sequence[int] | None, device: str = "cpu"
    ) -> None:
        self._ear, self._memory = parts.content.ear, Memory()
        self._pitch = PitchStream(rows, RATE, device=device)
        self._sums = Sums(rows, parts.content.ear.bands, device)
        endless = [2**62] * rows if lengths is None else list(lengths)
        self._lengths = torch.tensor(endless, device=device)[:, None]
        self._input = torch.zeros(rows, 0, device=device)
        self._heard = self._tracked = 0

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> None:
        """``[row, time]``."""
        signal = torch.cat([self._input, block], dim=1)
        ready = signal.shape[1] // HOP * HOP
        self._input = signal[:, ready:].clone()
        if ready:
            self._listen(signal[:, :ready])
        self._count(self._pitch.push(block))

    @torch.inference_mode()
    def result(self) -> Averages:
        """Of all that was pushed."""
        self._listen(torch.nn.functional.pad(self._input, (0, 2 * HOP))[:, : 2 * HOP])
        self._count(self._pitch.flush())
        return self._sums.averages()

    def _listen(self, signal: torch.Tensor) -> None:
        heard = self._ear(signal, self._memory)
        frame = self._heard + torch.arange(heard.power.shape[1], device=signal.device)
        self._heard += heard.power.shape[1]
        # what lies behind a row's end is padding of a batch
        self._sums.add_frames(heard, (frame + 1) * HOP <= self._lengths)

    def _count(self, pitch: Pitch) -> None:
        frame = self._tracked + torch.arange(pitch.f0.shape[1], device=pitch.f0.device)
        self._tracked += pitch.f0.shape[1]
        inside = frame * HOP < self._lengths
        self._sums.add_pitch(pitch.f0 * inside, pitch.level)


class Listener(Protocol):
    """What makes speaker vectors: an :class:`~voicenym.nets.speakers.encoder.Encoder`, or alike.

    Attributes:
        size: elements of a vector.
    """

    size: int

    def embed(self, recordings: Sequence[torch.Tensor]) -> torch.Tensor:
        """``[recording, size]`` of recordings ``[time]`` each."""


class VectorReader:
    """First pass over a recording: its speakers' vectors, means of those of its parts, as long as
    the vectors of a pool.

    Args:
        encoder: makes them.
        rows: of the signal.
        lengths: samples of each row, where rows are padded; None for all.
    """

    def __init__(self, encoder: Listener, rows: int, lengths: Sequence[int] | None) -> None:
        self._encoder = encoder
        self._weights = [0.0] * rows
        self._left = [2**62] * rows if lengths is None else list(lengths)
        self._part: list[torch.Tensor] = []
        self._size = 0
        self._sums: list[torch.Tensor | None] = [None] * rows

    def push(self, block: torch.Tensor) -> None:
        """``[row, time]``."""
        whole = round(PART_SECONDS * RATE)
        while block.shape[1]:
            some = block[:, : whole - self._size]
            block = block[:, some.shape[1] :]
            self._part.append(some)
            self._size += some.shape[1]
            if self._size == whole:
                self._take()

    def result(self) -> torch.Tensor:
        """``[row, element]``; zeros for a row of nothing."""
        self._take()
        size = self._encoder.size
        found = [torch.zeros(size) if total is None else total for total in self._sums]
        weights = zip(found, self._weights, strict=True)
        found = [total / max(weight, 1e-9) for total, weight in weights]
        return torch.stack([one.to(found[0]) for one in found])

    def _take(self) -> None:
        if not self._size:
            return
        part, self._part = torch.cat(self._part, dim=1), []
        for row, samples in enumerate(part):
            own = samples[: self._left[row]]
            self._left[row] -= len(own)
            total = self._sums[row]
            if not len(own) or (total is not None and len(own) < LEAST_SECONDS * RATE):
                continue
            vector = self._encoder.embed([own])[0]
            vector = vector * (len(own) / RATE)
            self._weights[row] += len(own) / RATE
            self._sums[row] = vector if total is None else total + vector
        self._size = 0


class RecordingReader:
    """Both, where an encoder is given.

    Args:
        parts, rows, lengths, device: of :class:`AveragesReader`.
        encoder: of :class:`VectorReader`; None for no vectors.
    """

    def __init__(
        self,
        parts: Parts,
        rows: int,
        lengths: Sequence[int] | None,
        device: str = "cpu",
        encoder: Encoder | None = None,
    ) -> None:
        self._averages = AveragesReader(parts, rows, lengths, device)
        self._vectors = None if encoder is None else VectorReader(encoder, rows, lengths)

    def push(self, block: torch.Tensor) -> None:
        """``[row, time]``."""
        self._averages.push(block)
        if self._vectors is not None:
            self._vectors.push(block)

    def result(self) -> Profile:
        """Of all that was pushed."""
        vectors = None if self._vectors is None else self._vectors.result()
        return Profile(self._averages.result(), vectors)
