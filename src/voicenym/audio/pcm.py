"""Conversion between float samples and PCM integers: rounded, clipped, without dither."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicenym.errors import AudioError

Block = NDArray[np.float32]
"""``[channel, time]`` float32."""

PCM_BYTES = {
    "pcm_u8": 1,
    "pcm_s16le": 2,
    "pcm_s24le": 3,
    "pcm_s32le": 4,
    "pcm_f32le": 4,
    "pcm_f64le": 8,
}
"""Codecs of uncompressed samples and their bytes per sample."""


def to_int(block: NDArray[Any], bits: int) -> NDArray[np.int64]:
    """Full scale 1.0 becomes ``2**(bits - 1)``, the inverse of how integers are read."""
    full = 2.0 ** (bits - 1)
    scaled = np.rint(block.astype(np.float64) * full)
    return np.clip(scaled, -full, full - 1).astype(np.int64)


def to_float(block: NDArray[Any]) -> Block:
    """Samples of any numpy type to float32 in [-1, 1]."""
    if block.dtype == np.uint8:
        return (block.astype(np.float32) - 128.0) / 128.0
    if block.dtype.kind == "i":
        full = 2.0 ** (8 * block.dtype.itemsize - 1)
        return (block / full).astype(np.float32)
    return block.astype(np.float32)


def encode(block: Block, codec: str) -> bytes:
    """``[channel, time]`` to interleaved little-endian bytes."""
    frames = block.T
    if codec == "pcm_u8":
        return (to_int(frames, 8) + 128).astype(np.uint8).tobytes()
    if codec == "pcm_s24le":
        words = np.ascontiguousarray(to_int(frames, 24).astype("<i4"))
        return words.view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
    if codec in ("pcm_f32le", "pcm_f64le"):
        return frames.astype("<f4" if codec == "pcm_f32le" else "<f8").tobytes()
    bits = 8 * PCM_BYTES[codec]
    return to_int(frames, bits).astype(f"<i{bits // 8}").tobytes()


def decode(data: bytes, codec: str, channels: int) -> Block:
    """Interleaved little-endian bytes, a whole number of frames, to ``[channel, time]``."""
    if codec == "pcm_s24le":
        words = np.zeros((len(data) // 3, 4), np.uint8)
        words[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        samples: NDArray[Any] = words.view("<i4").reshape(-1)
    else:
        kinds = {"pcm_u8": "u1", "pcm_f32le": "<f4", "pcm_f64le": "<f8"}
        samples = np.frombuffer(data, kinds.get(codec, f"<i{PCM_BYTES[codec]}"))
    return np.ascontiguousarray(to_float(samples).reshape(-1, channels).T)


LOUDEST = 2.0**31
"""Samples, as multiples of full scale, that a file of floats may have: some hold 32-bit integers.
Squares of much larger values overflow, and their results are not audio.
"""


def check_finite(block: Block, name: str) -> Block:
    """The block itself, or an :class:`AudioError` that names the file."""
    if not np.isfinite(block).all():
        raise AudioError(
            f"{name}: has samples that are no numbers (NaN or infinity); export it again as "
            f"16- or 24-bit audio from the program that made it"
        )
    if block.size and max(float(block.max()), -float(block.min())) > LOUDEST:
        raise AudioError(
            f"{name}: has samples far beyond full scale, which no sound has; it is damaged: get a "
            f"whole copy, or export it again as 16- or 24-bit audio"
        )
    return block
