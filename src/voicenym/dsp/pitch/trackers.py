"""F0 trackers behind one interface: from samples to F0 in Hz and confidence at regular frames.

A tracker is called with ``(signal [row, time], rate)`` and gives a :class:`Track`. Frame ``k`` is
centred at ``k * hop`` seconds, and there are ``ceil(time / hop)`` frames, whichever tracker it is.
Those of other packages are imported when they are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch

from voicenym.dsp.pitch.online import HOP_SECONDS, PitchStream
from voicenym.dsp.pitch.yaapt import Yaapt
from voicenym.errors import DependencyError, VoicenymError


class Track(NamedTuple):
    """F0 track with confidence."""

    f0: torch.Tensor
    """``[row, frame]`` in Hz, 0 where unvoiced."""
    confidence: torch.Tensor
    """``[row, frame]``, 0 to 1: the tracker's own measure of its choice."""

    @property
    def voiced(self) -> torch.Tensor:
        """Voicing ``[row, frame]``."""
        return self.f0 > 0


class Tracker(Protocol):
    """Interface of an F0 tracker."""

    @property
    def hop(self) -> float:
        """Hop in seconds."""
        ...

    def __call__(self, signal: torch.Tensor, rate: int) -> Track:
        """Tracks the rows of ``[row, time]``."""
        ...


@dataclass(frozen=True)
class YaaptTracker:
    """YAAPT, see :class:`voicenym.dsp.pitch.yaapt.Yaapt`; needs whole recordings.

    Args:
        hop: in seconds.
        lowest, highest: limits of F0 in Hz.
    """

    hop: float = 0.010
    lowest: float = 60.0
    highest: float = 400.0

    def __call__(self, signal: torch.Tensor, rate: int) -> Track:
        settings = Yaapt(hop=self.hop, lowest=self.lowest, highest=self.highest)
        return Track(*settings(signal, rate))


@dataclass(frozen=True)
class LiveTracker:
    """The block-by-block tracker of :mod:`voicenym.dsp.pitch.online`, over a whole recording.

    Args:
        hop: in seconds, a multiple of 10 ms.
        lowest, highest: limits of F0 in Hz.
    """

    hop: float = 0.010
    lowest: float = 60.0
    highest: float = 400.0

    def __call__(self, signal: torch.Tensor, rate: int) -> Track:
        every = round(self.hop / HOP_SECONDS)
        if every < 1 or not math.isclose(every * HOP_SECONDS, self.hop):
            raise VoicenymError(f"this tracker has frames every 10 ms; {self.hop} s is no multiple")
        stream = PitchStream(len(signal), rate, self.lowest, self.highest, device=signal.device)
        parts = [stream.push(signal), stream.flush()]
        f0 = torch.cat([part.f0 for part in parts], 1)[:, ::every]
        return Track(f0, torch.cat([part.strength for part in parts], 1)[:, ::every])


@dataclass(frozen=True)
class PraatTracker:
    """Praat's autocorrelation method (Boersma 1993), through parselmouth.

    Args:
        hop: in seconds.
        lowest, highest: limits of F0 in Hz.
    """

    hop: float = 0.010
    lowest: float = 60.0
    highest: float = 400.0

    def __call__(self, signal: torch.Tensor, rate: int) -> Track:
        try:
            import parselmouth
        except ImportError as error:
            raise _missing("praat-parselmouth") from error
        frames = frames_of(signal.shape[1], rate, self.hop)
        # Praat refuses signals shorter than three periods; silence around it changes no frame
        side = math.ceil(2.0 / self.lowest * rate)

        def one(row: np.ndarray) -> np.ndarray:
            padded = np.pad(row.astype(np.float64), side)
            sound = parselmouth.Sound(padded, rate, start_time=-side / rate)
            pitch = sound.to_pitch_ac(
                time_step=self.hop, pitch_floor=self.lowest, pitch_ceiling=self.highest
            )
            strength = pitch.selected_array["strength"]
            centres = pitch.xs()
            f0, sure = np.zeros(frames), np.zeros(frames)
            for k in range(frames):
                hertz = pitch.get_value_at_time(k * self.hop)
                f0[k] = 0.0 if math.isnan(hertz) else hertz
                sure[k] = strength[np.abs(centres - k * self.hop).argmin()]
            return np.stack([f0, sure.clip(0.0, 1.0)])

        return _by_rows(one, signal, frames)


@dataclass(frozen=True)
class WorldTracker:
    """DIO with StoneMask, or Harvest, of WORLD (Morise 2009, 2017), through pyworld.

    Neither gives a confidence: it is set to 1 where voiced and 0 elsewhere.

    Args:
        hop: in seconds.
        lowest, highest: limits of F0 in Hz.
        harvest: the slower, more careful of the two.
    """

    hop: float = 0.010
    lowest: float = 60.0
    highest: float = 400.0
    harvest: bool = False

    def __call__(self, signal: torch.Tensor, rate: int) -> Track:
        try:
            import pyworld
        except ImportError as error:
            raise _missing("pyworld") from error
        frames = frames_of(signal.shape[1], rate, self.hop)
        limits = {"f0_floor": self.lowest, "f0_ceil": self.highest}
        side = math.ceil(0.1 * rate / (self.hop * rate)) * round(self.hop * rate)
        first = side // round(self.hop * rate)

        def one(row: np.ndarray) -> np.ndarray:
            padded = np.pad(row.astype(np.float64), side)
            find = pyworld.harvest if self.harvest else pyworld.dio
            f0, times = find(padded, rate, frame_period=1000.0 * self.hop, **limits)
            if not self.harvest:
                f0 = pyworld.stonemask(padded, f0, times, rate)
            f0 = f0[first : first + frames]
            return np.stack([f0, (f0 > 0).astype(np.float64)])

        return _by_rows(one, signal, frames)


TRACKERS: dict[str, Callable[..., Tracker]] = {
    "yaapt": YaaptTracker,
    "live": LiveTracker,
    "praat": PraatTracker,
    "dio": WorldTracker,
    "harvest": lambda **settings: WorldTracker(**settings, harvest=True),
}


def tracker(name: str = "yaapt", **settings: Any) -> Tracker:
    """Tracker by name.

    Args:
        name: one of ``TRACKERS``.
        **settings: ``hop`` in seconds, ``lowest`` and ``highest`` in Hz.

    Raises:
        VoicenymError: if there is none of that name.
    """
    if name not in TRACKERS:
        raise VoicenymError(f"no pitch tracker {name!r}: choose from {', '.join(TRACKERS)}")
    return TRACKERS[name](**settings)


def frames_of(samples: int, rate: int, hop: float) -> int:
    """Number of frames of so many samples."""
    return -(-samples // round(hop * rate))


def _by_rows(one: Callable[[np.ndarray], np.ndarray], signal: torch.Tensor, frames: int) -> Track:
    """Applies a tracker of single rows to all rows."""
    found = np.zeros((len(signal), 2, frames), dtype=np.float32)
    for i, row in enumerate(signal.detach().cpu().numpy() if frames else []):
        if row.any():
            found[i] = one(row)
    tracks = torch.from_numpy(found).to(signal.device)
    return Track(tracks[:, 0], tracks[:, 1])


def _missing(package: str) -> DependencyError:
    return DependencyError(
        f"this tracker needs {package}: pip install 'voicenym[pitch]', or choose yaapt or live"
    )
