"""Streaming core of ``base``: analysis into content, power and F0; synthesis in another voice."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from voicenym.dsp.pitch.f0_statistics import moments, moved_within, register, typical
from voicenym.dsp.pitch.online import Pitch, PitchStream
from voicenym.nets.content.bottleneck import EVERY, HOP, RATE, AcousticFrames
from voicenym.nets.streaming import Memory
from voicenym.resynthesis.bundled import content_normalisation
from voicenym.resynthesis.bundled.model_parts import Parts
from voicenym.resynthesis.common import pauses
from voicenym.resynthesis.common.averages import Averages, Sums, between

PRIOR_SECONDS = 1.0
"""Weight of the typical averages at the start of a live stream, in seconds of speech."""
ORDINARY_POWER = -6.0
"""Natural logarithm of the mean square of ordinary speech (-26 dBFS)."""
ORDINARY_FLOOR = -14.0
"""Natural logarithm of the mean square of its pauses."""
ORDINARY_PAUSES = 0.2
"""Share of pauses in its time."""
STEP = EVERY * HOP
"""Samples processed together: a content frame."""
HIGHEST_GAIN = 10.0
CONTEXT = 2
"""Look-ahead of a gain in frames: one in the average, one in the interpolation."""
LIVE_CONTEXT = 1
"""Look-ahead of a gain in frames, live."""
LOOKAHEAD, LIVE_LOOKAHEAD = 6, 5
"""Frames that the choice of an F0 looks ahead, of a file and live: with five, F0 is known with the
content. Octave errors against Praat's tracker are 2.9 % of voiced frames in place of 2.7."""


@dataclass(frozen=True)
class Voice:
    """Target voices of the rows of a signal.

    Args:
        vectors: ``[row, element]``; the norm of each is the root of its size.
        log_f0: ``[row]``, mean ln F0 in Hz.
        log_f0_std: ``[row]``, its standard deviation.
        seeds: ``[row]`` int64, of all noise.
    """

    vectors: torch.Tensor
    log_f0: torch.Tensor
    log_f0_std: torch.Tensor
    seeds: torch.Tensor


def scaled(vectors: torch.Tensor) -> torch.Tensor:
    """Vectors ``[row, element]`` scaled to a norm of the root of their size; zero stays zero."""
    return torch.nn.functional.normalize(vectors, dim=1) * math.sqrt(vectors.shape[1])


def windows(signal: torch.Tensor) -> torch.Tensor:
    """Mean squares ``[row, frame]`` of the frames of ``[row, frame * 160]``."""
    frames: torch.Tensor = signal.unflatten(1, (-1, HOP))
    return frames.square().mean(2)


class ResynthesisCore:
    """Core of ``base``, at 16 kHz.

    Analysis, in steps of 20 ms, computes content, power and F0; without averages of the whole
    recording, running averages are used. The synthesizer generates speech in the given voice from
    them; each frame of its output gets the power of the input frame, so that level and silence are
    kept. Live, their gain looks one frame ahead instead of two, and F0 five frames instead of six.
    Pauses are attenuated to a common level (:mod:`voicenym.resynthesis.common.pauses`), and
    content is normalised if the model was trained for it
    (:mod:`voicenym.resynthesis.bundled.content_normalisation`).

    Args:
        parts: trained; on the device.
        voice: on the device.
        averages: of the recording, on the device; None for live use.
        device: where to compute.
    """

    def __init__(
        self, parts: Parts, voice: Voice, averages: Averages | None, device: str = "cpu"
    ) -> None:
        self._parts, self._voice, self._averages = parts, voice, averages
        self._rows, self._device = len(voice.vectors), device
        self._memory = Memory()
        live = averages is None
        lookahead = LIVE_LOOKAHEAD if live else LOOKAHEAD
        self._pitch = PitchStream(self._rows, RATE, lookahead=lookahead, device=device)
        self._sums = usual(parts, self._rows, device)
        self._normalisation: content_normalisation.Map | None = None
        if parts.everybody is not None and averages is not None and averages.content is not None:
            self._normalisation = parts.everybody.map(averages.content)
        self._content_sums = torch.zeros(
            self._rows,
            content_normalisation.width(parts.content.size),
            dtype=torch.float64,
            device=device,
        )

        def empty(*shape: int) -> torch.Tensor:
            return torch.zeros(self._rows, *shape, device=device)

        self._remaining = 0
        self._input = empty(0)  # less than a step
        self._bands = empty(0, parts.content.front_end.bands)  # less than EVERY frames
        self._levels = empty(0)  # of frames whose content is not known yet
        self._f0 = empty(0)
        self._numbers = empty(0, parts.content.size)
        self._power = empty(0)
        self._made = empty(0)  # samples of frames that wait for their gain
        self._plain = empty(0)  # mean squares of frames whose pauses are not known yet
        # mean squares of these and of the frames before: of the input, and of what was made
        before = 0 if live else CONTEXT
        self._source_power, self._output_power = empty(before), empty(before)
        self._gain = empty(1) if live else None  # at the end of the last frame
        # a file keeps the frames that were encoded together, and with them its last bits
        self._encoded = 1 if live else EVERY
        # frames are made in steps: at most a step less one sample waits for its end
        self.latency = (
            max(self._pitch.latency + HOP, parts.content.latency + (0 if live else STEP))
            + parts.synthesizer.latency
            + (LIVE_CONTEXT if live else CONTEXT) * HOP
            + STEP
            - 1
        )

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> torch.Tensor:
        """Adds ``[row, time]``; returns the finished samples."""
        self._remaining += block.shape[1]
        out = self._level(self._synthesise(self._analyse(block)))
        self._remaining -= out.shape[1]
        return out

    @torch.inference_mode()
    def flush(self) -> torch.Tensor:
        """The remaining samples."""
        remaining = self._remaining
        return self.push(self._input.new_zeros(self._rows, self.latency + 2 * STEP))[:, :remaining]

    def _analyse(self, block: torch.Tensor) -> int:
        """Analyses a block into the queues; returns the number of complete frames."""
        pitch = self._pitch.push(block)
        signal = torch.cat([self._input, block], dim=1)
        ready = signal.shape[1] // STEP * STEP
        self._input = signal[:, ready:].clone()
        if ready:
            self._plain = torch.cat([self._plain, windows(signal[:, :ready])], dim=1)
            acoustic = self._parts.content.front_end(signal[:, :ready], self._memory)
            self._content(acoustic)
        self._contour(pitch)
        numbers = EVERY * self._numbers.shape[1]
        known = min(numbers, self._power.shape[1], self._f0.shape[1] - 1)
        return max(0, known) // EVERY * EVERY

    def _content(self, acoustic: AcousticFrames) -> None:
        bands, power = acoustic
        if self._averages is not None:
            mean = torch.cat([self._averages.power[:, None], self._averages.bands], dim=1)[:, None]
            floor = self._averages.floor[:, None]
        else:
            sums = Sums.of_frames(acoustic, torch.ones_like(power)).cumsum(1)
            sums = sums + self._sums.frames[:, None]
            counts = pauses.counted(power).cumsum(1) + self._sums.levels[:, None]
            if sums.shape[1]:
                self._sums.frames, self._sums.levels = sums[:, -1].clone(), counts[:, -1].clone()
            mean = (sums[..., 1:] / sums[..., :1]).float()
            floor = pauses.floor(counts).float()
        level = power - mean[..., 0]
        quieted = pauses.quieted(level, floor - mean[..., 0])
        self._power = torch.cat([self._power, quieted], dim=1)
        frames = power.shape[1]
        source_power = self._plain[:, :frames] * (quieted - level).exp()
        self._plain = self._plain[:, frames:]
        self._source_power = torch.cat([self._source_power, source_power], dim=1)
        bands = torch.cat([self._bands, bands - mean[..., 1:]], dim=1)
        self._levels = torch.cat([self._levels, level], dim=1)
        ready = bands.shape[1] // self._encoded * self._encoded
        self._bands = bands[:, ready:].clone()
        if ready:
            encoder = self._parts.content
            numbers = self._normalised(encoder.encode(bands[:, :ready], self._memory))
            numbers = encoder.noisy(numbers, self._voice.seeds, self._memory)
            self._numbers = torch.cat([self._numbers, numbers], dim=1)

    def _normalised(self, numbers: torch.Tensor) -> torch.Tensor:
        """Normalised content; in a live stream, by its statistics so far."""
        frames = EVERY * numbers.shape[1]
        level, self._levels = self._levels[:, :frames], self._levels[:, frames:]
        statistics = self._parts.everybody
        if statistics is None or frames == 0:
            return numbers
        mapping = self._normalisation
        if mapping is None:
            sums = (
                content_normalisation.counted(numbers, level).cumsum(1)
                + self._content_sums[:, None]
            )
            self._content_sums = sums[:, -1].clone()
            mapping = statistics.map(sums)
        normalised: torch.Tensor = statistics(numbers, mapping)
        return normalised

    def _contour(self, pitch: Pitch) -> None:
        """Target F0: mean and range of the target voice, movements of the speaker."""
        if pitch.f0.shape[1] == 0:
            return
        if self._averages is not None:
            mean = self._averages.log_f0.double()[:, None]
            std = self._averages.log_f0_std.double()[:, None]
        else:
            sums = moments(pitch.f0, pitch.level).cumsum(1) + self._sums.pitch[:, None]
            self._sums.pitch = sums[:, -1].clone()
            mean, std = register(sums)
        to = (self._voice.log_f0, self._voice.log_f0_std)
        target = moved_within(pitch.f0.double(), mean, std, *to)
        self._f0 = torch.cat([self._f0, target.float()], dim=1)

    def _synthesise(self, frames: int) -> torch.Tensor:
        """Synthesises so many frames from the queues; the waveform lags behind them."""
        if not frames:
            return self._made.new_zeros(self._rows, 0)
        content = self._parts.conditions(
            self._numbers[:, : frames // EVERY], self._power[:, :frames]
        )
        f0 = between(self._f0[:, : frames + 1])
        self._numbers = self._numbers[:, frames // EVERY :]
        self._power, self._f0 = self._power[:, frames:], self._f0[:, frames:]
        return self._parts.synthesizer.synthesize(
            content, f0, self._voice.vectors, self._voice.seeds, self._memory
        )

    def _level(self, made: torch.Tensor) -> torch.Tensor:
        """Sets the power of the output to that of the input, as far as both are known."""
        if made.shape[1]:
            self._made = torch.cat([self._made, made], dim=1)
            self._output_power = torch.cat([self._output_power, windows(made)], dim=1)
        known = min(self._source_power.shape[1], self._output_power.shape[1])
        frames = known - (2 * CONTEXT if self._gain is None else LIVE_CONTEXT)
        if frames <= 0:
            return self._made[:, :0]
        source, output = self._source_power[:, :known], self._output_power[:, :known]
        if self._gain is None:
            lines = _lines(_gains(source, output))
        else:
            gains = torch.cat([self._gain, _gains_at_ends(source, output)], dim=1)
            lines, self._gain = _lines_between_ends(gains), gains[:, -1:].clone()
        out = self._made[:, : frames * HOP] * lines
        self._made = self._made[:, frames * HOP :].clone()
        self._source_power, self._output_power = (
            self._source_power[:, frames:],
            self._output_power[:, frames:],
        )
        return out


def _gains(source: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
    """Amplitude gains of frames, ``[row, frame - 2]``, from the mean squares around them."""

    def smooth(power: torch.Tensor) -> torch.Tensor:
        return power[:, :-2] + 2.0 * power[:, 1:-1] + power[:, 2:]

    return (smooth(source) / smooth(output).clamp_min(1e-12)).sqrt().clamp_max(HIGHEST_GAIN)


def _gains_at_ends(source: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
    """Amplitude gains at the ends of frames, ``[row, frame - 1]``, from the mean squares of each
    and of the next.
    """

    def smooth(power: torch.Tensor) -> torch.Tensor:
        return power[:, :-1] + power[:, 1:]

    return (smooth(source) / smooth(output).clamp_min(1e-12)).sqrt().clamp_max(HIGHEST_GAIN)


def _lines_between_ends(gains: torch.Tensor) -> torch.Tensor:
    """Linear interpolation over frames: ``[row, frame]`` of gains at the ends of frames, to samples
    of all frames but the first.
    """
    place = torch.arange(1, HOP + 1, device=gains.device) / HOP
    return torch.lerp(gains[:, :-1, None], gains[:, 1:, None], place).flatten(1)


def _lines(gains: torch.Tensor) -> torch.Tensor:
    """Linear interpolation from frame centre to frame centre: ``[row, frame]`` to samples of all
    frames but the outer two.
    """
    place = (torch.arange(HOP, device=gains.device) + 0.5) / HOP + 0.5
    before, at, after = gains[:, :-2, None], gains[:, 1:-1, None], gains[:, 2:, None]
    rising = torch.lerp(before, at, place[: HOP // 2])
    falling = torch.lerp(at, after, place[HOP // 2 :] - 1.0)
    return torch.cat([rising, falling], dim=2).flatten(1)


def usual(parts: Parts, rows: int, device: str) -> Sums:
    """Averages of typical speech with a small weight, the initial state of running averages."""
    sums = Sums(rows, parts.content.front_end.bands, device)
    frames = PRIOR_SECONDS * RATE / HOP
    weight = frames * math.exp(0.25 * ORDINARY_POWER)
    means = torch.cat([torch.ones(1, device=device), parts.usual]).double()
    sums.frames = (weight * means).repeat(rows, 1)
    typical_levels = torch.tensor([ORDINARY_FLOOR, ORDINARY_POWER], device=device)
    shares = torch.tensor([[ORDINARY_PAUSES], [1.0 - ORDINARY_PAUSES]], device=device)
    sums.levels = (frames * shares * pauses.counted(typical_levels)).sum(0).repeat(rows, 1)
    level = frames * math.exp(0.5 * ORDINARY_POWER)
    sums.pitch = typical(level).to(device).repeat(rows, 1)
    return sums
