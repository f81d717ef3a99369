"""Where a recording may hold speech: what a detector of speech finds, and all that stands out.

Silero's detector misses some of the speech of a recording, and most of it where it is recorded very
low. What is taken for background is passed on as it is, so that a missed word is the
speaker's own voice in the output. Therefore sounds that stand out from the noise around them count
as possible speech, whatever the detector says.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import torch

from voicenym.diarization.speaker_turns import Diarization
from voicenym.diarization.speech_regions import ANY_SPEECH, CHUNK_SECONDS, speech_regions
from voicenym.nets.activity.silero import CHUNK, SpeechProbabilities

ABOVE_FLOOR = 9.0
"""Decibels over the noise floor from which a sound stands out."""
SILENT = -118.0
"""Level in dB of full scale below which there is no sound; it tells nothing of the noise."""
LOW_PEAK, PEAK, LEAST_PEAK = 0.1, 0.5, 1e-5
"""Recordings of a lower peak are amplified to the second one, unless they are silent."""
FLOOR_SECONDS = 5.0
"""Stretch with a noise floor of its own; the lower one of its neighbours counts, too."""
QUIETEST = 0.1
"""Share of the chunks of a stretch that lie below its noise floor."""
LEAST_CHUNKS = 2
"""A shorter sound is a click."""
NEAR_TURN = 0.3
"""Seconds beside a turn that belong to its onset and decay."""
EMPHASIS = 0.95
"""Weight of the sample before, which is subtracted: rumble and hum do not hide speech."""


def amplification(peak: float) -> float:
    """Gain with which the detector gets a recording, since it misses speech that is very low.

    Args:
        peak: greatest magnitude of the samples, 1 being full scale.

    Example:
        >>> amplification(0.01), amplification(0.4), amplification(0.0)
        (50.0, 1.0, 1.0)
    """
    return PEAK / peak if LEAST_PEAK < peak < LOW_PEAK else 1.0


class SoundLevels:
    """Levels of chunks of 32 ms of a signal at 16 kHz that arrives in blocks."""

    def __init__(self) -> None:
        self._rest, self._last = torch.zeros(0), torch.zeros(1)
        # one buffer: small tensors between large freed ones keep the heap from being reused
        self._found = bytearray()

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> None:
        """Adds ``[time]``."""
        signal = block.detach().float().cpu()
        if not len(signal):
            return
        before = torch.cat([self._last, signal[:-1]])
        self._last = signal[-1:].clone()
        signal = torch.cat([self._rest, signal - EMPHASIS * before])
        whole = len(signal) // CHUNK * CHUNK
        self._found += _levels(signal[:whole].unflatten(0, (-1, CHUNK))).numpy().tobytes()
        self._rest = signal[whole:].clone()

    def result(self) -> npt.NDArray[np.float32]:
        """``[chunk]`` in dB of full scale, with emphasis of high frequencies."""
        found = np.frombuffer(self._found, np.float32).copy()
        if len(self._rest):
            found = np.concatenate([found, _levels(self._rest[None]).numpy()])
        return found


class SoundDetector:
    """Possible speech of a signal at 16 kHz that arrives in blocks.

    Args:
        peak: of the whole signal, by which low recordings are amplified for the detector.

    Example:
        >>> detector = SoundDetector()
        >>> noise = 0.01 * torch.randn(48_000, generator=torch.Generator().manual_seed(0))
        >>> detector.push(noise)
        >>> bool((detector.result() < 0.15).all())
        True
        >>> detector = SoundDetector()
        >>> noise[16_000:24_000] *= 10.0  # whatever it is, it is not the background
        >>> detector.push(noise)
        >>> bool((detector.result()[33:45] == 1.0).all())
        True
    """

    def __init__(self, peak: float = PEAK) -> None:
        self._speech, self._levels = SpeechProbabilities(), SoundLevels()
        self._gain = amplification(peak)

    def push(self, block: torch.Tensor) -> None:
        """Adds ``[time]``."""
        self._speech.push(self._gain * block)
        self._levels.push(block)

    def result(self) -> npt.NDArray[np.float32]:
        """``[chunk]`` of 32 ms: the probability of speech, and 1 where a sound stands out."""
        probabilities = self._speech.result().numpy()
        outstanding = standing_out(self._levels.result())
        found: npt.NDArray[np.float32] = np.maximum(
            probabilities, outstanding[: len(probabilities)].astype(np.float32)
        )
        return found


def _levels(chunks: torch.Tensor) -> torch.Tensor:
    """Levels ``[chunk]`` in dB of ``[chunk, time]``."""
    return 10.0 * chunks.square().mean(1).clamp_min(1e-12).log10()


def standing_out(levels: npt.NDArray[np.floating]) -> npt.NDArray[np.bool_]:
    """Whether chunks are louder than the noise around them.

    Args:
        levels: ``[chunk]``, in dB of full scale.

    Example:
        >>> levels = np.full(300, -50.0)
        >>> levels[100:110] = -30.0
        >>> np.flatnonzero(standing_out(levels)).tolist() == list(range(100, 110))
        True
    """
    size = round(FLOOR_SECONDS / CHUNK_SECONDS)
    stretches = np.array_split(levels, max(1, len(levels) // size))
    floors = np.array([_floor(stretch) for stretch in stretches])
    padded = np.pad(floors, 1, mode="edge")
    least = np.minimum(np.minimum(padded[:-2], padded[1:-1]), padded[2:])
    floor = np.repeat(least, [len(stretch) for stretch in stretches])
    loud = levels > np.maximum(floor + ABOVE_FLOOR, SILENT)
    edges = np.flatnonzero(np.diff(loud.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    for first, last in edges[edges[:, 1] - edges[:, 0] < LEAST_CHUNKS].tolist():
        loud[first:last] = False
    return loud


def _floor(levels: npt.NDArray[np.floating]) -> float:
    """Noise floor of a stretch; infinite where it has no sound."""
    heard = levels[levels > SILENT]
    return float(np.quantile(heard, QUIETEST)) if len(heard) else np.inf


def possible_speech(detectors: list[SoundDetector], seconds: float) -> npt.NDArray[np.float64]:
    """Regions ``[region, (start, end)]`` in seconds in which a channel may hold speech.

    Args:
        detectors: one for each channel, which have got the whole signal.
        seconds: length of the recording.
    """
    most = np.max([detector.result() for detector in detectors], axis=0)
    return speech_regions(most, seconds, ANY_SPEECH)


def seconds_outside(blocks: Iterable[torch.Tensor], found: Diarization) -> float:
    """Seconds of a recording that stand out and lie in nobody's turn, nor near one.

    Args:
        blocks: ``[time]`` of the recording at 16 kHz.
        found: the turns.
    """
    levels = SoundLevels()
    for block in blocks:
        levels.push(block)
    loud = standing_out(levels.result())
    for turn in found.turns:
        start, end = max(0.0, turn.start - NEAR_TURN), turn.end + NEAR_TURN
        loud[round(start / CHUNK_SECONDS) : round(end / CHUNK_SECONDS)] = False
    return float(loud.sum()) * CHUNK_SECONDS
