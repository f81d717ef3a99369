"""Six de-noisers with which an attacker reduces the effect of an anonymization.

Adversary A2 of Deng et al. ("V-Cloak: Intelligibility-, Naturalness- & Timbre-Preserving Real-Time
Voice Anonymization", USENIX Security 2023): smoothing by mean and median of 3 samples,
a band-pass of 50 to 7,500 Hz, quantization to 8 bits, audio squeezing to 0.8 of the sample rate,
and MP3. The paper names neither the filter's type nor the MP3's bit rate: here a linear-phase FIR
with compensated delay, and 32 kbit/s.

All keep length and alignment: ``[time]`` float32 in and out, at 16 kHz.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from voicenym.corpus.recording import Recording
from voicenym.errors import DependencyError

RATE = 16_000
Samples = npt.NDArray[np.float32]
Denoiser = Callable[[Samples], Samples]

LOW, HIGH = 50.0, 7_500.0
TAPS = 1_601
"""Length of the band-pass filter: 0.1 s, for edges of 33 Hz (3.3 / length, Hamming's window)."""
BITS = 8
SQUEEZE = 0.8
MP3_BIT_RATE = 32_000
"""Bits per second: an eighth of 16-bit samples at 16 kHz, and mono speech's usual rate."""


@dataclass(frozen=True)
class Denoise:
    """A de-noiser as a step of a :class:`~voicenym.corpus.transforms.Transform`, by its name."""

    name: str

    @property
    def description(self) -> str:
        return f"de-noising ({self.name})"

    def identity(self, recording: Recording) -> str:
        return f"denoise {self.name}"

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        return denoisers()[self.name](samples)


def denoisers() -> dict[str, Denoiser]:
    """The de-noisers by name.

    Example:
        >>> sorted(denoisers())
        ['band-pass', 'mean', 'median', 'mp3', 'quantize', 'squeeze']
        >>> denoisers()["median"](np.array([0, 0, 1, 0, 0], np.float32)).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0]
    """
    return {
        "mean": mean,
        "median": median,
        "band-pass": band_pass,
        "quantize": quantize,
        "squeeze": squeeze,
        "mp3": mp3,
    }


def mean(samples: Samples) -> Samples:
    """Each sample becomes the mean of itself and its neighbours; the ends are repeated."""
    before, here, after = _neighbours(samples)
    return ((before + here + after) / 3.0).astype(np.float32)


def median(samples: Samples) -> Samples:
    """Each sample becomes the median of itself and its neighbours; the ends are repeated."""
    before, here, after = _neighbours(samples)
    low, high = np.minimum(before, here), np.maximum(before, here)
    return np.maximum(low, np.minimum(high, after))


def band_pass(samples: Samples) -> Samples:
    """50 to 7,500 Hz, where the level is 6 dB down; 50 dB down 33 Hz beyond. No delay.

    A Hamming-windowed sinc.
    """
    taps = _band_pass_taps()
    length = len(samples) + len(taps) - 1
    fft = 1 << max(length - 1, 1).bit_length()
    spectrum = np.fft.rfft(samples.astype(np.float64), fft) * np.fft.rfft(taps, fft)
    start = len(taps) // 2
    return np.fft.irfft(spectrum, fft)[start : start + len(samples)].astype(np.float32)


def quantize(samples: Samples) -> Samples:
    """To the 256 levels of signed 8-bit samples: steps of 1/128 of full scale, no dither."""
    steps = float(1 << (BITS - 1))
    return (np.clip(np.round(samples * steps), -steps, steps - 1) / steps).astype(np.float32)


def squeeze(samples: Samples) -> Samples:
    """Down to 12.8 kHz and up again (soxr): nothing stays above 6.4 kHz."""
    import soxr

    slow = soxr.resample(np.ascontiguousarray(samples, np.float32), RATE, SQUEEZE * RATE)
    return _of_length(soxr.resample(slow, SQUEEZE * RATE, RATE), len(samples))


def mp3(samples: Samples, bit_rate: int = MP3_BIT_RATE) -> Samples:
    """Encoded (LAME) and decoded in memory; the codec's delay and padding are taken off.

    Args:
        samples: ``[time]``; beyond [-1, 1] they are clipped.
        bit_rate: bits per second, constant.

    Raises:
        DependencyError: if this ffmpeg has no MP3 encoder.
    """
    import av

    if not len(samples):
        return samples
    try:
        encoder: Any = av.CodecContext.create("libmp3lame", "w")
        decoder: Any = av.CodecContext.create("mp3float", "r")
    except av.codec.codec.UnknownCodecError as error:
        raise DependencyError(
            f"this build of PyAV has no MP3 ({error}); install the one from PyPI: pip install av"
        ) from error
    encoder.sample_rate, encoder.layout, encoder.format = RATE, "mono", "fltp"
    encoder.time_base = Fraction(1, RATE)
    encoder.bit_rate = bit_rate
    frame = av.AudioFrame.from_ndarray(
        np.clip(samples, -1.0, 1.0, dtype=np.float32)[None], format="fltp", layout="mono"
    )
    frame.sample_rate, frame.time_base, frame.pts = RATE, encoder.time_base, 0
    fifo = av.AudioFifo()
    fifo.write(frame)
    encoder.open()
    packets: list[Any] = []
    while (part := fifo.read(encoder.frame_size, partial=True)) is not None:
        packets += encoder.encode(part)
    packets += encoder.encode(None)
    # Time zero is the first input sample; packets begin earlier by the codec's delay.
    delay = -round(packets[0].pts * packets[0].time_base * RATE)
    # Bare bytes: newer encoders tell the decoder what to skip, older ones do not.
    bare = [av.Packet(bytes(packet)) for packet in packets]
    frames = [f for packet in [*bare, None] for f in decoder.decode(packet)]
    whole = np.concatenate([f.to_ndarray()[0] for f in frames])
    return _of_length(whole[delay:], len(samples))


def _neighbours(samples: Samples) -> tuple[Samples, Samples, Samples]:
    wide = np.pad(samples, 1, mode="edge") if len(samples) else np.zeros(2, np.float32)
    return wide[:-2], wide[1:-1], wide[2:]


@cache
def _band_pass_taps() -> npt.NDArray[np.float64]:
    n = np.arange(TAPS) - TAPS // 2
    ideal = [2.0 * edge / RATE * np.sinc(2.0 * edge / RATE * n) for edge in (LOW, HIGH)]
    taps: npt.NDArray[np.float64] = (ideal[1] - ideal[0]) * np.hamming(TAPS)
    return taps


def _of_length(samples: npt.NDArray[Any], length: int) -> Samples:
    cut = samples[:length]
    return np.pad(cut, (0, length - len(cut))).astype(np.float32)
