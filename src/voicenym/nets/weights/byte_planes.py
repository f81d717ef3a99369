"""Weights with the two bytes of each number apart, so that archives compress them.

The high byte of a number in half precision holds its sign, its exponent and the first bits of its
mantissa, and a few values of it are frequent. Deflate, with which a wheel is compressed, finds that
where high bytes follow each other: a wheel has 0.92 of such weights as they are, and 0.85 in
planes. Joined, they are the same bytes again, with the same digest.
"""

from __future__ import annotations

import numpy as np

SIZE_BYTES = 8
"""Of the size of a safetensors file's header, with which the file begins."""


def split(content: bytes) -> bytes:
    """A safetensors file with its numbers' low bytes first, then the high ones.

    Args:
        content: of the file. Any bytes can be split; only two-byte numbers profit.
    """
    numbers = header_end(content)
    data = np.frombuffer(content, np.uint8, offset=numbers)
    return b"".join((content[:numbers], data[::2].tobytes(), data[1::2].tobytes()))


def joined(content: bytes) -> bytes:
    """The safetensors file of which :func:`split` made ``content``."""
    numbers = header_end(content)
    data = np.frombuffer(content, np.uint8, offset=numbers)
    low = (len(data) + 1) // 2
    found = np.empty(len(content), np.uint8)
    found[:numbers] = np.frombuffer(content, np.uint8, numbers)
    found[numbers::2], found[numbers + 1 :: 2] = data[:low], data[low:]
    return found.tobytes()


def header_end(content: bytes) -> int:
    """Where the numbers of a safetensors file begin: after the header, or where a damaged file
    ends.
    """
    return min(SIZE_BYTES + int.from_bytes(content[:SIZE_BYTES], "little"), len(content))
