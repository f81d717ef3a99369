"""Code words of signs with a minimum distance: extended binary BCH codes.

Bose and Ray-Chaudhuri 1960, Hocquenghem 1959: two words differ in at least a known number of
places, so that their sign vectors keep a known angle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from voicenym.errors import UnknownSystemError

PRIMITIVE = {4: 0b10011, 5: 0b100101, 6: 0b1000011, 7: 0b10001001, 8: 0b100011101}
"""Primitive polynomials over GF(2) by their degree."""
ERRORS = {16: 1, 32: 2, 64: 3, 128: 10}
"""Correctable errors by length of the code: more errors mean a larger distance and fewer words."""


@dataclass(frozen=True)
class Code:
    """Extended BCH code.

    Args:
        length: signs of a word: 16, 32, 64 or 128.
        rows: generating words, each an integer whose bits are the signs.
        distance: minimum distance, the least number of places in which two words differ.
    """

    length: int
    rows: tuple[int, ...]
    distance: int

    @property
    def bits(self) -> int:
        """Bits of a word's index: there are 2 ** bits words."""
        return len(self.rows)

    @property
    def cosine(self) -> float:
        """Largest cosine between two different words."""
        return 1.0 - 2.0 * self.distance / self.length

    def word(self, number: int) -> list[int]:
        """Signs ``[length]``, 1 and -1, of a word."""
        found = 0
        for row, generator in enumerate(self.rows):
            if number >> row & 1:
                found ^= generator
        return [1 - 2 * (found >> place & 1) for place in range(self.length)]

    def shared(self, speakers: int) -> float:
        """Upper bound of the probability that two of some speakers draw the same word: pairs /
        words.
        """
        return min(1.0, math.comb(speakers, 2) / float(1 << self.bits))


@lru_cache(maxsize=8)
def code(length: int) -> Code:
    """Code of a given length.

    The generator polynomial has alpha, alpha^2, ..., alpha^(2 t) as roots, alpha being primitive,
    so that words differ in 2 t + 1 places at least (the BCH bound); a sign of parity adds one.

    Raises:
        UnknownSystemError: no such length.
    """
    if length not in ERRORS:
        raise UnknownSystemError(
            f"code words have {', '.join(map(str, ERRORS))} signs, not {length}"
        )
    degree, errors = length.bit_length() - 1, ERRORS[length]
    period = length - 1
    powers = _powers(degree)
    generator = 1
    covered: set[int] = set()
    for power in range(1, 2 * errors + 1):
        if power % period in covered:
            continue
        coset = {power * 2**i % period for i in range(degree)}
        covered |= coset
        generator = _product(generator, _minimal(coset, powers, degree))
    rows = []
    for shift in range(period - (generator.bit_length() - 1)):
        word = generator << shift
        rows.append(word | (word.bit_count() & 1) << period)
    return Code(length, tuple(rows), 2 * errors + 2)


def _powers(degree: int) -> list[int]:
    """alpha^0, alpha^1, ... of GF(2^degree), as bits."""
    found, element = [], 1
    for _ in range(2**degree - 1):
        found.append(element)
        element <<= 1
        if element >> degree & 1:
            element ^= PRIMITIVE[degree]
    return found


def _minimal(coset: set[int], powers: list[int], degree: int) -> int:
    """Minimal polynomial over GF(2) of alpha to the powers of an orbit, as bits."""
    logs = {element: power for power, element in enumerate(powers)}
    period = len(powers)
    coefficients = [1]  # of the field, the highest first
    for power in sorted(coset):
        moved = [*coefficients, 0]
        for place, value in enumerate(coefficients):
            if value:
                moved[place + 1] ^= powers[(logs[value] + power) % period]
        coefficients = moved
    return int("".join(map(str, coefficients)), 2)


def _product(one: int, other: int) -> int:
    """Product of two polynomials over GF(2)."""
    found = 0
    while other:
        if other & 1:
            found ^= one
        one <<= 1
        other >>= 1
    return found
