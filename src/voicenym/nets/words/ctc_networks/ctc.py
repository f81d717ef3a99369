"""Connectionist temporal classification: tokenisation, loss, greedy decoding and prefix beam
search.

Graves et al., "Connectionist temporal classification", ICML 2006: a path has a token or the blank
in each frame; merging repeated tokens and removing blanks gives its text. Greedy decoding takes the
best path; a prefix beam search finds the best text (Hannun et al., "First-pass large vocabulary
continuous speech recognition using bi-directional recurrent DNNs", arXiv 1408.2873), which sums
over the paths of each text, with an optional language model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Protocol

import numpy as np
import torch

from voicenym.errors import VoicenymError

BLANK = 0
"""The blank token."""
BEAM = 16
LEAST = -10.0
"""Log probability in a frame below which a token does not extend a prefix."""

Text = tuple[int, ...]


@dataclass(frozen=True)
class Alphabet:
    """Characters as tokens: the n-th character is token n; 0 is the blank.

    Args:
        characters: without the blank, none twice.

    >>> Alphabet(" abc").encode("cab")
    [4, 2, 3]
    >>> Alphabet(" abc").decode([4, 2, 3])
    'cab'
    """

    characters: str

    def __post_init__(self) -> None:
        if len(set(self.characters)) != len(self.characters) or not self.characters:
            raise ValueError("an alphabet needs characters, and none of them twice")

    @classmethod
    def of(cls, texts: Iterable[str]) -> Alphabet:
        """Alphabet of all characters of some texts, sorted.

        Raises:
            VoicenymError: no characters in them.
        """
        found = "".join(sorted({character for text in texts for character in text}))
        if not found:
            raise VoicenymError("no text to learn letters from; give transcripts")
        return cls(found)

    def __len__(self) -> int:
        """Number of tokens, the blank included."""
        return len(self.characters) + 1

    def encode(self, text: str) -> list[int]:
        """Tokens of a text.

        Raises:
            VoicenymError: a character that is none of these.
        """
        try:
            return [self.characters.index(character) + 1 for character in text]
        except ValueError:
            unknown = sorted(set(text) - set(self.characters))
            raise VoicenymError(
                f"{text!r}: {', '.join(map(repr, unknown))} is none of the {len(self) - 1} "
                "characters that this model knows; normalise the text, or train on such text"
            ) from None

    def decode(self, tokens: Iterable[int]) -> str:
        """Text of tokens; blanks among them are skipped."""
        return "".join(self.characters[token - 1] for token in tokens if token != BLANK)


def collapse(path: Iterable[int]) -> Text:
    """Text of a path: repeated tokens merged, blanks removed.

    >>> collapse([1, 1, 0, 1, 2, 2])
    (1, 1, 2)
    """
    return tuple(token for token, _ in groupby(path) if token != BLANK)


def frames_needed(tokens: Sequence[int]) -> int:
    """Least number of frames of a text: one per token, and one between equal neighbours.

    >>> frames_needed([1, 1, 2])
    4
    """
    return len(tokens) + sum(a == b for a, b in pairwise(tokens))


def loss(
    logits: torch.Tensor, frames: torch.Tensor, texts: torch.Tensor, sizes: torch.Tensor
) -> torch.Tensor:
    """CTC loss: negative log probability of the texts, ``[batch]``; 0 for a text longer than its
    frames allow.

    Args:
        logits: ``[batch, frame, token]``.
        frames: ``[batch]``.
        texts: tokens ``[batch, longest]``, anything behind each text.
        sizes: tokens of each text, ``[batch]``.
    """
    return torch.nn.functional.ctc_loss(
        logits.float().log_softmax(-1).transpose(0, 1),
        texts,
        frames,
        sizes,
        blank=BLANK,
        reduction="none",
        zero_infinity=True,
    )


def greedy(logits: torch.Tensor, frames: torch.Tensor) -> list[Text]:
    """Greedy decoding: texts of the best paths.

    Args:
        logits: ``[batch, frame, token]``, or their logarithms of probabilities.
        frames: ``[batch]``.
    """
    best = logits.argmax(-1).tolist()
    return [collapse(path[:count]) for path, count in zip(best, frames.tolist(), strict=True)]


class Scorer(Protocol):
    """External score of a growing text, such as a language model's.

    States are hashable; the score of a step depends on state and token alone.
    """

    def start(self) -> Any:
        """State of the empty text."""
        ...

    def step(self, state: Any, token: int) -> tuple[float, Any]:
        """Score of a further token, and the next state."""
        ...

    def finish(self, state: Any) -> float:
        """Score of the end of the text."""
        ...


@dataclass
class _Prefix:
    """Prefix of the beam: log probabilities of paths ending in the blank and in a token, and
    external scores.
    """

    extra: float
    state: Any
    blank: float = -math.inf
    token: float = -math.inf

    @property
    def paths(self) -> float:
        return _add(self.blank, self.token)


def search(
    log_probs: np.ndarray,
    *,
    beam: int = BEAM,
    scorer: Scorer | None = None,
    least: float = LEAST,
) -> list[tuple[Text, float]]:
    """Prefix beam search: best texts and their scores, best first.

    Args:
        log_probs: ``[frame, token]``, logarithms of probabilities.
        beam: number of prefixes kept per frame; with all of them the search is exact.
        scorer: external score, such as a language model; None for none.
        least: see :data:`LEAST`; ``-inf`` tries all.

    Returns:
        At most ``beam`` texts with the log probability of each, including the scorer's weights.

    Example:
        >>> once = np.log([[0.4, 0.6], [0.4, 0.6]])
        >>> [(text, round(math.exp(score), 2)) for text, score in search(once)]
        [((1,), 0.84), ((), 0.16)]
    """
    empty = _Prefix(0.0, None if scorer is None else scorer.start(), blank=0.0)
    kept: dict[Text, _Prefix] = {(): empty}
    known: dict[Text, tuple[float, Any]] = {(): (0.0, empty.state)}
    for frame in np.asarray(log_probs, dtype=np.float64):
        likely = [int(token) for token in np.flatnonzero(frame >= least) if token != BLANK]
        chances = frame.tolist()
        grown: dict[Text, _Prefix] = {}
        for text, prefix in kept.items():
            both, last = prefix.paths, text[-1] if text else BLANK
            same = _at(grown, known, text)
            same.blank = _add(same.blank, both + chances[BLANK])
            if text:
                same.token = _add(same.token, prefix.token + chances[last])
            for token in likely:
                # a token twice needs a blank between
                before = prefix.blank if token == last else both
                if before == -math.inf:
                    continue
                longer = (*text, token)
                if longer not in known:
                    known[longer] = _extended(scorer, prefix, token)
                more = _at(grown, known, longer)
                more.token = _add(more.token, before + chances[token])
        ranked = sorted(grown.items(), key=lambda item: -(item[1].paths + item[1].extra))
        kept = dict(ranked[:beam])
    scores = {
        text: prefix.paths + prefix.extra + (0.0 if scorer is None else scorer.finish(prefix.state))
        for text, prefix in kept.items()
    }
    return sorted(scores.items(), key=lambda item: -item[1])


def _extended(scorer: Scorer | None, prefix: _Prefix, token: int) -> tuple[float, Any]:
    if scorer is None:
        return 0.0, None
    added, state = scorer.step(prefix.state, token)
    return prefix.extra + added, state


def _at(grown: dict[Text, _Prefix], known: dict[Text, tuple[float, Any]], text: Text) -> _Prefix:
    if text not in grown:
        grown[text] = _Prefix(*known[text])
    return grown[text]


def _add(a: float, b: float) -> float:
    """Log-sum-exp of two numbers."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))
