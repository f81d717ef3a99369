"""Dataset of transcribed speech in batches of similar length, for recognisers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from voicenym.corpus.recording import RATE
from voicenym.errors import CorpusError
from voicenym.metrics import normalise
from voicenym.nets.masked_batch import padded
from voicenym.nets.words.ctc_networks.ctc import Alphabet, frames_needed
from voicenym.training.speech.crops import resampled
from voicenym.training.speech.speech_cache import Utterance

STEP = 4_000
"""Padding unit in samples: convolutions cache a plan for every shape, so that few shapes are
better."""
JITTER = 0.1
"""Largest random change of lengths before sorting, as a share, so that batches vary."""


@dataclass(frozen=True)
class Transcribed:
    """An utterance with its text as tokens.

    Args:
        speech: in the speech cache.
        tokens: of the normalised text.
    """

    speech: Utterance
    tokens: tuple[int, ...]


def transcribed(
    speech: Sequence[Utterance],
    alphabet: Alphabet,
    *,
    longest: float = 20.0,
    frame: float = 0.04,
    fastest: float = 1.0,
) -> tuple[list[Transcribed], dict[str, int]]:
    """Utterances for the training of a recogniser, and the number of others by reason.

    Args:
        speech: with the texts of its recordings.
        alphabet: of the recogniser.
        longest: utterance that is used, in seconds.
        frame: of the recogniser's output, in seconds; a text too long for its utterance is left
            out.
        fastest: largest speed of playback.

    Raises:
        CorpusError: nothing is left.
    """
    kept: list[Transcribed] = []
    left: dict[str, int] = {}
    for utterance in speech:
        text = normalise(utterance.recording.text)
        reason = ""
        if not text:
            reason = "without text"
        elif set(text) - set(alphabet.characters):
            reason = "with characters that the recogniser does not know"
        elif utterance.length > longest * RATE:
            reason = f"longer than {longest:g} s"
        else:
            tokens = tuple(alphabet.encode(text))
            if frames_needed(tokens) > utterance.length / RATE / frame / fastest:
                reason = "too short for their text"
            else:
                kept.append(Transcribed(utterance, tokens))
        if reason:
            left[reason] = left.get(reason, 0) + 1
    if not kept:
        why = ", ".join(f"{count} {reason}" for reason, count in left.items()) or "none given"
        raise CorpusError(
            f"no utterance to learn words from ({why}); give a corpus with transcripts"
        )
    return kept, left


class Sentences(torch.utils.data.Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """An epoch of utterances, sorted by similar length to reduce padding.

    Every utterance occurs once per round, except for a few that remain when a round is cut into
    groups. The first round goes from the shortest to the longest, which helps to find alignments
    (Amodei et al. 2016, section 3.2). An item depends on seed, epoch and index alone.

    Args:
        speech: training utterances.
        group: number of neighbouring utterances: a batch, times the devices.
        count: utterances in an epoch.
        speeds: of playback, with equal probability.
        seed: of the draws.
    """

    def __init__(
        self,
        speech: Sequence[Transcribed],
        group: int,
        count: int,
        speeds: Sequence[float] = (1.0,),
        seed: int = 0,
    ) -> None:
        self._speech = list(speech)
        self._group = group
        self._count = count
        self._speeds = tuple(speeds)
        self._seed = seed
        self._epoch = 0
        self._known: tuple[int, np.ndarray] = (-1, np.zeros(0, dtype=int))

    def advance(self, epoch: int) -> None:
        """Go to an epoch."""
        self._epoch = epoch

    def __len__(self) -> int:
        return self._count

    def at(self, index: int) -> Transcribed:
        """Utterance at an index of the epoch."""
        place = self._epoch * self._count + index
        groups = max(1, len(self._speech) // self._group)
        number, at = divmod(place, groups * self._group)
        if self._known[0] != number:
            self._known = number, self._round(number)
        return self._speech[self._known[1][at]]

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        one = self.at(index)
        rng = np.random.default_rng((self._seed, 5, self._epoch * self._count + index))
        samples = one.speech.samples()
        speed = self._speeds[int(rng.integers(len(self._speeds)))]
        played = resampled(samples, round(len(samples) / speed))
        return torch.from_numpy(played), torch.tensor(one.tokens)

    def _round(self, number: int) -> np.ndarray:
        """Utterances in the order of a round."""
        rng = np.random.default_rng((self._seed, 3, number))
        lengths = np.array([one.speech.length for one in self._speech], dtype=np.float64)
        if number > 0:
            lengths *= rng.uniform(1.0 - JITTER, 1.0 + JITTER, len(lengths))
        drawn = rng.permutation(len(lengths))
        if len(drawn) < self._group:
            drawn = np.resize(drawn, self._group)
        drawn = drawn[len(drawn) % self._group :]
        groups = drawn[np.argsort(lengths[drawn], kind="stable")].reshape(-1, self._group)
        return (groups if number == 0 else groups[rng.permutation(len(groups))]).reshape(-1)


Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
"""Samples ``[batch, time]`` with zeros behind, their lengths, tokens ``[batch, longest]`` with
zeros behind, and their numbers."""


def collated(items: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> Batch:
    """Speech and tokens as a batch, padded to a multiple of :data:`STEP`."""
    speech, texts = zip(*items, strict=True)
    samples, lengths = padded(speech)
    samples = torch.nn.functional.pad(samples, (0, -samples.shape[1] % STEP))
    return (samples, lengths, *padded(texts))
