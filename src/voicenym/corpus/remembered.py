"""Transforms that remember what comes before their last step, in bounded memory.

Several de-noisers, and several verifiers, hear the same protected recordings, and protection takes
longer than either.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import Transform

MOST_BYTES = 1 << 26
"""Samples that a process remembers: 64 MB, 17 minutes of speech. More recordings than that are
computed again each time."""
_KEPT: OrderedDict[str, np.ndarray] = OrderedDict()


@dataclass(frozen=True)
class Remembering(Transform):
    """A transform whose steps but for the last one are computed once for a recording.

    Its results and its identity are those of a transform of the same steps.
    """

    def __call__(self, recording: Recording) -> np.ndarray:
        if len(self.steps) < 2:
            return super().__call__(recording)
        before = Transform(self.steps[:-1])
        name = before.identity(recording)
        samples = _KEPT.get(name)
        if samples is None:
            samples = before(recording)
            _keep(name, samples)
        else:
            _KEPT.move_to_end(name)
        return self.steps[-1](samples.copy(), recording)


def _keep(name: str, samples: np.ndarray) -> None:
    """Remembers samples, and forgets those that were used least lately."""
    if samples.nbytes > MOST_BYTES:
        return
    _KEPT[name] = samples.copy()
    while sum(one.nbytes for one in _KEPT.values()) > MOST_BYTES:
        _KEPT.popitem(last=False)


def forget() -> None:
    """Forgets everything, so that the memory is free."""
    _KEPT.clear()
