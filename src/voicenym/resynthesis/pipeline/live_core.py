"""Core of a pipeline of word codes for live streams: steps that look a part of a second ahead.

A whole recording is encoded in windows of 30 s, a stream in steps of a tenth of a second or so
(:mod:`voicenym.resynthesis.pipeline.live_content`). Content, F0 and the synthesizer's filters of a
step know less of what follows than those of a recording, and lose words by that. The excitation
runs through all steps, so that none begins anew.

Timing is kept, the level is fixed. Until there are some seconds of speech, the level is that of
usual speech; between phrases there is silence.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch

from voicenym.dsp.phrases import FRAME_RATE, LEAST_PAUSE
from voicenym.errors import VoicenymError
from voicenym.nets.content.content_encoder import RATE
from voicenym.nets.streaming import Memory
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.resynthesis.common.live_level import LiveLevel, RunningPhrases
from voicenym.resynthesis.common.output_level import HOP
from voicenym.resynthesis.common.windows import Window, Windows
from voicenym.resynthesis.pipeline.conditioning import frames_of
from voicenym.resynthesis.pipeline.language_check import LanguageCheck, is_foreign
from voicenym.resynthesis.pipeline.live_content import (
    ChunkContent,
    LiveContent,
    LiveSteps,
    StepContent,
    WindowContent,
)
from voicenym.resynthesis.pipeline.pipeline_core import Voice
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly

FILTER_SECONDS = 0.64
"""Content before a step that the synthesizer's filters need."""
VERDICT_SECONDS = 8.0
"""Seconds of speech from which on another language is silenced."""


class LiveCore:
    """Core of a pipeline of word codes without a profile, at 16 kHz; rows do not depend on each
    other.

    Args:
        parts: with an encoder of word codes, a predictor of F0 and a synthesizer of filters; on
            the device. A live encoder among them is used where the accent is drawn.
        voice: on the device.
        accent: of the content, ``kept``, ``native`` or ``drawn``.
        device: where to compute.
        language_known: whether the user says that the speech is of the language of the weights;
            else speech of another one is silent once it is detected.
        steps: of a live encoder; by default its own.
        soft: whether content is soft units in place of codes.

    Raises:
        VoicenymError: parts that do not work live.
    """

    def __init__(
        self,
        parts: Assembly,
        voice: Voice,
        accent: str,
        device: str = "cpu",
        language_known: bool = False,
        steps: LiveSteps | None = None,
        soft: bool = False,
    ) -> None:
        content, synthesizer = parts.content, parts.synthesizer
        if (
            not isinstance(content, WordCodeContent)
            or not isinstance(synthesizer, IstftVocoder)
            or not synthesizer.has_filters
            or synthesizer.hop != HOP
            or parts.f0_predictor is None
        ):
            raise VoicenymError(
                "these weights do not work live: that needs word codes, a predictor of F0, and an "
                "istft-vocoder with excitation filter and frames of 10 ms; take the bundled ones"
            )
        rows = [voice.of([row]) for row in range(len(voice.vectors))]
        languages = [LanguageCheck(content, language_known) for _ in rows]
        sources: list[LiveContent]
        if parts.live_codes is not None and accent == "drawn":
            network = parts.live_codes
            encoder = network.of_encoder.changed(content.encoder)
            head = network.of_head.changed(parts.natives["drawn"])
            sources = [
                ChunkContent(content, network, encoder, head, own.accents, language, steps, soft)
                for own, language in zip(rows, languages, strict=True)
            ]
        else:
            sources = [
                WindowContent(content, accent, own.accents, language, soft)
                for own, language in zip(rows, languages, strict=True)
            ]
        sizes = sources[0].sizes
        self._rows = [
            _Row(parts, source, language, synthesizer, own)
            for source, language, own in zip(sources, languages, rows, strict=True)
        ]
        self._windows = Windows(len(rows), sizes.step, sizes.before, device, sizes.ahead)
        self._device = device
        self._pushed = self._given = 0
        # a frame waits until its samples are whole
        self.latency = sizes.step + sizes.ahead + synthesizer.rendering_latency + HOP

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> torch.Tensor:
        """Adds ``[row, time]``; returns the finished samples."""
        self._pushed += block.shape[1]
        windows = self._windows.push(block)
        if not windows:
            for row in self._rows:
                row.idle()
        return self._worked(windows, last=False)

    @torch.inference_mode()
    def flush(self) -> torch.Tensor:
        """The remaining samples."""
        return self._worked(self._windows.flush(), last=True)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the user about what was pushed."""
        return tuple(dict.fromkeys(text for row in self._rows for text in row.warnings))

    def _worked(self, windows: list[Window], last: bool) -> torch.Tensor:
        parts = [torch.zeros(len(self._rows), 0, device=self._device)]
        for window in windows:
            each = [row.process(window, at) for at, row in enumerate(self._rows)]
            parts.append(torch.stack(each))
        if last:
            parts.append(torch.stack([row.rest() for row in self._rows]))
        out = torch.cat(parts, dim=1)
        if last:
            missing = self._pushed - self._given
            out = torch.nn.functional.pad(out, (0, max(0, missing - out.shape[1])))[:, :missing]
        self._given += out.shape[1]
        return out


class _Row:
    """One row of a stream."""

    def __init__(
        self,
        parts: Assembly,
        source: LiveContent,
        language: LanguageCheck,
        synthesizer: IstftVocoder,
        voice: Voice,
    ) -> None:
        self._parts, self._source, self._language = parts, source, language
        self._synthesizer, self._voice = synthesizer, voice
        self._phrases, self._level = RunningPhrases(), LiveLevel()
        self._memory, self._was_foreign = Memory(), False

    def process(self, window: Window, row: int) -> torch.Tensor:
        """Finished samples ``[time]`` after a step."""
        hop = self._synthesizer.hop
        samples, voice = window.samples[row], self._voice
        found = self._source.frames(window, samples)
        every = self._parts.content.hop // hop
        context = min(found.before, math.ceil(FILTER_SECONDS * RATE / self._parts.content.hop))
        frames, first = frames_of(self._parts, window.kept), context * every
        predictor = self._parts.f0_predictor
        assert predictor is not None  # LiveCore
        begin = (window.start + window.before) // hop - found.before * every
        read = slice(found.before - context, None)
        f0 = predictor.drawn(
            found.entries[None], voice.log_f0, voice.log_f0_std, voice.seeds, begin, read
        )
        content = found.entries[read].repeat_interleave(every, 0)[None]
        own = slice(first, first + frames)
        filters = self._synthesizer.filters(content, f0, voice.vectors, own)
        made = self._synthesizer.rendered(filters, f0[:, own], voice.seeds, self._memory)[0]
        return self._level.push(self._presence(window, samples, found, frames), made)

    def idle(self) -> None:
        """Works ahead, in a block that completes no step."""
        self._source.idle()

    def rest(self) -> torch.Tensor:
        """The remaining samples ``[time]``; the stream ends here."""
        self._memory.last = True
        self._source.finish()
        voice = self._voice
        size = self._synthesizer.head.out_features
        filters = voice.vectors.new_zeros(1, 0, size)
        f0 = voice.vectors.new_zeros(1, 0)
        made = self._synthesizer.rendered(filters, f0, voice.seeds, self._memory)[0]
        return self._level.push(np.zeros(0, bool), made)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the user about what was pushed."""
        network = self._parts.content.language_scores
        if network is None:
            return self._language.warnings
        if not self._was_foreign:
            return ()
        return (
            "the speech is likely not of the language of the weights "
            f"({network.language}), so that silence goes out: if it is, say so by --language "
            f"{network.language}; else choose a system that keeps all sounds, such as recast",
        )

    @property
    def _foreign(self) -> bool:
        """Whether the speech so far, or its last 20 s, is likely of another language."""
        network, scores = self._parts.content.language_scores, self._language.scores
        if network is None or not scores or scores[0].seconds < VERDICT_SECONDS:
            return False
        return is_foreign(network, scores) or self._language.foreign_now[0]

    def _presence(
        self, window: Window, samples: torch.Tensor, found: StepContent, frames: int
    ) -> npt.NDArray[np.bool_]:
        """Whether frames of the output are speech, ``[frame]``."""
        content_hop = self._parts.content.hop
        every, count = content_hop // HOP, -(-frames * HOP // content_hop)
        step = samples[window.before :]
        step = torch.nn.functional.pad(step, (0, max(0, count * content_hop - len(step))))
        levels = step[: len(step) // HOP * HOP].unflatten(0, (-1, HOP)).square().mean(1)
        there = self._phrases.push(levels.cpu().double().numpy(), frames)
        own = slice(found.before, found.before + count)
        silent = _long_runs(found.silent, math.ceil(LEAST_PAUSE * RATE / content_hop))
        there &= ~silent[own].repeat_interleave(every)[:frames].cpu().numpy()
        speech = torch.from_numpy(there[::every].copy())
        self._source.listen(step[: count * content_hop], speech)
        foreign = self._foreign
        self._was_foreign |= foreign
        return np.zeros_like(there) if foreign else there


def _long_runs(mask: torch.Tensor, least: int) -> torch.Tensor:
    """Which places of a mask ``[time]`` are within runs of so many true ones."""
    if not len(mask):
        return mask
    x = mask.float()[None, None]
    padded = torch.nn.functional.pad(x, (least - 1, least - 1))
    starts = torch.nn.functional.avg_pool1d(padded, least, 1) >= 1.0
    runs: torch.Tensor = torch.nn.functional.max_pool1d(starts.float(), least, 1)[0, 0] > 0.0
    return runs


assert HOP * FRAME_RATE == RATE  # levels of phrases are of the synthesizer's frames
