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

WINDOWS = 4096
"""Windows that are remembered; the codes of 30 s at 25 codes a second need 4.5 KB."""
WITH_VECTORS = 1536
"""Of those with vectors, which need 48 KB: ten hours in windows of which 24 s are kept."""

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
    """Codes by a digest of the samples; of more than ``most`` windows the oldest is dropped.

    It holds digests and codes, and no samples.

    Args:
        most: windows at most.
    """

    def __init__(self, most: int = WINDOWS) -> None:
        self._most = most
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
            self._valid = valid
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
        most = self._most
        if any(part.dtype == torch.int8 for part in natives.values()):
            most = min(most, WITH_VECTORS)
        for place, (row, numbers, own) in enumerate(zip(waveforms, codes, scores, strict=True)):
            others = {name: part[place].cpu().clone() for name, part in natives.items()}
            known = Known(_stored(numbers), own.float().cpu().clone(), others)
            self._known[_digest(row)] = known
            while len(self._known) > most:
                self._known.popitem(last=False)


def _stored(codes: torch.Tensor) -> torch.Tensor:
    return codes.T.to(torch.int16).cpu()


def _digest(samples: torch.Tensor) -> bytes:
    data = samples.detach().float().contiguous().cpu().numpy()
    return hashlib.blake2b(data.tobytes(), digest_size=20).digest()
