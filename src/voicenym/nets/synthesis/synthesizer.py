"""Interface of synthesizers: waveforms of exact length from content, F0 and a speaker vector."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod

import torch

from voicenym.nets.architectures import Network
from voicenym.nets.streaming import Memory

REFERENCE_F0 = 150.0
"""Reference of log F0, in Hz."""
LOWEST_F0, HIGHEST_F0 = 50.0, 600.0
"""Ends of the table of learned pitches, in Hz."""
PITCHES = ("hertz", "log", "table")
LONGEST_LATENCY = 4096
"""Largest latency of a stream, in frames."""


class Conditions(torch.nn.Module):
    """Conditioning input: content, F0 and speaker vector concatenated frame by frame.

    Args:
        content: elements of a content frame.
        speaker: of a speaker vector, which is repeated for every frame; 0 for none.
        pitch: ``hertz``: F0 in Hz, as in the pipeline of SSL-SAS (1 element); ``log``: octaves from
            150 Hz, and whether voiced (2); ``table``: a learned vector for every 50 cents between
            50 and 600 Hz, interpolated, and one for unvoiced (``width``).
        width: of the vectors of ``table``, and of a projection of the speaker where not 0
            (speech resynthesis of Polyak et al. 2021: both 128).

    Attributes:
        size: elements of a frame.

    Raises:
        ValueError: if there is no such pitch.
    """

    def __init__(self, content: int, speaker: int, pitch: str = "log", width: int = 0) -> None:
        super().__init__()
        if pitch not in PITCHES or (pitch == "table" and not width):
            raise ValueError(f"pitch {pitch!r}, width {width}: choose from {', '.join(PITCHES)}")
        self.pitch = pitch
        self.size = content + {"hertz": 1, "log": 2, "table": width}[pitch]
        self.project: torch.nn.Linear | None = None
        if width and speaker:
            self.project = torch.nn.Linear(speaker, width)
        self.size += width if self.project else speaker
        if pitch == "table":
            steps = math.ceil(24.0 * math.log2(HIGHEST_F0 / LOWEST_F0))
            self.table = torch.nn.Embedding(steps + 2, width)

    def forward(
        self, content: torch.Tensor, f0: torch.Tensor, speaker: torch.Tensor
    ) -> torch.Tensor:
        """Input frames ``[batch, frame, size]`` of content ``[batch, frame, content]``, F0
        ``[batch, frame]`` and ``[batch, speaker]``.
        """
        if self.project is not None:
            speaker = self.project(speaker)
        everywhere = speaker[:, None].expand(-1, content.shape[1], -1)
        return torch.cat([content, self._pitch(f0), everywhere], dim=2)

    @staticmethod
    def octaves(f0: torch.Tensor) -> torch.Tensor:
        """Octaves of F0 from 150 Hz; 0 where unvoiced; any shape."""
        return torch.where(f0 > 0, f0, REFERENCE_F0).div(REFERENCE_F0).log2()

    def _pitch(self, f0: torch.Tensor) -> torch.Tensor:
        if self.pitch == "hertz":
            return f0[:, :, None]
        voiced = f0 > 0
        if self.pitch == "log":
            return torch.stack([self.octaves(f0), voiced.to(f0)], dim=2)
        steps = 24.0 * torch.log2(f0.clamp(LOWEST_F0, HIGHEST_F0) / LOWEST_F0)
        below = steps.floor()
        part = (steps - below)[:, :, None]
        index = below.long() + 1  # 0 is unvoiced
        last = self.table.num_embeddings - 1
        between = torch.lerp(self.table(index), self.table((index + 1).clamp_max(last)), part)
        return torch.where(voiced[:, :, None], between, self.table.weight[0])


class Synthesizer(Network):
    """Network from content, F0 and a speaker vector to a waveform.

    Attributes:
        rate: of the waveform, in Hz.
        hop: samples of a frame.
        noisy: whether the waveform depends on a seed.
        streams: whether the network works in blocks.
        parts: names of separately conditioned modules, if any; ``[batch, part, element]`` instead
            of ``[batch, element]`` gives them different speaker vectors.
    """

    rate: int
    hop: int
    noisy = False
    streams = True
    parts: tuple[str, ...] = ()

    @abstractmethod
    def synthesize(
        self,
        content: torch.Tensor,
        f0: torch.Tensor,
        speaker: torch.Tensor,
        seed: torch.Tensor,
        memory: Memory | None,
    ) -> torch.Tensor:
        """Waveform ``[batch, time]`` of whole rows, or of a stream's next block."""

    def forward(
        self,
        content: torch.Tensor,
        f0: torch.Tensor,
        speaker: torch.Tensor,
        seed: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Waveform ``[batch, frame * hop]``.

        Args:
            content: ``[batch, frame, element]``.
            f0: ``[batch, frame]`` in Hz, 0 where unvoiced.
            speaker: ``[batch, element]``.
            seed: ``[batch]`` int64, decides the noise of each row; None for 0. The same seed gives
                the same noise; training must use new seeds in every step.

        Raises:
            ValueError: if the shapes do not fit, or in training without seeds.
        """
        rows, frames = f0.shape
        wanted = (2, 3) if self.parts else (2,)
        fits = speaker.ndim in wanted and (speaker.ndim == 2 or speaker.shape[1] == len(self.parts))
        if content.shape[:2] != (rows, frames) or len(speaker) != rows or not fits:
            raise ValueError(
                f"content {tuple(content.shape)}, f0 {tuple(f0.shape)} and speaker "
                f"{tuple(speaker.shape)} do not fit: needs [batch, frame, element], [batch, frame] "
                "and [batch, element]"
            )
        if seed is None:
            if self.training and self.noisy:
                raise ValueError("training needs seeds [batch], other ones at every step")
            seed = torch.zeros(rows, dtype=torch.int64, device=f0.device)
        return self.synthesize(content, f0, speaker, seed, None)

    def stream(self, speaker: torch.Tensor, seed: torch.Tensor | None = None) -> SynthesisStream:
        """Starts a stream of ``speaker``'s rows.

        Args:
            speaker, seed: as of :meth:`forward`.

        Raises:
            ValueError: if the network does not stream.
        """
        return SynthesisStream(self, speaker, seed)

    @functools.cached_property
    def latency(self) -> int:
        """Samples that a stream holds back: after ``n`` frames ``n * hop - latency`` were given.

        Raises:
            ValueError: if the network does not stream.
        """
        if not self.streams:
            raise ValueError(f"{self.kind} needs a recording as a whole and does not stream")
        size = self.config()
        parameter = next(self.parameters())
        with torch.inference_mode():
            frames = 32
            while frames <= LONGEST_LATENCY:
                content = parameter.new_zeros(1, frames, size["content"])
                f0 = parameter.new_zeros(1, frames)
                speaker = parameter.new_zeros(1, size["speaker"])
                seed = torch.zeros(1, dtype=torch.int64, device=parameter.device)
                given = self.synthesize(content, f0, speaker, seed, Memory()).shape[1]
                if given:
                    return frames * self.hop - given
                frames *= 4
        raise ValueError(f"{self.kind} holds back more than {LONGEST_LATENCY} frames")


class SynthesisStream:
    """Streaming synthesis, equal to that of whole rows up to rounding.

    Args:
        synthesizer: a network that streams.
        speaker: ``[row, element]``, or as of :attr:`Synthesizer.parts`.
        seed: ``[row]`` int64; None for 0.

    Attributes:
        latency: number of samples held back.
    """

    def __init__(
        self, synthesizer: Synthesizer, speaker: torch.Tensor, seed: torch.Tensor | None = None
    ) -> None:
        self.latency = synthesizer.latency
        self._network = synthesizer
        self._speaker = speaker
        if seed is None:
            seed = torch.zeros(len(speaker), dtype=torch.int64, device=speaker.device)
        self._seed = seed
        self._memory = Memory()
        self._elements = int(synthesizer.config()["content"])

    @torch.inference_mode()
    def push(self, content: torch.Tensor, f0: torch.Tensor) -> torch.Tensor:
        """Adds frames ``[row, frame, element]`` and F0 ``[row, frame]``; returns the finished
        samples ``[row, time]``.
        """
        return self._network.synthesize(content, f0, self._speaker, self._seed, self._memory)

    @torch.inference_mode()
    def flush(self) -> torch.Tensor:
        """The remaining samples ``[row, time]``; the stream ends here."""
        self._memory.last = True
        rows = len(self._speaker)
        empty = self._speaker.new_zeros(rows, 0, self._elements)
        return self.push(empty, self._speaker.new_zeros(rows, 0))
