"""Dataset of speech with phone alignments, for frame-wise training of recognisers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch

from voicenym.corpus.recording import RATE
from voicenym.errors import CorpusError
from voicenym.nets.masked_batch import padded
from voicenym.nets.words.log_mel import HOP
from voicenym.nets.words.phone_states.phone_state_network import FRAME, coarse
from voicenym.nets.words.phone_states.phones import SILENCE, Phone, States
from voicenym.training.speech.crops import resampled
from voicenym.training.speech.speech_cache import Utterance
from voicenym.training.speech.transcribed_dataset import STEP, Sentences

NONE = -100
"""Label of padding, in place of a state."""
LEAST_PAUSE, MOST_PAUSE = 0.1, 0.4
"""Limits of the random silence before and after the words, in seconds."""


@dataclass(frozen=True)
class Aligned:
    """An utterance and its phones.

    Args:
        speech: in the speech cache.
        phones: one after another.
    """

    speech: Utterance
    phones: tuple[Phone, ...]

    @property
    def speech_interval(self) -> tuple[float, float]:
        """Start and end of the words in seconds."""
        inner = [phone for phone in self.phones if phone.name != SILENCE]
        return inner[0].start, inner[-1].end


def aligned(
    speech: Sequence[Utterance],
    alignments: Sequence[Sequence[Phone] | None],
    longest: float,
) -> tuple[list[Aligned], dict[str, int]]:
    """Utterances with usable alignments, and the number of others by reason.

    Args:
        speech: original or anonymized.
        alignments: of its recordings' originals; None where there is none.
        longest: utterance that is used, in seconds.

    Raises:
        CorpusError: nothing is left, or speech that is shorter than its alignment: its system does
            not keep time.
    """
    kept: list[Aligned] = []
    left: dict[str, int] = {}
    for utterance, phones in zip(speech, alignments, strict=True):
        reason = ""
        if not phones or all(phone.name == SILENCE for phone in phones):
            reason = "whose text could not be laid along their speech"
        elif utterance.length > longest * RATE:
            reason = f"longer than {longest:g} s"
        elif phones[-1].end > utterance.length / RATE + 0.1:
            raise CorpusError(
                f"{utterance.recording.name}: its alignment is {phones[-1].end:.2f} s long, and it "
                f"{utterance.length / RATE:.2f} s; alignments serve for systems that keep time"
            )
        else:
            kept.append(Aligned(utterance, tuple(phones)))
        if reason:
            left[reason] = left.get(reason, 0) + 1
    if not kept:
        why = ", ".join(f"{count} {reason}" for reason, count in left.items()) or "none given"
        raise CorpusError(f"no utterance to learn phones from ({why}); give a transcribed corpus")
    return kept, left


def shares(speech: Sequence[Aligned], states: States, smoothing: float = 0.0) -> np.ndarray:
    """Log priors of states in the training targets, ``[state]``.

    Silence before and after the words counts as often as in the training crops on average.

    Args:
        speech: training utterances.
        states: of its phones.
        smoothing: share of every target that the training spreads over all states. It must be in
            the priors too: a rare state gets the spread share in every frame and, divided by its
            small prior, would otherwise be the likeliest of all.
    """
    counts = np.ones(len(states))
    for one in speech:
        begin, end = one.speech_interval
        pause = (LEAST_PAUSE + MOST_PAUSE) / 2
        start = max(0.0, begin - pause)
        labels = states.labels(
            [Phone(n, s - start, e - start) for n, s, e in one.phones],
            int((min(end + pause, one.speech.length / RATE) - start) / FRAME),
            FRAME,
        )
        counts += np.bincount(labels, minlength=len(states))
    found: np.ndarray = np.log((1.0 - smoothing) * counts / counts.sum() + smoothing / len(states))
    return found


class AlignedSentences(Sentences):
    """An epoch of utterances with a state for each frame; long pauses at their ends are shortened.

    Order and draws are those of :class:`~voicenym.training.speech.transcribed_dataset.Sentences`,
    but speeds lie anywhere between the slowest and the fastest.
    """

    def __init__(
        self,
        speech: Sequence[Aligned],
        states: States,
        group: int,
        count: int,
        speeds: Sequence[float] = (1.0,),
        seed: int = 0,
    ) -> None:
        super().__init__(cast(Any, speech), group, count, speeds, seed)  # it asks for lengths only
        self._states = states

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        one = cast(Aligned, self.at(index))
        rng = np.random.default_rng((self._seed, 5, self._epoch * self._count + index))
        speed = float(rng.uniform(min(self._speeds), max(self._speeds)))
        begin, end = one.speech_interval
        start = max(0.0, begin - rng.uniform(LEAST_PAUSE, MOST_PAUSE))
        stop = end + rng.uniform(LEAST_PAUSE, MOST_PAUSE)
        first = round(start * RATE)
        # multiples of a step: a transform of a prime number of samples takes three times as long
        count = min(one.speech.length, round(stop * RATE)) - first
        samples = one.speech.samples(first, max(1, count // HOP) * HOP)
        played = resampled(samples, max(1, round(len(samples) / speed / HOP)) * HOP)
        speed = len(samples) / len(played)
        return torch.from_numpy(played), _labels(one, self._states, len(played), start, speed)


class WholeUtterances(torch.utils.data.Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Unchanged utterances with a state for each frame, the shortest first."""

    def __init__(self, speech: Sequence[Aligned], states: States) -> None:
        self._speech = sorted(speech, key=lambda one: one.speech.length)
        self._states = states

    def __len__(self) -> int:
        return len(self._speech)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        one = self._speech[index]
        samples = one.speech.samples()
        return torch.from_numpy(samples), _labels(one, self._states, len(samples), 0.0, 1.0)


Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""Samples ``[batch, time]`` with zeros behind, their lengths, and states ``[batch, frame]`` with
:data:`NONE` behind."""


def collated(items: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> Batch:
    """Speech and states as a batch, padded to a multiple of :data:`STEP`."""
    speech, labels = zip(*items, strict=True)
    samples, lengths = padded(speech)
    samples = torch.nn.functional.pad(samples, (0, -samples.shape[1] % STEP))
    count = _frames(samples.shape[1])
    targets = torch.full((len(items), count), NONE)
    for row, states in zip(targets, labels, strict=True):
        row[: len(states)] = states
    return samples, lengths, targets


def _labels(one: Aligned, states: States, length: int, start: float, speed: float) -> torch.Tensor:
    """States of the frames of ``length`` samples that began at ``start`` and were played at a
    speed.
    """
    moved = [Phone(n, (s - start) / speed, (e - start) / speed) for n, s, e in one.phones]
    return torch.from_numpy(states.labels(moved, _frames(length), FRAME))


def _frames(length: int) -> int:
    return int(coarse(torch.tensor(1 + length // HOP)))
