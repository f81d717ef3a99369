"""Augmentation of speech: rooms, noise, babble, narrow bands; all simulated.

It is batched on the device of the crops; all draws come from the given generator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

RATE = 16_000


@dataclass(frozen=True)
class Surroundings:
    """Applies each of these to a crop with its probability, independently.

    Args:
        noise: probability of coloured noise (spectrum falling by 0 to 6 dB an octave) or mains hum.
        babble: probability of three to six other crops of the batch at once.
        room: probability of a room's response: direct sound and an exponentially decaying noise.
        band: probability of a band limited as a telephone's or a cheap microphone's.
        snr: least and greatest ratio of speech to noise or babble, in dB.
        reverberation: shortest and longest time for a decay by 60 dB, in seconds.
    """

    noise: float = 0.4
    babble: float = 0.2
    room: float = 0.4
    band: float = 0.2
    snr: tuple[float, float] = (3.0, 25.0)
    reverberation: tuple[float, float] = (0.1, 0.7)

    def __call__(self, crops: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Augmented crops ``[crop, time]`` at 16 kHz, each at its former level."""
        level = _rms(crops)
        for happens, change in (
            (self.babble, self._babble),
            (self.room, self._rooms),
            (self.noise, self._noise),
            (self.band, self._bands),
        ):
            if happens > 0.0:
                chosen = _uniform(len(crops), generator, crops.device) < happens
                if bool(chosen.any()):
                    crops = crops.index_put((chosen,), change(crops[chosen], generator))
        return crops * (level / _rms(crops))

    def _mixed(
        self, crops: torch.Tensor, noise: torch.Tensor, generator: torch.Generator
    ) -> torch.Tensor:
        decibels = _uniform(len(crops), generator, crops.device, *self.snr)[:, None]
        return crops + noise * (_rms(crops) / _rms(noise) * 10.0 ** (-decibels / 20.0))

    def _babble(self, crops: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        voices = int(torch.randint(3, 7, (1,), generator=generator, device=crops.device))
        loud = crops / _rms(crops)
        others = torch.zeros_like(crops)
        for _ in range(voices):
            which = torch.randint(
                len(crops), (len(crops),), generator=generator, device=crops.device
            )
            others = others + loud[which].roll(int(crops.shape[1] // 3), dims=1)
        return self._mixed(crops, others, generator)

    def _noise(self, crops: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        count, time = crops.shape
        white = torch.randn(count, time, generator=generator, device=crops.device)
        hertz = torch.fft.rfftfreq(time, 1.0 / RATE, device=crops.device).clamp_min(30.0)
        slope = _uniform(count, generator, crops.device)[:, None]
        coloured = torch.fft.irfft(torch.fft.rfft(white) * (hertz / 1000.0) ** -slope, time)
        seconds = torch.arange(time, device=crops.device) / RATE
        mains = 50.0 + 10.0 * (_uniform(count, generator, crops.device) < 0.5)
        phase = 2.0 * math.pi * mains[:, None] * seconds
        hum = sum(torch.sin(k * phase) / k for k in range(1, 8))
        humming = _uniform(count, generator, crops.device)[:, None] < 0.15
        return self._mixed(crops, torch.where(humming, hum, coloured), generator)

    def _rooms(self, crops: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        count, time = crops.shape
        longest = int(self.reverberation[1] * RATE)
        decay = _uniform(count, generator, crops.device, *self.reverberation)[:, None]
        delay = torch.arange(longest, device=crops.device) / RATE
        tail = torch.randn(count, longest, generator=generator, device=crops.device)
        tail = tail * 10.0 ** (-3.0 * delay / decay)
        # Reflections start some milliseconds after the direct sound.
        first = _uniform(count, generator, crops.device, 0.001, 0.02)[:, None]
        tail = torch.where(delay < first, 0.0, tail)
        ratio = _uniform(count, generator, crops.device, 0.0, 15.0)[:, None]
        tail = tail * (10.0 ** (-ratio / 20.0) / tail.norm(dim=1, keepdim=True).clamp_min(1e-9))
        tail[:, 0] += 1.0
        size = time + longest
        wet = torch.fft.irfft(torch.fft.rfft(crops, size) * torch.fft.rfft(tail, size), size)
        return wet[:, :time]

    def _bands(self, crops: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        time = crops.shape[1]
        hertz = torch.fft.rfftfreq(time, 1.0 / RATE, device=crops.device)
        low = _uniform(len(crops), generator, crops.device, 50.0, 350.0)[:, None]
        high = _uniform(len(crops), generator, crops.device, 3_000.0, 7_500.0)[:, None]
        kept = torch.sigmoid((hertz - low) / 20.0) * torch.sigmoid((high - hertz) / 100.0)
        return torch.fft.irfft(torch.fft.rfft(crops) * kept, time)


@dataclass(frozen=True)
class SpecAugment:
    """SpecAugment: masks of bands and of spans of frames (Park et al., Interspeech 2019; no
    warping).

    Args:
        bands, stretches: numbers of masked bands and spans.
        width: of the widest band, in filters.
        length: of the longest span, in frames.
    """

    bands: int = 1
    stretches: int = 2
    width: int = 10
    length: int = 20

    def __call__(self, features: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """``[crop, frame, band]`` to the same; masked values get the crop's mean."""
        count, frames, bands = features.shape
        hidden = torch.zeros(count, frames, bands, dtype=torch.bool, device=features.device)
        for number, size, most, axis in (
            (self.bands, bands, self.width, 2),
            (self.stretches, frames, self.length, 1),
        ):
            place = torch.arange(size, device=features.device)
            for _ in range(number):
                width = _uniform(count, generator, features.device, 0.0, min(most, size) + 1.0)
                start = _uniform(count, generator, features.device) * (size - width)
                within = (place >= start[:, None]) & (place < (start + width.floor())[:, None])
                hidden |= within.unsqueeze(3 - axis)
        return torch.where(hidden, features.mean((1, 2), keepdim=True), features)


def _rms(crops: torch.Tensor) -> torch.Tensor:
    return crops.square().mean(1, keepdim=True).sqrt().clamp_min(1e-6)


def _uniform(
    count: int,
    generator: torch.Generator,
    device: torch.device,
    low: float = 0.0,
    high: float = 1.0,
) -> torch.Tensor:
    return low + (high - low) * torch.rand(count, generator=generator, device=device)
