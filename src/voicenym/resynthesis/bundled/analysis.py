"""First pass over a recording: long-term averages and speaker vectors, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch

from voicenym.dsp.pitch.online import Pitch, PitchStream
from voicenym.nets.content.bottleneck import EVERY, HOP, RATE, AcousticFrames
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.streaming import Memory
from voicenym.resynthesis.bundled import content_normalisation
from voicenym.resynthesis.bundled.model_parts import Parts
from voicenym.resynthesis.common.averages import Averages, Sums

PART_SECONDS = 20.0
"""Length of the segments whose vectors are averaged."""
LEAST_SECONDS = 1.0
"""Shortest last segment, unless it is the only one."""
ENCODED_FRAMES = 3000
"""Frames per update of the content statistics, with the averages up to their end."""


@dataclass(frozen=True)
class Profile:
    """First-pass measurements of a recording.

    Args:
        averages: of its rows.
        vectors: ``[row, element]``, speaker vectors; None if not requested.
    """

    averages: Averages
    vectors: torch.Tensor | None = None


class AveragesReader:
    """First pass over a recording: long-term averages.

    Args:
        parts: with the feature extractor.
        rows: of the signal.
        lengths: samples of each row, where rows are padded; None for all.
        device: where to compute.
    """

    def __init__(
        self, parts: Parts, rows: int, lengths: Sequence[int] | None, device: str = "cpu"
    ) -> None:
        self._parts, self._memory = parts, Memory()
        self._pitch = PitchStream(rows, RATE, device=device)
        self._sums = Sums(rows, parts.content.front_end.bands, device)
        endless = [2**62] * rows if lengths is None else list(lengths)
        self._lengths = torch.tensor(endless, device=device)[:, None]
        self._input = torch.zeros(rows, 0, device=device)
        self._analysed = self._tracked = 0
        self._waiting: list[
            tuple[AcousticFrames, torch.Tensor]
        ] = []  # whose content is not counted yet
        size = parts.content.size if parts.everybody is not None else 0
        self._content = torch.zeros(
            rows, content_normalisation.width(size), dtype=torch.float64, device=device
        )

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> None:
        """Adds a block ``[row, time]``."""
        signal = torch.cat([self._input, block], dim=1)
        ready = signal.shape[1] // HOP * HOP
        self._input = signal[:, ready:].clone()
        if ready:
            self._listen(signal[:, :ready])
        self._count(self._pitch.push(block))

    @torch.inference_mode()
    def result(self) -> Averages:
        """Averages of everything pushed."""
        self._listen(torch.nn.functional.pad(self._input, (0, 2 * HOP))[:, : 2 * HOP])
        self._count(self._pitch.flush())
        averages = self._sums.averages()
        if self._parts.everybody is None:
            return averages
        self._encode()
        return replace(averages, content=self._content)

    def _listen(self, signal: torch.Tensor) -> None:
        acoustic = self._parts.content.front_end(signal, self._memory)
        frame = self._analysed + torch.arange(acoustic.power.shape[1], device=signal.device)
        # frames behind a row's end are padding of a batch
        inside = (frame + 1) * HOP <= self._lengths
        first = 0
        while first < len(frame):
            some = slice(first, first + ENCODED_FRAMES - self._analysed % ENCODED_FRAMES)
            part = AcousticFrames(acoustic.bands[:, some], acoustic.power[:, some])
            self._sums.add_frames(part, inside[:, some])
            first, self._analysed = some.stop, self._analysed + part.power.shape[1]
            if self._parts.everybody is not None:
                self._waiting.append((part, inside[:, some]))
                if self._analysed % ENCODED_FRAMES == 0:
                    self._encode()

    def _encode(self) -> None:
        """Adds the content of the pending samples to the sums."""
        if not self._waiting:
            return
        frames = sum(part.power.shape[1] for part, _ in self._waiting) // EVERY * EVERY
        bands = torch.cat([part.bands for part, _ in self._waiting], dim=1)[:, :frames]
        power = torch.cat([part.power for part, _ in self._waiting], dim=1)[:, :frames]
        inside = torch.cat([inside for _, inside in self._waiting], dim=1)[:, :frames]
        self._waiting = []
        averages = self._sums.averages()
        numbers = self._parts.content.encode(bands - averages.bands[:, None])
        counted = content_normalisation.counted(numbers, power - averages.power[:, None])
        whole = inside.unflatten(1, (-1, EVERY)).all(2)
        self._content += (counted * whole[..., None]).sum(1)

    def _count(self, pitch: Pitch) -> None:
        frame = self._tracked + torch.arange(pitch.f0.shape[1], device=pitch.f0.device)
        self._tracked += pitch.f0.shape[1]
        inside = frame * HOP < self._lengths
        self._sums.add_pitch(pitch.f0 * inside, pitch.level)


class VectorEncoder(Protocol):
    """Interface of a speaker encoder, as :class:`~voicenym.nets.speakers.speaker_encoder.Encoder`.

    Attributes:
        size: elements of a vector.
    """

    size: int

    def embed(self, recordings: Sequence[torch.Tensor]) -> torch.Tensor:
        """Speaker vectors ``[recording, size]`` of recordings ``[time]`` each."""


class VectorReader:
    """First pass over a recording: speaker vectors, means over segments of the length used for
    pools.

    Args:
        encoder: speaker encoder.
        rows: of the signal.
        lengths: samples of each row, where rows are padded; None for all.
    """

    def __init__(self, encoder: VectorEncoder, rows: int, lengths: Sequence[int] | None) -> None:
        self._encoder = encoder
        self._weights = [0.0] * rows
        self._left = [2**62] * rows if lengths is None else list(lengths)
        self._part: list[torch.Tensor] = []
        self._size = 0
        self._sums: list[torch.Tensor | None] = [None] * rows

    def push(self, block: torch.Tensor) -> None:
        """Adds a block ``[row, time]``."""
        whole = round(PART_SECONDS * RATE)
        while block.shape[1]:
            some = block[:, : whole - self._size]
            block = block[:, some.shape[1] :]
            self._part.append(some)
            self._size += some.shape[1]
            if self._size == whole:
                self._add()

    def result(self) -> torch.Tensor:
        """Speaker vectors ``[row, element]``; zeros for an empty row."""
        self._add()
        size = self._encoder.size
        found = [torch.zeros(size) if total is None else total for total in self._sums]
        weights = zip(found, self._weights, strict=True)
        found = [total / max(weight, 1e-9) for total, weight in weights]
        return torch.stack([one.to(found[0]) for one in found])

    def _add(self) -> None:
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
    """First pass over a recording: averages and, with an encoder, speaker vectors.

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
        """Adds a block ``[row, time]``."""
        self._averages.push(block)
        if self._vectors is not None:
            self._vectors.push(block)

    def result(self) -> Profile:
        """Measurements of everything pushed."""
        vectors = None if self._vectors is None else self._vectors.result()
        return Profile(self._averages.result(), vectors)
