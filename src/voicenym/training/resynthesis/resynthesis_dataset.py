"""Training data of resynthesis: crops of speech with their features, computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from voicenym.dsp.pitch.online import PitchStream
from voicenym.nets.content.bottleneck import HOP, RATE, FrontEnd
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.resynthesis.bundled import content_normalisation
from voicenym.resynthesis.bundled.model_parts import Parts
from voicenym.resynthesis.common.averages import Averages, between
from voicenym.training.speech.epoch_sampling import LongCrops
from voicenym.training.speech.speech_cache import Utterance

MOST_SECONDS = 20.0


@dataclass(frozen=True)
class AnalysedUtterance:
    """An utterance and its frames.

    Args:
        utterance: its samples.
        bands: ``[frame, band]`` float16, less the utterance's average.
        power: ``[frame]`` float16, natural logarithm, less the utterance's average.
        f0: ``[frame]`` float16 in Hz, 0 where unvoiced.
        averages: of the utterance.
        vector: ``[element]``, of the utterance.
    """

    utterance: Utterance
    bands: np.ndarray
    power: np.ndarray
    f0: np.ndarray
    averages: Averages
    vector: np.ndarray

    @property
    def frames(self) -> int:
        return len(self.f0)


def analysed(
    utterances: Sequence[Utterance],
    encoder: Encoder,
    bands: int,
    say: Callable[[str], None] = lambda text: None,
) -> list[AnalysedUtterance]:
    """Analyse utterances.

    Args:
        utterances: of any length; no more than 20 s of each are used, shorter than 0.5 s not at
            all.
        encoder: makes the speaker vectors.
        bands: of mel.
        say: receives lines of progress.
    """
    front_end = FrontEnd(bands)
    made = []
    for done, utterance in enumerate(utterances):
        if done % 500 == 499:
            say(f"{done + 1} of {len(utterances)} recordings analysed")
        samples = torch.from_numpy(utterance.samples(0, round(MOST_SECONDS * RATE)))
        frames = len(samples) // HOP // 2 * 2
        if frames * HOP < RATE // 2 or not samples.any():
            continue
        waveform = samples[None, : frames * HOP]
        made.append(_analysed(utterance, waveform, front_end, encoder))
    return made


@torch.inference_mode()
def _analysed(
    utterance: Utterance, waveform: torch.Tensor, front_end: FrontEnd, encoder: Encoder
) -> AnalysedUtterance:
    spectra = front_end(waveform)
    tracker = PitchStream(1, RATE)
    parts = [tracker.push(waveform), tracker.flush()]
    f0 = torch.cat([part.f0 for part in parts], dim=1)
    level = torch.cat([part.level for part in parts], dim=1)
    frames = spectra.power.shape[1]
    f0 = torch.nn.functional.pad(f0, (0, max(0, frames + 1 - f0.shape[1])))[:, : frames + 1]
    level = torch.nn.functional.pad(level, (0, max(0, frames + 1 - level.shape[1])))
    averages = Averages.of(spectra, f0, level[:, : frames + 1])
    vector = encoder.embed([waveform[0]])[0]
    return AnalysedUtterance(
        utterance,
        (spectra.bands - averages.bands[:, None])[0].half().numpy(),
        (spectra.power - averages.power[:, None])[0].half().numpy(),
        between(f0)[0].half().numpy(),
        averages,
        vector.numpy(),
    )


@torch.inference_mode()
def content_of(parts: Parts, items: Sequence[AnalysedUtterance]) -> torch.Tensor:
    """Sums of the content of utterances, ``[utterance, 1 + size + size * size]`` float64.

    Args:
        parts: with the content encoder.
        items: at least one.
    """
    found = []
    for item in items:
        bands = torch.from_numpy(item.bands.astype(np.float32))[None]
        level = torch.from_numpy(item.power.astype(np.float32))[None]
        found.append(content_normalisation.counted(parts.content.encode(bands), level).sum(1)[0])
    return torch.stack(found)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors ``[row, element]`` of the length that networks take: the root of their size."""
    norm = np.linalg.norm(vectors, axis=-1, keepdims=True).clip(1e-9)
    return (vectors / norm * np.sqrt(vectors.shape[-1])).astype(np.float32)


class Crop(NamedTuple):
    """A crop of an utterance, or a batch of them."""

    samples: torch.Tensor
    """``[time]`` float32."""
    bands: torch.Tensor
    """``[frame, band]``."""
    power: torch.Tensor
    """``[frame]``."""
    f0: torch.Tensor
    """``[frame]``."""
    vector: torch.Tensor
    """``[element]``, of the utterance or of the speaker; its norm is the root of its size."""
    register: torch.Tensor
    """Mean and standard deviation of the recording's ln F0."""
    speaker: torch.Tensor
    """Index of the speaker."""
    content: torch.Tensor
    """``[1 + size + size * size]``, sums of the recording's content; of none, where it is left as
    it is.
    """


class ResynthesisCrops(LongCrops[AnalysedUtterance, Crop]):
    """An epoch of crops, each recording drawn in proportion to its length.

    The crop of an index depends on the seed, the epoch and the index alone.

    Args:
        items: to crop; shorter ones are left out.
        seconds: length of a crop.
        count: crops in an epoch.
        seed: of the draws.
        content: ``[utterance, element]``, sums of their content, for its normalisation.

    Raises:
        CorpusError: nothing is long enough.
    """

    def __init__(
        self,
        items: Sequence[AnalysedUtterance],
        seconds: float,
        count: int,
        seed: int,
        content: torch.Tensor | None = None,
    ) -> None:
        self._frames = round(seconds * RATE / HOP) // 2 * 2
        super().__init__(items, lambda item: item.frames, self._frames, seconds, count, seed)
        if content is None:
            content = torch.zeros(len(items), 0, dtype=torch.float64)
        if len(content) != len(items):
            raise ValueError(f"{len(content)} rows of content for {len(items)} utterances")
        self._content = content
        self._vectors = unit(np.stack([item.vector for item in self.items]))
        means = np.zeros((len(self.speakers), self._vectors.shape[1]), np.float32)
        np.add.at(means, self.labels, self._vectors)
        self._means = unit(means)

    def drawn(self, rng: np.random.Generator) -> Crop:
        """A crop."""
        which = self.picked(rng)
        item, label = self.items[which], self.labels[which]
        first = int(rng.integers(item.frames - self._frames + 1))
        span = slice(first, first + self._frames)
        samples = item.utterance.samples(first * HOP, self._frames * HOP)
        vector = self._means[label] if rng.random() < 0.5 else self._vectors[which]
        return Crop(
            torch.from_numpy(samples),
            torch.from_numpy(item.bands[span].astype(np.float32)),
            torch.from_numpy(item.power[span].astype(np.float32)),
            torch.from_numpy(item.f0[span].astype(np.float32)),
            torch.from_numpy(vector),
            torch.cat([item.averages.log_f0, item.averages.log_f0_std]),
            torch.tensor(label),
            self._content[self.places[which]],
        )
