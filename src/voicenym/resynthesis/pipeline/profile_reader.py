"""First pass of a pipeline: speaker vector, F0 statistics, language scores and phrases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from voicenym.dsp.phrases import FRAME_RATE, FrameLevels, Phrases, phrases
from voicenym.dsp.pitch.contour_changes import Moments
from voicenym.nets.content.content_encoder import RATE
from voicenym.resynthesis.bundled.analysis import VectorReader
from voicenym.resynthesis.common.windows import Window
from voicenym.resynthesis.pipeline.conditioning import (
    frames_of,
    frames_within,
    pitch_of,
    windows_of,
)
from voicenym.resynthesis.pipeline.language_check import LanguageCheck, SpeechScore
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly

ENDLESS = 2**62


@dataclass(frozen=True)
class Profile:
    """First-pass measurements of a recording.

    Args:
        vectors: ``[row, element]``, the speakers' own; zeros if not requested.
        sounding: ``[row]`` bool: whether there is anything but zeros.
        log_f0, log_f0_std: ``[row]``, moments of ln F0 in Hz; typical values if not requested.
        lengths: samples of each row where they are known; shorter ones are padded.
        language: mean language score of each row; empty if not requested.
        phrases: of each row; empty if not requested.
    """

    vectors: torch.Tensor
    sounding: torch.Tensor
    log_f0: torch.Tensor
    log_f0_std: torch.Tensor
    lengths: tuple[int, ...] | None
    language: tuple[SpeechScore, ...] = ()
    phrases: tuple[Phrases, ...] = ()


class ProfileReader:
    """First pass over a recording: what :class:`Profile` holds.

    Args:
        parts: on the device.
        rows: of the signal.
        lengths: samples of each row, where rows are padded; None for all.
        device: where to compute.
        vectors, pitch: whether to compute them.
        language: whether to score the language of the first minute of speech.
        tempo: whether to find the phrases.
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
        language: bool = False,
        tempo: bool = False,
    ) -> None:
        self._parts = parts
        self._lengths = None if lengths is None else tuple(lengths)
        self._ends = torch.tensor([ENDLESS] * rows if lengths is None else list(lengths))
        self._samples = 0
        self._sounding = torch.zeros(rows, dtype=torch.bool)
        self._vectors = VectorReader(parts.speaker, rows, lengths) if vectors else None
        self._moments = Moments(rows, device)
        self._levels = FrameLevels(rows, RATE) if tempo else None
        self._pitch = pitch
        self._windows = windows_of(parts, rows, device) if pitch or language else None
        # row by row, as the second pass has them: its encoder finds the windows in its memory
        self._checks = [LanguageCheck(parts.content) for _ in range(rows if language else 0)]

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> None:
        """Adds a block ``[row, time]``."""
        place = self._samples + torch.arange(block.shape[1])
        inside = (place < self._ends[:, None]).to(block.device)
        self._sounding |= ((block != 0) & inside).any(1).cpu()
        self._samples += block.shape[1]
        if self._vectors is not None:
            self._vectors.push(block)
        if self._levels is not None:
            self._levels.push(block)
        if self._windows is not None:
            for window in self._windows.push(block):
                self._process(window)

    @torch.inference_mode()
    def result(self) -> Profile:
        """Measurements of everything pushed."""
        if self._windows is not None:
            for window in self._windows.flush():
                self._process(window)
        rows = len(self._sounding)
        vectors = torch.zeros(rows, self._parts.speaker.size)
        if self._vectors is not None:
            vectors = self._vectors.result()
        return Profile(
            vectors,
            self._sounding,
            *self._moments.result(),
            self._lengths,
            tuple(row for check in self._checks for row in check.scores),
            tuple(self._phrases()),
        )

    def _phrases(self) -> Iterator[Phrases]:
        if self._levels is not None:
            for levels, samples in zip(self._levels.result(), self._ends.tolist(), strict=True):
                yield phrases(levels[: math.ceil(samples * FRAME_RATE / RATE)])

    def _process(self, window: Window) -> None:
        if self._pitch:
            self._track(window)
        for row, check in enumerate(self._checks):
            samples = window.samples[row : row + 1, : max(0, int(self._ends[row]) - window.start)]
            kept = min(window.kept, samples.shape[1] - window.before)
            if kept <= 0 or check.enough or not samples.any():
                continue
            _, scores = self._parts.content.with_language_score(samples)
            if scores is not None:
                own = frames_within(self._parts, window.before, kept)
                check.add(scores[:, own], samples[:, window.before : window.before + kept])

    def _track(self, window: Window) -> None:
        """Adds the F0 of a window's own samples, row by row, each up to its length."""
        found = []
        for row, end in enumerate(self._ends.tolist()):
            samples = window.samples[row : row + 1, : max(0, end - window.start)]
            kept = min(window.kept, max(0, end - window.start - window.before))
            f0 = pitch_of(self._parts, samples, window.before, kept)
            found.append(
                torch.nn.functional.pad(f0, (0, frames_of(self._parts, window.kept) - f0.shape[1]))
            )
        self._moments.add(torch.cat(found))
