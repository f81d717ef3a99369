"""First pass of a pipeline: speaker vector, F0 statistics, language scores, phrases, durations."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

from voicenym.dsp.phrases import FRAME_RATE, FrameLevels, Phrases, phrases
from voicenym.dsp.pitch.contour_changes import Moments
from voicenym.dsp.pitch.phrase_intonation import Intonation, phrase_intonation
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
from voicenym.resynthesis.pipeline.prosody_settings import ContentKind

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
        ratios: for each requested kind of the content, ``[content frame]`` of each row, typical
            durations as shares of those in the recording.
        intonations: of the phrases of each row; empty if not requested.
    """

    vectors: torch.Tensor
    sounding: torch.Tensor
    log_f0: torch.Tensor
    log_f0_std: torch.Tensor
    lengths: tuple[int, ...] | None
    language: tuple[SpeechScore, ...] = ()
    phrases: tuple[Phrases, ...] = ()
    ratios: Mapping[ContentKind, tuple[npt.NDArray[np.float64], ...]] = field(default_factory=dict)
    intonations: tuple[Intonation, ...] = ()


def nobody(rows: int, parts: Assembly) -> Profile:
    """Profile of rows of which nothing is known."""
    log_f0, log_f0_std = Moments(rows, "cpu").result()
    vectors = torch.zeros(rows, parts.speaker.size)
    return Profile(vectors, torch.ones(rows, dtype=torch.bool), log_f0, log_f0_std, None)


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
        durations: kinds of the content for which to predict durations.
        coarse_silence, soft: for the scores of the language, see :class:`ContentKind`.
        intonation: whether to find the coarse intonation of the phrases; needs ``pitch`` and
            ``tempo``.
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
        durations: Collection[ContentKind] = (),
        coarse_silence: bool = False,
        soft: bool = False,
        intonation: bool = False,
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
        self._contours: list[torch.Tensor] | None = [] if intonation else None
        encoded = pitch or language or bool(durations)
        self._windows = windows_of(parts, rows, device) if encoded else None
        # row by row, as the second pass has them: its encoder finds the windows in its memory
        self._checks = [LanguageCheck(parts.content) for _ in range(rows if language else 0)]
        self._coarse_silence, self._soft = coarse_silence, soft
        self._ratios: dict[ContentKind, list[list[torch.Tensor]]] = {
            kind: [[] for _ in range(rows)] for kind in durations
        }

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
        found = tuple(self._phrases())
        return Profile(
            vectors,
            self._sounding,
            *self._moments.result(),
            self._lengths,
            tuple(row for check in self._checks for row in check.scores),
            found,
            {
                kind: tuple(torch.cat([torch.zeros(0), *row]).double().numpy() for row in own)
                for kind, own in self._ratios.items()
            },
            tuple(self._intonations(found)),
        )

    def _phrases(self) -> Iterator[Phrases]:
        if self._levels is not None:
            for levels, samples in zip(self._levels.result(), self._ends.tolist(), strict=True):
                yield phrases(levels[: math.floor(samples * FRAME_RATE / RATE)])

    def _intonations(self, found: Sequence[Phrases]) -> Iterator[Intonation]:
        """Coarse intonation of each row's phrases."""
        if self._contours is not None:
            rows = torch.cat([torch.zeros(len(found), 0), *self._contours], dim=1).numpy()
            for row, own in zip(rows, found, strict=True):
                yield phrase_intonation(row, own, RATE / self._parts.synthesizer.hop)

    def _process(self, window: Window) -> None:
        if self._pitch:
            self._track(window)
        for row in range(len(self._ends) if self._checks or self._ratios else 0):
            samples = window.samples[row : row + 1, : max(0, int(self._ends[row]) - window.start)]
            kept = min(window.kept, samples.shape[1] - window.before)
            if kept > 0:
                self._encode(row, samples, window.before, kept)

    def _encode(self, row: int, samples: torch.Tensor, before: int, kept: int) -> None:
        """Adds language scores and durations of a row's own samples in a window.

        Args:
            row: in the signal.
            samples: ``[1, time]`` of the window, up to the end of the row.
            before, kept: samples of context, and own ones after them.
        """
        check = self._checks[row] if self._checks else None
        scored, sounds = check is not None and not check.enough, bool(samples.any())
        own = frames_within(self._parts, before, kept)
        if sounds and scored and check is not None:
            content, coarse = self._parts.content, self._coarse_silence
            _, scores = content.with_language_score(samples, coarse, self._soft)
            check.add(
                None if scores is None else scores[:, own], samples[:, before : before + kept]
            )
        for kind, found in self._ratios.items():
            ratios = torch.ones(own.stop - own.start)
            if sounds:
                assert self._parts.durations is not None  # Pipeline.profiler
                ratios = self._parts.durations.ratios(self._frames(samples, kind))[0, own].cpu()
            found[row].append(ratios)

    def _frames(self, samples: torch.Tensor, kind: ContentKind) -> torch.Tensor:
        """Content of a kind; the encoder remembers the window."""
        content = self._parts.content
        if kind.accent == "kept":
            return content.with_language_score(samples, kind.coarse_silence, kind.soft)[0]
        # a drawn accent changes few durations: those are of none
        return content.native(samples, kind.accent, coarse_silence=kind.coarse_silence)

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
        contours = torch.cat(found)
        self._moments.add(contours)
        if self._contours is not None:
            self._contours.append(contours.float().cpu())
