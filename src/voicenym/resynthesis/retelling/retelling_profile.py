"""First pass of ``asr-tts``: the phrases of a recording, in bounded memory but for their texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from voicenym.anonymizer.text_edit import TextEdit
from voicenym.resynthesis.retelling.phrases_heard import Listener, Phrase

RATE = 16_000
WINDOW = 28.0
"""Seconds of a part that is recognised at once; Whisper's windows have 30."""
SEARCHED = 14.0
"""Seconds at the end of a window in which it is cut, at the quietest place."""
QUIET = 0.3
"""Seconds of the quietest place."""


@dataclass
class RowProfile:
    """What was said in a row.

    Args:
        phrases: that can be retold, in order, with times in the recording.
        silenced: seconds by reason.
        energy: sum of the squared samples of the phrases.
        seconds: length of the recording.
    """

    phrases: list[Phrase] = field(default_factory=list)
    silenced: dict[str, float] = field(default_factory=dict)
    energy: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class RetellingProfile:
    """What was said in each row of a recording.

    Args:
        rows: of the signal.
        lengths: samples of each row where they are known; shorter ones are padded.
    """

    rows: tuple[RowProfile, ...]
    lengths: tuple[int, ...] | None


class RetellingReader:
    """First pass over a recording.

    Args:
        listener: what finds the phrases.
        rows: of the signal.
        lengths: samples of each row, where rows are padded; None for all.
        edit: of the texts; None for none.
    """

    def __init__(
        self,
        listener: Listener,
        rows: int,
        lengths: Sequence[int] | None,
        edit: TextEdit | None = None,
    ) -> None:
        self._listener, self._edit = listener, edit
        self._lengths = None if lengths is None else tuple(lengths)
        self._buffers = [np.zeros(0, np.float32) for _ in range(rows)]
        self._found = [RowProfile() for _ in range(rows)]
        self._places = [0] * rows
        """Sample at which the buffer of each row begins."""

    def push(self, block: torch.Tensor) -> None:
        """Adds ``[row, time]`` at 16 kHz."""
        for row, samples in enumerate(block.detach().cpu().numpy()):
            if self._lengths is not None:
                at = self._places[row] + len(self._buffers[row])
                samples = samples[: max(0, self._lengths[row] - at)]
            self._buffers[row] = np.concatenate([self._buffers[row], samples])
            while len(self._buffers[row]) > WINDOW * RATE:
                self._take(row, _cut(self._buffers[row]))

    def result(self) -> RetellingProfile:
        """What was said in everything pushed."""
        for row, rest in enumerate(self._buffers):
            self._take(row, len(rest))
            self._found[row].seconds = self._places[row] / RATE
        return RetellingProfile(tuple(self._found), self._lengths)

    def _take(self, row: int, samples: int) -> None:
        """Recognises the first samples of a buffer, which then begins after them."""
        part, found = self._buffers[row][:samples], self._found[row]
        heard = self._listener.hear(part)
        start = self._places[row] / RATE
        phrases = heard.phrases
        if self._edit is not None and phrases:
            texts = self._edit([phrase.text for phrase in phrases])
            edited = zip(phrases, texts, strict=True)
            phrases = tuple(replace(phrase, text=text) for phrase, text in edited if text)
        for phrase in phrases:
            own = part[round(phrase.start * RATE) : round(phrase.end * RATE)]
            found.energy += float(np.square(own, dtype=np.float64).sum())
            found.phrases.append(
                replace(phrase, start=phrase.start + start, end=phrase.end + start)
            )
        for reason, seconds in heard.silenced.items():
            found.silenced[reason] = found.silenced.get(reason, 0.0) + seconds
        self._buffers[row] = self._buffers[row][samples:].copy()
        self._places[row] += samples


def _cut(samples: np.ndarray) -> int:
    """Sample in the middle of the quietest place of the end of a window."""
    end = round(WINDOW * RATE)
    first = end - round(SEARCHED * RATE)
    power = np.cumsum(np.square(samples[first:end], dtype=np.float64))
    width, hop = round(QUIET * RATE), RATE // 100
    starts = np.arange(0, len(power) - width, hop)
    return first + int(starts[(power[starts + width] - power[starts]).argmin()]) + width // 2
