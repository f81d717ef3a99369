"""Streaming decimation of a signal to a low sample rate, with a buffer of samples still needed."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch


class FoldedSound:
    """Buffer of decimated samples that are still needed: ``[channel, time]``."""

    def __init__(self, channels: int, fold: int, ahead: int = 0) -> None:
        self._fold = fold
        self._taps = low_pass(fold)
        self._parts = [torch.zeros(channels, ahead)]
        self._odd = torch.zeros(channels, len(self._taps) // 2)
        self.length = ahead

    def add(self, block: np.ndarray | torch.Tensor) -> None:
        sound = torch.cat([self._odd, torch.as_tensor(block)], dim=1)
        count = max(0, (sound.shape[1] - len(self._taps)) // self._fold + 1)
        folded = sound.new_zeros(len(sound), count)
        for place, tap in enumerate(self._taps):
            if tap:
                there = sound[:, place : place + self._fold * count : self._fold]
                folded.add_(there[:, :count], alpha=tap)
        self._odd = sound[:, count * self._fold :].clone()
        self._parts.append(folded)
        self.length += count

    def first(self, count: int) -> torch.Tensor:
        """The first ``count`` samples; silence where there are no more."""
        if len(self._parts) > 1:
            self._parts = [torch.cat(self._parts, dim=1)]
        sound = self._parts[0][:, :count]
        missing = count - sound.shape[1]
        return torch.nn.functional.pad(sound, (0, missing)) if missing else sound

    def drop(self, count: int) -> None:
        self._parts = [self.first(self.length)[:, count:].clone()]
        self.length = max(0, self.length - count)


@lru_cache(maxsize=32)
def low_pass(fold: int) -> tuple[float, ...]:
    """Low-pass filter before decimation, against aliasing into the bands."""
    if fold == 1:
        return (1.0,)
    if fold == 2:  # a half-band filter of few operations
        return (-1 / 32, 0.0, 9 / 32, 0.5, 9 / 32, 0.0, -1 / 32)
    place = np.arange(-2 * fold, 2 * fold + 1)
    taps = np.sinc(place / fold) * (0.5 + 0.5 * np.cos(np.pi * place / (2 * fold + 1)))
    return tuple((taps / taps.sum()).tolist())
