"""Memory of the codes of windows, so that one recording under many keys is analysed once.

The codes do not depend on the key, and the encoder costs several times the synthesis. Attackers
who try keys, or train on speech under several keys, process the same recordings again and again.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import torch

from voicenym.dsp.analysis_memory import analysing_anew

MOST_BYTES = 96 << 20
"""Bytes that are remembered: eleven hours in windows of which 24 s are kept, 11,000 recordings of
4 s, if one encoder gives vectors of 64 elements, 25 a second."""
ENTRY_BYTES = 1024
"""Bytes of a window's objects, besides what is in its tensors."""

_PERIOD = ContextVar("period of the code memory", default=0)
_PERIODS = itertools.count(1)


@contextmanager
def fresh_memory() -> Iterator[None]:
    """Windows of earlier recordings are forgotten, before and after, and no analysis is
    remembered: for measurements of speed.
    """
    before = _PERIOD.set(next(_PERIODS))
    try:
        with analysing_anew():
            yield
    finally:
        _PERIOD.reset(before)


class Known(NamedTuple):
    """Codes and scores of one window.

    Args:
        codes: ``[code, book]`` int16.
        scores: ``[code, kind]`` float32.
        natives: of each accent that the encoder knows, codes of a native reading ``[code, book]``
            int16, or for drawn accents the vectors before the codebook, ``[code, element]`` int8.
    """

    codes: torch.Tensor
    scores: torch.Tensor
    natives: Mapping[str, torch.Tensor]


class CodeMemory:
    """Codes by a digest of the samples; beyond ``most`` bytes the oldest are dropped.

    It holds digests and codes, and no samples.

    Args:
        most: bytes of all windows in it.

    Attributes:
        bytes: of the windows in it now.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most, self.bytes = most, 0
        self._known: OrderedDict[bytes, Known] = OrderedDict()
        self._valid: Hashable = None

    def __len__(self) -> int:
        return len(self._known)

    def find(self, waveforms: torch.Tensor, weights: Hashable) -> list[Known] | None:
        """What is known of all rows of ``[row, time]``; None if it is not known of one.

        Args:
            waveforms: ``[row, time]``.
            weights: stands for the encoder's weights; codes of other ones are dropped.
        """
        valid = (_PERIOD.get(), weights)
        if valid != self._valid:
            self._known.clear()
            self._valid, self.bytes = valid, 0
        if not self._known:
            return None
        found = []
        for row in waveforms:
            name = _digest(row)
            known = self._known.get(name)
            if known is None:
                return None
            self._known.move_to_end(name)
            found.append(known)
        return found

    def keep(
        self,
        waveforms: torch.Tensor,
        codes: torch.Tensor,
        scores: torch.Tensor,
        natives: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        """Remembers rows, of the weights of the last :meth:`find`.

        Args:
            waveforms: ``[row, time]``.
            codes: ``[row, book, code]``.
            scores: ``[row, code, kind]``.
            natives: as of :class:`Known`, with a row more.
        """
        natives = natives or {}
        for place, (row, numbers, own) in enumerate(zip(waveforms, codes, scores, strict=True)):
            others = {name: part[place].cpu().clone() for name, part in natives.items()}
            known = Known(_stored(numbers), own.float().cpu().clone(), others)
            name = _digest(row)
            if name in self._known:
                self.bytes -= _bytes_of(self._known.pop(name))
            self._known[name] = known
            self.bytes += _bytes_of(known)
            while self.bytes > self._most and len(self._known) > 1:
                self.bytes -= _bytes_of(self._known.popitem(last=False)[1])


def _bytes_of(known: Known) -> int:
    tensors = (known.codes, known.scores, *known.natives.values())
    return ENTRY_BYTES + sum(part.nbytes for part in tensors)


def _stored(codes: torch.Tensor) -> torch.Tensor:
    return codes.T.to(torch.int16).cpu()


def _digest(samples: torch.Tensor) -> bytes:
    data = samples.detach().float().contiguous().cpu().numpy()
    return hashlib.blake2b(data.tobytes(), digest_size=20).digest()
