"""Sets the serial numbers of Ogg streams to zero; libsndfile draws them from the clock.

Such a number reveals the time of writing, and makes outputs of equal runs differ. Every page
contains the number and a checksum over it (RFC 3533). A CRC is linear: its change follows from the
four changed bytes and the number of bytes after them, so that no page is summed again.
"""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path

_POLYNOMIAL = 0x04C11DB7
_HEADER = 27
"""Bytes of a page before its table of segments."""
_SERIAL, _CHECKSUM, _SEGMENTS = 14, 22, 26
"""Offsets of the fields in a page."""
_AFTER_SERIAL = _SERIAL + 4


def reset(path: Path) -> None:
    """Sets the serial numbers of all pages of a file to 0, if all are equal.

    Args:
        path: an Ogg file of one stream, as a sink has just written it.

    Raises:
        OSError: it cannot be read or written.
    """
    with open(path, "r+b") as file:
        place = 0
        serial: bytes | None = None
        while len(header := file.read(_HEADER)) == _HEADER and header[:4] == b"OggS":
            own = header[_SERIAL:_AFTER_SERIAL]
            serial = own if serial is None else serial
            if own != serial:
                return
            length = _HEADER + header[_SEGMENTS] + sum(file.read(header[_SEGMENTS]))
            # Polynomials stand with their highest power first, the checksum in little-endian.
            change = _times(int.from_bytes(own, "big"), _shift(length - _AFTER_SERIAL))
            (checksum,) = struct.unpack_from("<I", header, _CHECKSUM)
            file.seek(place + _SERIAL)
            file.write(bytes(4))
            file.seek(place + _CHECKSUM)
            file.write(struct.pack("<I", checksum ^ change))
            place += length
            file.seek(place)


def _times(one: int, other: int) -> int:
    """The product of two polynomials over GF(2), modulo the CRC's."""
    product = 0
    while other:
        if other & 1:
            product ^= one
        other >>= 1
        one = one << 1 if one < 1 << 31 else (one << 1 & 0xFFFFFFFF) ^ _POLYNOMIAL
    return product


@cache
def _power(exponent: int) -> int:
    """``x ** (8 * 2 ** exponent)``."""
    if exponent == 0:
        return 1 << 8
    half = _power(exponent - 1)
    return _times(half, half)


@cache
def _shift(count: int) -> int:
    """Factor of a polynomial for ``count`` more bytes and the CRC's own 32 bits."""
    product = _POLYNOMIAL  # x ** 32
    for exponent in range(count.bit_length()):
        if count >> exponent & 1:
            product = _times(product, _power(exponent))
    return product
