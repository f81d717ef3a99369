"""A recogniser without weights: a word for each loud stretch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voicenym.recognition.interface import Recogniser, Recording, checked

FRAME = 1600


class Tapping(Recogniser):
    """Writes ``tap`` for each stretch that is loud.

    Args:
        level: root mean square of a loud frame, of the loudest one's.
    """

    def __init__(self, level: float = 0.5) -> None:
        self.level = level

    @property
    def name(self) -> str:
        return f"tapping at {self.level:g}"

    def transcribe(self, recordings: Sequence[Recording]) -> list[str]:
        return [self._words(checked(one, place)) for place, one in enumerate(recordings)]

    def _words(self, samples: Recording) -> str:
        frames = np.pad(samples, (0, -len(samples) % FRAME)).reshape(-1, FRAME)
        level = np.sqrt(np.square(frames).mean(1))
        loud = level > max(self.level * level.max(initial=0.0), 1e-6)
        begins = loud & ~np.concatenate([[False], loud[:-1]])
        return " ".join(["tap"] * int(begins.sum()))
