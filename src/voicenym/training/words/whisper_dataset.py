"""Dataset of Whisper's fine-tuning: windows of several transcribed recordings.

Whisper's encoder computes a whole window of 30 s for any recording. Short recordings are joined, so
that a window is not mostly silence, and its text has several sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from voicenym.corpus.recording import RATE
from voicenym.errors import CorpusError
from voicenym.nets.masked_batch import padded
from voicenym.nets.words.whisper.whisper_decoding import Writing
from voicenym.nets.words.whisper.whisper_vocabulary import Vocabulary
from voicenym.training.speech.epoch_sampling import Epoch
from voicenym.training.speech.speech_cache import Utterance

PAUSE = (0.1, 0.6)
"""Seconds between recordings."""
NONE = -100
"""Target of tokens outside the loss: those of the prefix and the padding."""


@dataclass(frozen=True)
class Spoken:
    """An utterance with its text as tokens."""

    utterance: Utterance
    tokens: tuple[int, ...]


class Window(NamedTuple):
    """A window: samples ``[time]``, and tokens ``[token]`` with prefix and end."""

    samples: np.ndarray
    tokens: np.ndarray


class Batch(NamedTuple):
    """Samples ``[batch, time]``, tokens ``[batch, token]`` and the tokens after each."""

    samples: torch.Tensor
    tokens: torch.Tensor
    wanted: torch.Tensor


def sentence(text: str) -> str:
    """A transcript of one case as a sentence, in Whisper's style; other texts unchanged.

    Example:
        >>> sentence("THAT IS WHAT I'M SAYING")
        "That is what I'm saying."
    """
    text = " ".join(text.split())
    if not text or text not in (text.upper(), text.lower()):
        return text
    words = ["I" + w[1:] if w == "i" or w.startswith("i'") else w for w in text.lower().split()]
    joined = " ".join(words)
    return joined[0].upper() + joined[1:] + ("" if joined[-1] in ".!?" else ".")


def spoken(
    speech: Sequence[Utterance], known: Vocabulary, window: int, most: int
) -> tuple[list[Spoken], dict[str, int]]:
    """Training utterances, and numbers of utterances left out by reason.

    Args:
        speech: with the texts of its recordings.
        known: vocabulary of the model.
        window: its length in samples.
        most: tokens of a text.

    Raises:
        CorpusError: nothing is left.
    """
    kept: list[Spoken] = []
    left: dict[str, int] = {}
    for utterance in speech:
        text = sentence(utterance.recording.text)
        tokens = tuple(known.encode(text)) if text else ()
        reason = "without text" if not tokens else ""
        if utterance.length > window:
            reason = f"longer than {window / RATE:g} s"
        elif len(tokens) > most:
            reason = f"with more than {most} tokens"
        if reason:
            left[reason] = left.get(reason, 0) + 1
        else:
            kept.append(Spoken(utterance, tokens))
    if not kept:
        why = ", ".join(f"{count} {reason}" for reason, count in left.items()) or "none given"
        raise CorpusError(
            f"no utterance to learn words from ({why}); give a corpus with transcripts"
        )
    return kept, left


class Windows(Epoch[Window]):
    """An epoch of windows of drawn utterances.

    Args:
        speech: to draw from.
        how: special tokens.
        window: length of the model's window in samples.
        most: tokens of a text.
        count: windows in an epoch.
        shortest: share of a window that is filled at least, drawn up to all of it.
        seed: of the draws.
    """

    def __init__(
        self,
        speech: Sequence[Spoken],
        how: Writing,
        window: int,
        most: int,
        count: int,
        shortest: float = 0.2,
        seed: int = 0,
    ) -> None:
        super().__init__(count, seed)
        self._speech, self._how = list(speech), how
        self._window, self._most, self._shortest = window, most, shortest

    def drawn(self, rng: np.random.Generator) -> Window:
        goal = rng.uniform(self._shortest, 1.0) * self._window
        pieces: list[np.ndarray] = []
        tokens: list[int] = []
        length = 0
        for i in rng.permutation(len(self._speech)):
            one = self._speech[i]
            pause = round(rng.uniform(*PAUSE) * RATE) if pieces else 0
            more = pause + one.utterance.length
            if pieces and (length + more > goal or len(tokens) + len(one.tokens) > self._most):
                break
            pieces += [np.zeros(pause, np.float32), one.utterance.samples()]
            tokens += one.tokens
            length += more
        return framed(np.concatenate(pieces), tokens, self._how)


class Singles(torch.utils.data.Dataset[Window]):
    """Utterances as windows of their own, for validation."""

    def __init__(self, speech: Sequence[Spoken], how: Writing) -> None:
        self._speech, self._how = list(speech), how

    def __len__(self) -> int:
        return len(self._speech)

    def __getitem__(self, index: int) -> Window:
        one = self._speech[index]
        return framed(one.utterance.samples(), one.tokens, self._how)


def framed(samples: np.ndarray, tokens: Sequence[int], how: Writing) -> Window:
    """A window with the prefix and the end around its tokens."""
    return Window(samples, np.array([*how.begin, *tokens, how.end], dtype=np.int64))


def collated(windows: Sequence[Window], prefix: int) -> Batch:
    """A batch; targets are the next tokens, except in the prefix and the padding.

    Args:
        windows: of any lengths.
        prefix: tokens of the prefix.
    """
    samples, _ = padded([torch.from_numpy(window.samples) for window in windows])
    longest = max(len(window.tokens) for window in windows) - 1
    tokens = torch.zeros(len(windows), longest, dtype=torch.int64)
    wanted = torch.full((len(windows), longest), NONE)
    for row, window in enumerate(windows):
        found = torch.from_numpy(window.tokens)
        tokens[row, : len(found) - 1] = found[:-1]
        wanted[row, prefix - 1 : len(found) - 1] = found[prefix:]
    return Batch(samples, tokens, wanted)
