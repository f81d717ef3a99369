"""Checks of a recording and of its stored form: refusals, and warnings for the user."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from voicenym.dsp.speech_presence import LevelModulation
from voicenym.errors import AudioError

if TYPE_CHECKING:
    from voicenym.audio import Reader, Writer

SHORTEST_SECONDS = 0.020
"""Duration of one analysis window; a shorter recording holds no speech to anonymize."""
FULL_SCALE = 0.999
MOST_CLIPPED = 0.10
"""Share of samples at full scale above which a recording is refused."""
ABOVE_FULL_SCALE = 2**0.5
"""Magnitude from which on a recording was made in floats; lossy codecs exceed 1 by less."""
SOME_CLIPPED = 0.001
"""Share of samples at full scale above which a warning is given."""
SOME_OFFSET = 0.01
"""Mean of a channel's samples from which a warning is given; that of 166 real recordings is 0.00015
at most.
"""
OFFSET_SECONDS = 1.0
"""Shortest recording whose mean is that of its recorder, and not of the sound."""


@dataclass
class Level:
    """Statistics of a signal for the checks, accumulated block by block."""

    samples: int = 0
    clipped: int = 0
    loudest: float = 0.0
    frames: int = 0
    movement: LevelModulation | None = None
    sums: np.ndarray = field(default_factory=lambda: np.zeros(1))
    """Sum of the samples of each channel."""

    def push(self, block: np.ndarray) -> None:
        if self.movement is not None:
            self.movement.push(block)
        magnitude = np.abs(block)
        self.samples += block.size
        self.frames += block.shape[1]
        self.sums = self.sums + block.sum(axis=1, dtype=np.float64)
        self.clipped += int((magnitude >= FULL_SCALE).sum())
        self.loudest = max(self.loudest, float(magnitude.max(initial=0.0)))

    def offset(self) -> float:
        """Mean of the samples of the channel where its magnitude is largest."""
        return float(np.abs(self.sums).max(initial=0.0)) / max(1, self.frames)


def changes(name: str, reader: Reader, writer: Writer, frames: int) -> tuple[str, ...]:
    """Properties of the recording's format that the output could not keep."""
    before, after = reader.format, writer.format
    changes = []
    # another container has its own default codec
    if before.container == after.container and before.codec != after.codec:
        changes.append(f"{before.codec} as {after.codec}")
    if writer.stored_rate != writer.rate:
        changes.append(f"{writer.rate} Hz as {writer.stored_rate} Hz")
    warnings = []
    if changes:
        warnings.append(f"{name}: stored {' and '.join(changes)}: no encoder keeps it here")
    if silence := writer.surplus(frames):
        warnings.append(
            f"{name}: {1000 * silence / writer.stored_rate:.0f} ms of silence follow the sound: "
            f".aac cannot say where it ends; .m4a can"
        )
    return tuple(warnings)


def verdict(name: str, level: Level, rate: int, lenient: bool) -> tuple[str, ...]:
    """Warnings about a recording, or an :class:`AudioError` if it is unfit for anonymization."""
    problems = []
    if level.frames < SHORTEST_SECONDS * rate:
        problems.append(
            f"lasts {1000 * level.frames / rate:.0f} ms, less than one window of "
            f"{1000 * SHORTEST_SECONDS:.0f} ms; join it with its neighbours"
        )
    elif level.loudest == 0.0:
        problems.append("is silent from start to end; check that the right track was recorded")
    share = level.clipped / max(1, level.samples)
    loud = _above_full_scale(level)
    if share >= MOST_CLIPPED:
        problems.append(
            loud
            or f"is clipped: {100 * share:.0f} % of its samples are at full scale; record it again "
            "at a lower level"
        )
    if problems and not lenient:
        raise AudioError(f"{name}: {problems[0]}, or add --lenient to anonymize it as it is")
    warnings = [f"{name}: {problem}" for problem in problems]
    if level.loudest and level.movement is not None and level.movement.speechless():
        warnings.append(
            f"{name}: no speech was found in it, so nothing to anonymize: its level hardly moves; "
            "check that the right track was recorded"
        )
    if SOME_CLIPPED <= share < MOST_CLIPPED:
        clipped = f"{100 * share:.1f} % of the samples are clipped; expect distortion"
        warnings.append(f"{name}: {loud or clipped}")
    offset = level.offset()
    if offset >= SOME_OFFSET and level.frames >= OFFSET_SECONDS * rate:
        warnings.append(
            f"{name}: has a constant offset of {offset:.3f} of full scale "
            f"({20 * math.log10(offset):.0f} dB), of which systems make sound in pauses, or which "
            "they keep, and which tells recorders apart; filter it first by a high-pass of 20 Hz"
        )
    return tuple(warnings)


def _above_full_scale(level: Level) -> str:
    """Sentence on samples that only floats hold, as of recorders with 32-bit floats; or empty."""
    if level.loudest < ABOVE_FULL_SCALE:
        return ""
    above = 20 * math.log10(level.loudest)
    return (
        f"reaches {above:.1f} dB above full scale, as floats allow, and is not clipped yet, but "
        "its output would be distorted; lower its level first: ffmpeg -i IN.wav -af "
        f"volume=-{math.ceil(above) + 1}dB OUT.wav"
    )
