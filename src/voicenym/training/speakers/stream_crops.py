"""Random crops of a two-branch encoder's inputs, stretched in time and changed in spectrum.

Systems move formants and change tempo. Augmentation with warped bands, stretched time and masked
parts keeps the speaker's label, so that an encoder learns to ignore what systems change. The
changes apply to features, so that the frozen states need not be computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from voicenym.dsp.features.fbank import RATE, htk, htk_inverse
from voicenym.errors import CorpusError
from voicenym.nets.speakers.two_branch import EVERY
from voicenym.training.speakers.stream_files import StreamFile
from voicenym.training.speech.augmentation import SpecAugment
from voicenym.training.speech.epoch_sampling import Epoch

STATES = 50
"""States a second."""
Crop = tuple[torch.Tensor, torch.Tensor, int]


class StreamCrops(Epoch[Crop]):
    """An epoch of crops; each speaker is drawn equally often on average.

    An item is filterbanks ``[frame, 80]`` float32, frozen states ``[layer, state, width]`` float16,
    and the number of the speaker.

    Args:
        files: to crop.
        seconds: length of a crop; a shorter recording is repeated.
        count: crops in an epoch.
        stretch: largest change of tempo, as a share; half of the crops are stretched.
        seed: of the draws.

    Raises:
        CorpusError: fewer than two speakers.
    """

    def __init__(
        self,
        files: Sequence[StreamFile],
        seconds: float,
        count: int,
        stretch: float = 0.15,
        seed: int = 0,
    ) -> None:
        super().__init__(count, seed)
        by_speaker: dict[str, list[StreamFile]] = {}
        for file in files:
            by_speaker.setdefault(file.speaker, []).append(file)
        if len(by_speaker) < 2:
            raise CorpusError(
                f"{len(by_speaker)} speaker to learn from; a verifier needs two at least, and some "
                "hundreds to be of use"
            )
        self.speakers = sorted(by_speaker)
        self._files = [by_speaker[speaker] for speaker in self.speakers]
        self._states = round(seconds * STATES)
        self._stretch = stretch

    @property
    def classes(self) -> int:
        """Number of speakers."""
        return len(self.speakers)

    def drawn(self, rng: np.random.Generator) -> Crop:
        label = int(rng.integers(self.classes))
        own = self._files[label]
        lengths = np.array([file.length for file in own], dtype=np.float64)
        file = own[int(rng.choice(len(own), p=lengths / lengths.sum()))]
        tempo = 1.0
        if rng.random() < 0.5:
            tempo = float(np.exp(rng.uniform(-1.0, 1.0) * np.log1p(self._stretch)))
        wanted = max(2, round(self._states * tempo))
        start = int(rng.integers(max(1, file.length - wanted + 1)))
        fbank, states = file.read(start, wanted)
        if len(states) < wanted:
            fbank = np.resize(fbank, (EVERY * wanted, *fbank.shape[1:]))
            states = np.resize(states, (wanted, *states.shape[1:]))
        return (
            torch.from_numpy(stretched(fbank, EVERY * self._states).astype(np.float32)),
            torch.from_numpy(stretched(states, self._states)).transpose(0, 1),
            label,
        )


def stretched(frames: np.ndarray, length: int) -> np.ndarray:
    """Frames ``[frame, ...]`` as so many, by linear interpolation."""
    if len(frames) == length:
        return frames
    place = np.linspace(0.0, len(frames) - 1.0, length)
    left = np.minimum(place.astype(np.int64), len(frames) - 2)
    part = (place - left).astype(frames.dtype).reshape(-1, *[1] * (frames.ndim - 1))
    lower, upper = frames[left], frames[left + 1]
    found: np.ndarray = lower + part * (upper - lower)
    return found


@dataclass(frozen=True)
class StreamChanges:
    """Changes of spectrum and of time, each applied to a crop with its probability.

    Args:
        warp: probability that the frequencies of the filterbanks are scaled.
        most: largest scale of frequencies, as a share.
        noise: probability of stationary coloured noise in the filterbanks.
        snr: least and greatest ratio of speech to noise, in dB.
        alone: probability that the frozen states are left out of a crop.
        blanks: masked bands and spans of the filterbanks; as many spans of the frozen states are
            masked.
    """

    warp: float = 0.5
    most: float = 0.15
    noise: float = 0.2
    snr: tuple[float, float] = (5.0, 30.0)
    alone: float = 0.1
    blanks: SpecAugment = field(default_factory=lambda: SpecAugment(1, 1, 8, 16))

    def __call__(
        self, fbank: torch.Tensor, states: torch.Tensor, generator: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Filterbanks ``[crop, frame, 80]`` and states ``[crop, layer, state, width]``, changed."""
        count, device = len(fbank), fbank.device

        def uniform(low: float = 0.0, high: float = 1.0) -> torch.Tensor:
            drawn = torch.rand(count, generator=generator, device=device)
            return low + (high - low) * drawn

        scale = torch.exp(uniform(-1.0, 1.0) * np.log1p(self.most))
        scale = torch.where(uniform() < self.warp, scale, torch.ones_like(scale))
        fbank = warped(fbank, scale)
        level = fbank.mean((1, 2)) - uniform(*self.snr)
        slope = uniform(-12.0, 12.0)[:, None] * torch.linspace(-1.0, 1.0, fbank.shape[2]).to(device)
        noisy = uniform() < self.noise
        floor = torch.where(noisy, level, level.new_tensor(-200.0))[:, None, None] + slope[:, None]
        fbank = 10.0 * torch.log10(10.0 ** (fbank / 10.0) + 10.0 ** (floor / 10.0))
        fbank = self.blanks(fbank, generator)
        kept = (uniform() >= self.alone).to(states.dtype)[:, None, None, None]
        steps = torch.arange(states.shape[2], device=device)
        for _ in range(self.blanks.stretches):
            width = uniform(0.0, self.blanks.length / EVERY + 1.0).floor()
            start = uniform() * (states.shape[2] - width)
            blank = (steps >= start[:, None]) & (steps < (start + width)[:, None])
            kept = kept * (~blank).to(states.dtype)[:, None, :, None]
        return fbank, states * kept


def warped(fbank: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Filterbanks ``[crop, frame, band]`` with frequencies scaled by ``scale`` ``[crop]``, by
    linear interpolation between bands.
    """
    bands = fbank.shape[2]
    step = htk(RATE / 2) / (bands + 1)
    place = torch.arange(1, bands + 1, device=fbank.device) * step
    hertz = htk_inverse(place) / scale[:, None]
    source = 2595.0 * torch.log10(1.0 + hertz / 700.0) / step - 1.0
    source = source.clamp(0.0, bands - 1.0)
    left = source.floor().clamp_max(bands - 2).long()
    part = (source - left)[:, None].to(fbank.dtype)
    shape = fbank.shape
    lower = fbank.gather(2, left[:, None].expand(shape))
    upper = fbank.gather(2, (left + 1)[:, None].expand(shape))
    return torch.lerp(lower, upper, part.expand(shape))
