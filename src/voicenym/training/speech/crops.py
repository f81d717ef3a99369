"""Random crops of speech with speaker labels; speed perturbation makes further speakers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from voicenym.corpus.recording import RATE
from voicenym.errors import CorpusError
from voicenym.training.speech.epoch_sampling import Epoch
from voicenym.training.speech.speech_cache import Utterance


class SpeakerCrops(Epoch[tuple[torch.Tensor, int]]):
    """An epoch of crops; each speaker, at each speed, is drawn equally often on average.

    Args:
        utterances: speech to crop.
        seconds: length of a crop; a shorter utterance is repeated.
        count: crops in an epoch.
        speeds: of playback: 0.9 is slower and lower. Each speed other than 1 makes every speaker
            another class (Yamamoto et al., Interspeech 2019).
        seed: of the draws.

    Raises:
        CorpusError: fewer than two speakers.
    """

    def __init__(
        self,
        utterances: Sequence[Utterance],
        seconds: float = 3.0,
        count: int = 10_000,
        speeds: Sequence[float] = (1.0, 0.9, 1.1),
        seed: int = 0,
    ) -> None:
        super().__init__(count, seed)
        by_speaker: dict[str, list[Utterance]] = {}
        for utterance in utterances:
            by_speaker.setdefault(utterance.speaker, []).append(utterance)
        if len(by_speaker) < 2:
            raise CorpusError(
                f"only {len(by_speaker)} speaker to learn from; a verifier needs at least two, and "
                "some hundreds to be of use"
            )
        self.speakers = sorted(by_speaker)
        self._utterances = [by_speaker[speaker] for speaker in self.speakers]
        self._length = round(seconds * RATE)
        self._speeds = tuple(speeds)

    @property
    def classes(self) -> int:
        """Speakers at all speeds."""
        return len(self.speakers) * len(self._speeds)

    def drawn(self, rng: np.random.Generator) -> tuple[torch.Tensor, int]:
        label = int(rng.integers(self.classes))
        speaker, index = divmod(label, len(self._speeds))
        speed = self._speeds[index]
        own = self._utterances[speaker]
        # Recordings are drawn in proportion to their length.
        lengths = np.array([utterance.length for utterance in own], dtype=np.float64)
        utterance = own[int(rng.choice(len(own), p=lengths / lengths.sum()))]
        wanted = round(self._length * speed)
        start = int(rng.integers(max(1, utterance.length - wanted + 1)))
        piece = utterance.samples(start, wanted)
        if len(piece) < wanted:
            piece = np.resize(piece, wanted)
        return torch.from_numpy(resampled(piece, self._length)), label


def resampled(samples: np.ndarray, length: int) -> np.ndarray:
    """Samples ``[time]`` as ``length`` samples, band-limited, by their Fourier series.

    The end wraps into the beginning within a few samples, which is harmless in a crop.
    """
    if len(samples) == length:
        return np.ascontiguousarray(samples, dtype=np.float32)
    spectrum = np.fft.rfft(samples)
    kept = min(len(spectrum), length // 2 + 1)
    resized = np.zeros(length // 2 + 1, dtype=spectrum.dtype)
    resized[:kept] = spectrum[:kept]
    return np.asarray(np.fft.irfft(resized, length) * (length / len(samples)), dtype=np.float32)
