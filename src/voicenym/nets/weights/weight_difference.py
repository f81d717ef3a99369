"""Weights stored as their difference from those of another folder, in one byte a number.

Weights that a training made from others differ little from them: those of the bundled
``synthesizer-7`` by a tenth of their deviation. Whole levels of a step that is a small part of that
deviation take a fifth of the space that the weights take in half precision.

The file is a safetensors file of levels, int8, by the names of the weights, with a step for each as
``NAME.step``. Its metadata name the other folder, which lies beside this one. It is stored in
Huffman codes: a wheel's own compression, which also looks for repetitions and finds none that
matter, needs 9 % more.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from voicenym.errors import VoicenymError
from voicenym.nets.weights.byte_planes import header_end

FROM = "difference_from"
"""Key of the other folder's name in the metadata."""
STEP = ".step"
HALF = "F16"


def compressed(content: bytes) -> bytes:
    """The file of a difference in Huffman codes alone, as a zlib stream."""
    coder = zlib.compressobj(strategy=zlib.Z_HUFFMAN_ONLY)
    return coder.compress(content) + coder.flush()


def decompressed(stored: bytes) -> bytes:
    """The file of a difference, of :func:`compressed`.

    Raises:
        VoicenymError: it is no such file.
    """
    coder = zlib.decompressobj()
    try:
        # a byte has a code of one bit at least, so that more than this is no file of ours
        content = coder.decompress(stored, 8 * len(stored) + 1)
    except zlib.error as error:
        raise VoicenymError(f"no difference of weights ({error})") from error
    if not coder.eof or coder.unused_data:
        raise VoicenymError("no difference of weights (its end is missing, or more follows)")
    return content


def other_folder(difference: bytes) -> str:
    """Name of the folder of the weights that a difference is from.

    Raises:
        VoicenymError: it names none, or a path.
    """
    name = str(_header(difference).get("__metadata__", {}).get(FROM, ""))
    if not name or name in (".", "..") or "/" in name or "\\" in name:
        raise VoicenymError("the difference of weights names no folder beside its own")
    return name


def applied(difference: bytes, other: bytes) -> bytes:
    """The safetensors file of which a difference was made.

    Args:
        difference: file of levels and steps.
        other: safetensors file of the weights that it is from, with numbers in half precision.

    Raises:
        VoicenymError: the two do not go together.
    """
    found = bytearray(other)
    start = header_end(other)
    levels = _arrays(difference)
    for name, entry in _header(other).items():
        if name == "__metadata__" or name not in levels:
            continue
        first, last = (start + place for place in entry["data_offsets"])
        step = levels.get(name + STEP, np.zeros(0))
        if entry["dtype"] != HALF or len(levels[name]) * 2 != last - first or len(step) != 1:
            raise VoicenymError(f"{name}: the difference of weights is not from these")
        before = np.frombuffer(other, "<f2", len(levels[name]), first).astype(np.float32)
        after = before + levels[name].astype(np.float32) * step.astype(np.float32)
        found[first:last] = after.astype("<f2").tobytes()
    return bytes(found)


def made(
    weights: Mapping[str, npt.NDArray[np.float16]],
    other: Mapping[str, npt.NDArray[np.float16]],
    step: float,
) -> dict[str, npt.NDArray[np.int8 | np.float32]]:
    """Levels and steps of a difference, by name.

    Args:
        weights: in half precision; other tensors are equal in both.
        other: those that they are from, of the same names and shapes.
        step: as a share of the deviation of a tensor of ``other``. It is larger where a difference
            is more than 127 of them, and smaller for vectors, which have all levels.
    """
    found: dict[str, npt.NDArray[np.int8 | np.float32]] = {}
    for name, value in weights.items():
        if value.dtype != np.float16:
            if not np.array_equal(value, other[name]):
                raise ValueError(f"{name}: no numbers of half precision, and they differ")
            continue
        before = other[name].astype(np.float32)
        change = value.astype(np.float32) - before
        widest = float(np.abs(change).max(initial=0.0)) / 127
        size = widest if value.ndim < 2 else max(step * float(before.std()), widest)
        levels = np.rint(change / size) if size else np.zeros_like(change)
        found[name] = levels.ravel().astype(np.int8)
        found[name + STEP] = np.array([size], np.float32)
    return found


def _header(content: bytes) -> dict[str, dict[str, Any]]:
    try:
        header = json.loads(content[8 : header_end(content)])
    except ValueError as error:
        raise VoicenymError(f"no safetensors file ({error})") from error
    if not isinstance(header, dict):
        raise VoicenymError("no safetensors file")
    return header


def _arrays(content: bytes) -> dict[str, npt.NDArray[np.int8 | np.float32]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return load(content)
    except (SafetensorError, ValueError) as error:
        raise VoicenymError(f"no safetensors file ({error})") from error
