"""The machine of a pipeline: windows of speech to content and pitch, and these to another's speech.

Rows that are equally long are worked on together; a row's samples do not depend on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from voicenym.dsp.pitch.contour_changes import Moments, moved, noisy, quantised
from voicenym.nets.content.content_encoder import RATE
from voicenym.nets.streaming import Memory
from voicenym.nets.synthesis.excitation import Noise
from voicenym.resynthesis.bundled.analysis import VectorReader
from voicenym.resynthesis.common.row_groups import Group, Grouped, low_pass
from voicenym.resynthesis.common.windows import Window, spoken
from voicenym.resynthesis.pipeline.assembly import Assembly
from voicenym.resynthesis.pipeline.conditioning import (
    content_of,
    frames_of,
    held,
    pitch_of,
    windows_of,
)

SPEAK_SECONDS = 2.0
"""Frames go to the synthesizer in parts this long: what it makes meanwhile stays in the cache."""
ENDLESS = 2**62


@dataclass(frozen=True)
class Profile:
    """A recording as a whole.

    Args:
        vectors: ``[row, element]``, the speakers' own; zeros where nobody asks for them.
        sounding: ``[row]`` bool: whether there is anything but zeros.
        log_f0, log_f0_std: ``[row]``, moments of ln F0 in Hz; typical where nobody asks for them.
        lengths: samples of each row where they are known; shorter ones are padded.
    """

    vectors: torch.Tensor
    sounding: torch.Tensor
    log_f0: torch.Tensor
    log_f0_std: torch.Tensor
    lengths: tuple[int, ...] | None


@dataclass(frozen=True)
class Voice:
    """Who the rows of a signal become.

    Args:
        vectors: ``[row, element]``, as the synthesizer hears them; ``[row, part, element]`` where
            its parts hear different ones.
        log_f0, log_f0_std: ``[row]``, where pitch is moved to.
        seeds: ``[row]`` int64, of all noise.
    """

    vectors: torch.Tensor
    log_f0: torch.Tensor
    log_f0_std: torch.Tensor
    seeds: torch.Tensor

    def of(self, rows: list[int]) -> Voice:
        """Some rows."""
        return Voice(self.vectors[rows], self.log_f0[rows], self.log_f0_std[rows], self.seeds[rows])


class ProfileReader:
    """First pass over a recording.

    Args:
        parts: on the device.
        rows: of the signal.
        lengths: samples of each row, where rows are padded; None for all.
        device: where to compute.
        vectors, pitch: what is asked for.
    """

    def __init__(
        self,
        parts: Assembly,
        rows: int,
        lengths: Sequence[int] | None,
        device: str = "cpu",
        *,
        vectors: bool = True,
        pitch: bool = False,
    ) -> None:
        self._parts = parts
        self._lengths = None if lengths is None else tuple(lengths)
        self._ends = torch.tensor([ENDLESS] * rows if lengths is None else list(lengths))
        self._heard = 0
        self._sounding = torch.zeros(rows, dtype=torch.bool)
        self._vectors = VectorReader(parts.speaker, rows, lengths) if vectors else None
        self._moments = Moments(rows, device)
        self._windows = windows_of(parts, rows, device) if pitch else None

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> None:
        """``[row, time]``."""
        place = self._heard + torch.arange(block.shape[1])
        inside = (place < self._ends[:, None]).to(block.device)
        self._sounding |= ((block != 0) & inside).any(1).cpu()
        self._heard += block.shape[1]
        if self._vectors is not None:
            self._vectors.push(block)
        if self._windows is not None:
            for window in self._windows.push(block):
                self._track(window)

    @torch.inference_mode()
    def result(self) -> Profile:
        """Of all that was pushed."""
        if self._windows is not None:
            for window in self._windows.flush():
                self._track(window)
        rows = len(self._sounding)
        vectors = torch.zeros(rows, self._parts.speaker.size)
        if self._vectors is not None:
            vectors = self._vectors.result()
        return Profile(vectors, self._sounding, *self._moments.result(), self._lengths)

    def _track(self, window: Window) -> None:
        """Count the pitch of what a window stands for, row by row, each as long as it is."""
        found = []
        for row, end in enumerate(self._ends.tolist()):
            samples = window.samples[row : row + 1, : max(0, end - window.start)]
            kept = min(window.kept, max(0, end - window.start - window.before))
            f0 = pitch_of(self._parts, samples, window.before, kept)
            found.append(
                torch.nn.functional.pad(f0, (0, frames_of(self._parts, window.kept) - f0.shape[1]))
            )
        self._moments.add(torch.cat(found))


class SpokenCore(Grouped):
    """The machine, at 16 kHz.

    Args:
        parts: on the device.
        voice: on the device.
        profile: of the recording.
        changes: of pitch, in order.
        noise: of the change ``noisy``.
        rate: of the recording, in Hz: what a synthesizer says above half of it will not be heard,
            and is no part of its level.
        device: where to compute.
    """

    def __init__(
        self,
        parts: Assembly,
        voice: Voice,
        profile: Profile,
        changes: Sequence[str] = (),
        noise: float = 0.0,
        rate: int = RATE,
        device: str = "cpu",
    ) -> None:
        rows = len(voice.vectors)
        ends = list(profile.lengths or [ENDLESS] * rows)
        groups: dict[int, list[int]] = {}
        for row, end in enumerate(ends):
            # who needs whole recordings meets windows where a row of its own is unvoiced
            groups.setdefault(end if parts.synthesizer.streams else row, []).append(row)
        mean, std = profile.log_f0.to(device), profile.log_f0_std.to(device)
        taps = low_pass(rate) if rate < RATE else None
        made = [
            _Group(
                parts,
                some,
                ends[some[0]],
                voice.of(some),
                mean[some],
                std[some],
                changes,
                noise,
                taps,
            )
            for some in groups.values()
        ]
        super().__init__(made, windows_of(parts, rows, device), rows, device)
        self.latency += parts.synthesizer.hop


class _Group(Group):
    """Rows that end together."""

    def __init__(
        self,
        parts: Assembly,
        rows: list[int],
        end: int,
        voice: Voice,
        mean: torch.Tensor,
        std: torch.Tensor,
        changes: Sequence[str],
        noise: float,
        taps: torch.Tensor | None,
    ) -> None:
        super().__init__(rows, end, taps, str(voice.vectors.device))
        self._parts, self._voice = parts, voice
        self._mean, self._std, self._changes, self._share = mean, std, changes, noise
        self._noise, self._memory = Noise(), Memory()
        self._synthesis = spoken(parts.synthesizer, voice.vectors, voice.seeds)
        self.latency += self._synthesis.latency

    def hear(self, window: Window) -> None:
        """Work on a window, up to where the rows end."""
        parts = self._parts
        kept = min(window.kept, max(0, self.end - window.start - window.before))
        if not kept:
            return
        samples = window.samples[self.rows, : self.end - window.start]
        content = held(parts, content_of(parts, samples, window.before, kept), kept)
        f0 = self._changed(pitch_of(parts, samples, window.before, kept))
        said = samples[:, window.before : window.before + kept]
        self.put(said, said[:, :0])
        size = max(1, round(SPEAK_SECONDS * RATE / parts.synthesizer.hop))
        for some, pitch in zip(content.split(size, 1), f0.split(size, 1), strict=True):
            self.put(said[:, :0], self._synthesis.push(some, pitch))

    def rest(self) -> torch.Tensor:
        return self._synthesis.flush()

    def _changed(self, f0: torch.Tensor) -> torch.Tensor:
        """Pitch ``[row, frame]`` as it will be spoken."""
        mean, std = self._mean, self._std
        for change in self._changes:
            if change == "moved":
                f0 = moved(f0, mean, std, self._voice.log_f0, self._voice.log_f0_std)
                mean, std = self._voice.log_f0, self._voice.log_f0_std
            elif change == "quantised":
                f0 = quantised(f0, mean, std)
            else:
                white = self._noise(f0.shape[1], self._voice.seeds, self._memory)
                f0 = noisy(f0, std, white.to(f0), self._share)
        return f0
