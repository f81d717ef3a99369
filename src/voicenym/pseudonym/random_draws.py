"""Randomness of one pseudo-voice: reproducible random numbers by purpose."""

from __future__ import annotations

import hmac
import math
import operator
import struct
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from voicenym.pseudonym import equal_revisions
from voicenym.pseudonym.derivation import ALL_FIRST, FIRST_REVISION, keyed_hash, length_prefixed

if TYPE_CHECKING:
    import numpy
    import torch


class Pseudonym:
    """Randomness of one pseudo-voice: independent streams of numbers by purpose.

    Made by :meth:`voicenym.Key.pseudonym`. Equal pseudonyms give equal voices.

    Args:
        secret: of this speaker under this key.
        revisions: as of :class:`voicenym.Key`.

    Raises:
        TypeError: the secret is no bytes; of a number, zeros that anybody knows would be made.
    """

    __slots__ = ("_revisions", "_secret")

    def __init__(self, secret: bytes, revisions: Mapping[str, int] | None = ALL_FIRST) -> None:
        if not isinstance(secret, (bytes, bytearray, memoryview)):
            raise TypeError(
                f"a pseudonym's secret is bytes, not {type(secret).__name__}; make pseudonyms by "
                "Key.pseudonym(speaker)"
            )
        self._secret = bytes(secret)
        self._revisions = revisions

    def revision(self, system: str) -> int | None:
        """Revision of a system that this voice is made with; None for the system's latest."""
        return None if self._revisions is None else self._revisions.get(system, FIRST_REVISION)

    def variant(self, number: int) -> Pseudonym:
        """Another pseudonym of the same speaker, derived from this one; itself for 0.

        Raises:
            ValueError: the number is negative, or 2^64 or more.
        """
        if not 0 <= operator.index(number) < 1 << 64:
            raise ValueError(f"the number of a variant is 0 or more, below 2^64, not {number}")
        if not number:
            return self
        prefix = length_prefixed(b"voicenym/variant/1")
        return Pseudonym(
            keyed_hash(self._secret, prefix + struct.pack(">Q", number)), self._revisions
        )

    def _words(self, purpose: str) -> Iterator[int]:
        """Endless stream of independent 64-bit words for a purpose."""
        prefix = length_prefixed(b"voicenym/stream/1") + length_prefixed(purpose.encode())
        counter = 0
        while True:
            yield from struct.unpack(
                ">4Q", keyed_hash(self._secret, prefix + struct.pack(">Q", counter))
            )
            counter += 1

    def uniforms(
        self, purpose: str, count: int, low: float = 0.0, high: float = 1.0
    ) -> list[float]:
        """``count`` independent draws from U(low, high), the same in every release."""
        words = self._words(purpose)
        return [low + (high - low) * ((next(words) >> 11) * 2.0**-53) for _ in range(count)]

    def uniform(self, purpose: str, low: float = 0.0, high: float = 1.0) -> float:
        """One draw from U(low, high)."""
        return self.uniforms(purpose, 1, low, high)[0]

    def normals(self, purpose: str, count: int, mean: float = 0.0, std: float = 1.0) -> list[float]:
        """``count`` independent draws from N(mean, std**2), by the Box-Muller transform."""
        draws = []
        words = self._words(purpose)
        for _ in range(count):
            radius = math.sqrt(-2.0 * math.log(((next(words) >> 11) + 1) * 2.0**-53))
            angle = 2.0 * math.pi * ((next(words) >> 11) * 2.0**-53)
            draws.append(mean + std * radius * math.cos(angle))
        return draws

    def normal(self, purpose: str, mean: float = 0.0, std: float = 1.0) -> float:
        """One draw from N(mean, std**2)."""
        return self.normals(purpose, 1, mean, std)[0]

    def index(self, purpose: str, count: int) -> int:
        """One draw from {0, ..., count - 1}, without modulo bias.

        Raises:
            ValueError: there is nothing to draw from.
        """
        if count < 1:
            raise ValueError(f"a draw needs one possibility or more, not {count}")
        limit = (1 << 64) - (1 << 64) % count
        return next(word for word in self._words(purpose) if word < limit) % count

    def rng(self, purpose: str) -> numpy.random.Generator:
        """Generator of numpy for a purpose (noise, large draws)."""
        import numpy

        words = self._words(purpose)
        key = [next(words), next(words)]
        return numpy.random.Generator(numpy.random.Philox(key=numpy.array(key, numpy.uint64)))

    def torch_rng(self, purpose: str) -> torch.Generator:
        """Generator of torch for a purpose, on the CPU so that a GPU gives the same voice."""
        import torch

        return torch.Generator().manual_seed(next(self._words(purpose)) >> 1)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Pseudonym)
            and hmac.compare_digest(self._secret, other._secret)
            and equal_revisions.equal(self._revisions, other._revisions)
        )

    def __hash__(self) -> int:
        # of the secret alone: pseudonyms whose revisions are written otherwise may be equal
        return hash(keyed_hash(self._secret, b"hash"))

    def __repr__(self) -> str:
        return "Pseudonym(<secret>)"
