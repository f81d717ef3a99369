"""Core of the pipeline: content and F0 analysis in windows, and synthesis in the target voice.

Rows of equal length are processed as a batch; the output of a row does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from voicenym.dsp.phrases import Phrases
from voicenym.dsp.pitch.contour_changes import moved, noisy, quantised
from voicenym.dsp.pitch.phrase_intonation import Intonation, intonation_offsets
from voicenym.nets.content.content_encoder import RATE
from voicenym.nets.content.drawn_accent import DrawnAccent
from voicenym.nets.streaming import Memory
from voicenym.nets.synthesis.excitation import Noise
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.resynthesis.common.drawn_timing import DrawnTiming
from voicenym.resynthesis.common.fixed_level import FixedLevel, presence
from voicenym.resynthesis.common.loose_timing import LooseTiming
from voicenym.resynthesis.common.output_level import Level
from voicenym.resynthesis.common.row_groups import Group, Grouped, low_pass
from voicenym.resynthesis.common.slow_level import SlowLevel
from voicenym.resynthesis.common.windows import Window, synthesis_stream
from voicenym.resynthesis.pipeline.conditioning import (
    frames_of,
    frames_within,
    held,
    pitch_of,
    windows_of,
)
from voicenym.resynthesis.pipeline.language_check import LanguageCheck
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
from voicenym.resynthesis.pipeline.profile_reader import ENDLESS, Profile
from voicenym.resynthesis.pipeline.prosody_settings import NATIVE, Prosody

ROUNDING = 0.02
"""Seconds by which the profile may round the length of a recording."""
LEVELS = {"kept": Level, "drawn": SlowLevel, "fixed": FixedLevel}
SYNTHESIS_SECONDS = 2.0
"""Length of the blocks for the synthesizer, whose activations then fit the cache."""


@dataclass(frozen=True)
class Voice:
    """Target voices of the rows of a signal.

    Args:
        vectors: ``[row, element]``, scaled for the synthesizer; ``[row, part, element]`` if its
            parts are conditioned on different vectors.
        log_f0, log_f0_std: ``[row]``, target moments of ln F0.
        seeds: ``[row]`` int64, of all noise.
        accents: of the rows; None where none is drawn.
    """

    vectors: torch.Tensor
    log_f0: torch.Tensor
    log_f0_std: torch.Tensor
    seeds: torch.Tensor
    accents: DrawnAccent | None = None

    def of(self, rows: list[int]) -> Voice:
        """The voices of some rows."""
        return Voice(
            self.vectors[rows],
            self.log_f0[rows],
            self.log_f0_std[rows],
            self.seeds[rows],
            None if self.accents is None else self.accents.of(rows),
        )


class PipelineCore(Grouped):
    """Core of the pipeline, at 16 kHz.

    Args:
        parts: on the device.
        voice: on the device.
        profile: of the recording.
        prosodies: treatments of F0, level and timing, one a row; all change the length, or none.
        rate: of the recording, in Hz; output of the synthesizer above half of it is removed before
            the level is set.
        device: where to compute.
        language_known: whether the user says that the speech is of the language of the weights.
        synthesizers: one a row, where revisions have their own; of the same frames as that of
            ``parts``.
    """

    def __init__(
        self,
        parts: Assembly,
        voice: Voice,
        profile: Profile,
        prosodies: Sequence[Prosody],
        rate: int = RATE,
        device: str = "cpu",
        language_known: bool = False,
        synthesizers: Sequence[Synthesizer] | None = None,
    ) -> None:
        rows = len(voice.vectors)
        ends = list(profile.lengths or [ENDLESS] * rows)
        of_rows = synthesizers or [parts.synthesizer] * rows
        groups: dict[tuple[int, Prosody, Synthesizer], list[int]] = {}
        for row, (end, prosody, one) in enumerate(zip(ends, prosodies, of_rows, strict=True)):
            # who needs whole recordings meets windows where a row of its own is unvoiced
            together = parts.synthesizer.streams and not prosody.changes_length
            groups.setdefault((end if together else row, prosody, one), []).append(row)
        mean, std = profile.log_f0.to(device), profile.log_f0_std.to(device)
        taps = low_pass(rate) if rate < RATE else None
        made = [
            _Group(
                parts,
                one,
                some,
                ends[some[0]],
                voice.of(some),
                mean[some],
                std[some],
                prosody,
                taps,
            )
            for (_, prosody, one), some in groups.items()
        ]
        hop, totals = parts.synthesizer.hop, list[tuple[int, int]]()
        for (_, prosody, _), group in zip(groups, made, strict=True):
            group.language = LanguageCheck(parts.content, language_known)
            if prosody.shaped:
                group.shapes = [(profile.intonations[r], profile.phrases[r]) for r in group.rows]
            phrased = [profile.phrases[r] for r in group.rows] if prosody.needs_phrases else []
            if prosody.level == "fixed":
                group.phrases = phrased
            if prosody.timing == "loose":
                group.timing = LooseTiming(voice.seeds[group.rows], phrased)
            elif prosody.changes_length:
                (row,) = group.rows
                seed, frame = int(voice.seeds[row]), parts.content.hop / RATE
                phrases = profile.phrases[row]
                ratios = profile.ratios[prosody.content_kind][row]
                group.timing = DrawnTiming(seed, phrases, ratios, frame)
                seconds = group.timing.input_seconds
                total = group.timing.frames(seconds, hop / RATE) * hop
                totals.append((max(1, round(seconds * RATE)), total))
        longest = max(total for _, total in totals) if totals else None
        super().__init__(made, windows_of(parts, rows, device), rows, device, longest)
        self.totals = tuple(totals)
        self.latency += parts.synthesizer.hop
        self._checks = [group.language for group in made]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the user about what was pushed."""
        return tuple(dict.fromkeys(text for check in self._checks for text in check.warnings))


class ChangedLengthCore(PipelineCore):
    """Core of the pipeline whose output is longer or shorter than the input."""

    def lengths(self, samples: int) -> list[int]:
        """Samples of each row's output: for an input as long as the profiled one, exactly; for
        others at its mean tempo.
        """
        found = []
        for own, total in self.totals:
            same = abs(samples - own) <= ROUNDING * RATE
            found.append(total if same else round(samples * total / own))
        return found


class _Group(Group):
    """Rows of equal length."""

    def __init__(
        self,
        parts: Assembly,
        synthesizer: Synthesizer,
        rows: list[int],
        end: int,
        voice: Voice,
        mean: torch.Tensor,
        std: torch.Tensor,
        prosody: Prosody,
        taps: torch.Tensor | None,
    ) -> None:
        device = str(voice.vectors.device)
        super().__init__(rows, end, taps, device, LEVELS[prosody.level](len(rows), device))
        self._parts, self._voice, self._prosody = parts, voice, prosody
        self._mean, self._std = mean, std
        self.timing: LooseTiming | DrawnTiming | None = None
        self.shapes: list[tuple[Intonation, Phrases]] = []
        self.phrases: list[Phrases] = []
        self.language = LanguageCheck(parts.content)
        self._noise, self._memory = Noise(), Memory()
        self._synthesis = synthesis_stream(synthesizer, voice.vectors, voice.seeds)
        self.latency += self._synthesis.latency

    def process(self, window: Window) -> None:
        """Processes a window up to the end of the rows."""
        parts = self._parts
        kept = min(window.kept, max(0, self.end - window.start - window.before))
        if not kept:
            return
        samples = window.samples[self.rows, : self.end - window.start]
        accent, coarse_silence, soft = self._prosody.content_kind
        features, scores = parts.content.with_language_score(samples, coarse_silence, soft)
        if accent in NATIVE:
            drawn = self._voice.accents if accent == "drawn" else None
            features = parts.content.native(
                samples, accent, drawn, coarse_silence, self._prosody.soft
            )
        own = frames_within(parts, window.before, kept)
        here = slice(window.before, window.before + kept)
        self.language.add(None if scores is None else scores[:, own], samples[:, here])
        level = self._presence(window, samples) if self.phrases else samples
        if self.timing is not None:
            moved = self._moved(window, samples, level, features, kept, self.timing)
            content, f0, level = moved
        else:
            content, level = held(parts, features[:, own], kept), level[:, here]
            if self._prosody.predicted:
                begin = window.before // parts.synthesizer.hop
                predicted = self._predicted(features, window.start)
                f0 = predicted[:, begin : begin + frames_of(parts, kept)]
            else:
                f0 = pitch_of(parts, samples, window.before, kept)
        f0 = self._changed(f0)
        self.put(level, level[:, :0])
        size = max(1, round(SYNTHESIS_SECONDS * RATE / parts.synthesizer.hop))
        for some, pitch in zip(content.split(size, 1), f0.split(size, 1), strict=True):
            self.put(level[:, :0], self._synthesis.push(some, pitch))

    def rest(self) -> torch.Tensor:
        return self._synthesis.flush()

    def _presence(self, window: Window, samples: torch.Tensor) -> torch.Tensor:
        """Whether the samples ``[row, time]`` of a window are within phrases: 1 or 0."""
        start, count = window.start / RATE, samples.shape[1]
        rows = [presence(phrases, start, count, RATE) for phrases in self.phrases]
        return torch.stack(rows).to(samples)

    def _moved(
        self,
        window: Window,
        samples: torch.Tensor,
        level: torch.Tensor,
        features: torch.Tensor,
        kept: int,
        timing: LooseTiming | DrawnTiming,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Content ``[row, frame, element]``, F0 ``[row, frame]`` and what sets the level ``[row,
        time]`` of a window's own frames in a drawn tempo.

        Args:
            window: with the place in the recording.
            samples: ``[row, time]`` up to the end of the rows, with context.
            level: what sets the level, as ``samples``.
            features: their content.
            kept: samples without context.
            timing: of the rows.
        """
        hop = self._parts.synthesizer.hop
        if self._prosody.predicted:
            f0 = self._predicted(features, window.start)
        else:
            f0 = pitch_of(self._parts, samples, 0, samples.shape[1])
        begin = window.start + window.before
        first = timing.frames(begin / RATE, hop / RATE)
        frames = timing.frames((begin + kept) / RATE, hop / RATE) - first
        size = frames * hop if self._prosody.changes_length else kept
        # the middles of frames
        seconds = (first + torch.arange(frames) + 0.5) * (hop / RATE)
        sources = timing.source_times(seconds) * (RATE / hop) - window.start // hop
        last = min(features.shape[1] * self._every, f0.shape[1]) - 1
        place = sources.floor().long().clamp(0, last).to(features.device)
        of_content = (place // self._every)[:, :, None].expand(-1, -1, features.shape[2])
        missing = (last + 1) * hop - level.shape[1]  # negative where F0 ends earlier
        by_frame = torch.nn.functional.pad(level, (0, missing)).unflatten(1, (-1, hop))
        level = by_frame.gather(1, place[:, :, None].expand(-1, -1, hop)).flatten(1)[:, :size]
        return features.gather(1, of_content), f0.gather(1, place), level

    @property
    def _every(self) -> int:
        """Synthesizer frames of a content frame."""
        return self._parts.content.hop // self._parts.synthesizer.hop

    def _predicted(self, content: torch.Tensor, start: int) -> torch.Tensor:
        """F0 ``[row, frame]`` drawn from what the content of a window predicts.

        Args:
            content: ``[row, frame, element]`` of the window, with its context.
            start: sample at which the window begins.
        """
        predictor, voice = self._parts.f0_predictor, self._voice
        assert predictor is not None  # Pipeline.check
        first = start // predictor.hop
        f0 = predictor.drawn(content, voice.log_f0, voice.log_f0_std, voice.seeds, first)
        if self.shapes:
            frames = np.arange(f0.shape[1], dtype=np.float64)
            seconds = (first + frames + 0.5) * (predictor.hop / RATE)
            rows = [intonation_offsets(*shape, seconds) for shape in self.shapes]
            added = torch.from_numpy(np.stack(rows)).to(f0)
            f0 = f0 * (voice.log_f0_std[:, None] * added).exp()  # unvoiced frames stay at 0
        return f0

    def _changed(self, f0: torch.Tensor) -> torch.Tensor:
        """Transformed F0 ``[row, frame]``."""
        mean, std = self._mean, self._std
        for change in self._prosody.changes:
            if change == "shaped":  # with what was predicted
                continue
            if change == "predicted":
                mean, std = self._voice.log_f0, self._voice.log_f0_std
            elif change == "moved":
                f0 = moved(f0, mean, std, self._voice.log_f0, self._voice.log_f0_std)
                mean, std = self._voice.log_f0, self._voice.log_f0_std
            elif change == "quantised":
                f0 = quantised(f0, mean, std)
            else:
                white = self._noise(f0.shape[1], self._voice.seeds, self._memory)
                f0 = noisy(f0, std, white.to(f0), self._prosody.noise)
        return f0
