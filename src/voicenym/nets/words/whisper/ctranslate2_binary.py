"""CTranslate2's binary format of weights, version 6, of a Whisper: ``model.bin``.

After the version and the names of the network come the variables, each with its name, shape, type
and bytes, and then the aliases, names of variables that are equal to others.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from voicenym.errors import VoicenymError

BINARY = "model.bin"
VERSION, SPEC = 6, "WhisperSpec"
TYPES = (np.float32, np.int8, np.int16, np.int32, np.float16, None)
"""Types of elements by their number; numpy has none for bfloat16."""
SIZES = (4, 1, 2, 4, 2, 2)
"""Bytes of their elements."""
EXPONENT = 0x7F80
"""Bits of the exponent in bfloat16, all set in numbers that are not finite."""


class Place(NamedTuple):
    """Where the bytes of a variable are.

    Args:
        name: of the variable.
        shape: of the array; empty for a scalar.
        kind: type of its elements; None for bfloat16.
        start, size: bytes in the file.
    """

    name: str
    shape: list[int]
    kind: type[np.generic] | None
    start: int
    size: int


def variables(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Names and arrays of a file, without aliases; arrays are read when they are used.

    Raises:
        VoicenymError: as :func:`places`, or weights in bfloat16.
    """
    found = places(path)
    content = np.memmap(path, np.uint8, "r")
    for name, shape, kind, start, size in found:
        if kind is None:
            raise VoicenymError(
                f"{path}: {name} is in bfloat16; give a conversion in float16 or float32"
            )
        yield name, content[start : start + size].view(kind).reshape(shape)


def not_finite(path: Path) -> str:
    """Name of the first variable with infinite or undefined elements; empty for none.

    Raises:
        VoicenymError: as :func:`places`.
    """
    content = np.memmap(path, np.uint8, "r")
    for name, _, kind, start, size in places(path):
        found = content[start : start + size]
        if kind is None:
            finite = (found.view(np.uint16) & EXPONENT) != EXPONENT
        elif issubclass(kind, np.floating):
            finite = np.isfinite(found.view(kind))
        else:
            continue
        if not finite.all():
            return name
    return ""


def places(path: Path) -> list[Place]:
    """The variables of a file, whose arrays are not read.

    Raises:
        VoicenymError: it cannot be read, is of another version or network, or is not whole.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
            return _places(path, held)
    except OSError as error:
        raise VoicenymError(f"{path}: cannot be read ({error.strerror})") from error
    except (struct.error, ValueError, IndexError) as error:
        raise VoicenymError(f"{path}: damaged, or cut off ({error}); fetch it again") from error


def _places(path: Path, content: mmap.mmap) -> list[Place]:
    at = 0

    def number(form: str) -> int:
        nonlocal at
        (value,) = struct.unpack_from(f"<{form}", content, at)
        at += struct.calcsize(form)
        return int(value)

    def name() -> str:
        nonlocal at
        length = number("H")
        at += length
        if at > len(content):
            raise ValueError("a name ends behind the file")
        return content[at - length : max(at - length, at - 1)].decode()

    version, spec, _ = number("I"), name(), number("I")
    if (version, spec) != (VERSION, SPEC):
        raise VoicenymError(
            f"{path}: {spec!r} of binary version {version}; only {SPEC} of version {VERSION} "
            "is read here: convert Whisper anew, or take the hub's"
        )
    found = []
    for _ in range(number("I")):
        called = name()
        shape = [number("I") for _ in range(number("B"))]
        kind, size = number("B"), number("I")
        if prod(shape) * SIZES[kind] != size:
            raise ValueError(f"{called} has {size} bytes for its shape")
        found.append(Place(called, shape, TYPES[kind], at, size))
        at += size
        if at > len(content):
            raise ValueError(f"{called} ends behind the file")
    for _ in range(number("I")):
        name(), name()
    if at != len(content):
        raise ValueError(f"{len(content) - at} bytes behind the end")
    return found
