"""Greedy decoding of a Whisper network: texts as tokens, with the signs of silence and of loops.

The next token is the most probable one (Radford et al., "Robust speech recognition via large-scale
weak supervision", ICML 2023, section 4.5, at temperature 0). An autoregressive decoder that does
not understand a recording may repeat itself until its last position; a repeated n-gram ends the
text here, and the result says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

MOST_TOKENS = 224
"""Largest number of tokens per window, as published."""
REPEATS = 5
"""Consecutive repetitions of an n-gram of tokens that make a loop."""
LONGEST_LOOP = 16
"""Tokens of the longest n-gram that is compared."""


class Recognises(Protocol):
    """A network with sizes and a decoder (:class:`voicenym.nets.words.whisper.whisper.Whisper`)."""

    sizes: Any
    decoder: Any


@dataclass(frozen=True)
class Writing:
    """Special tokens of the decoder; the defaults are those of the English-only models.

    Args:
        begin: the prefix.
        end: of the text.
        words: tokens below this number are word pieces; higher ones are special tokens.
        never: suppressed tokens, such as brackets.
        not_first: tokens suppressed at the beginning.
        silent: the token whose probability after the first of the prefix is that of no speech; -1
            where it is not known.
    """

    begin: tuple[int, ...] = (50_257, 50_362)
    end: int = 50_256
    words: int = 50_256
    never: tuple[int, ...] = ()
    not_first: tuple[int, ...] = ()
    silent: int = -1


@dataclass(frozen=True)
class Written:
    """The text of a window.

    Args:
        tokens: without the prefix and the end.
        log_prob: mean log probability of these tokens and of the end.
        no_speech: probability that there is no speech; 0 where the network has no token for it.
        looped: a loop ended the text; its n-gram stands once.
        cut: the largest number of tokens ended it.
    """

    tokens: list[int]
    log_prob: float
    no_speech: float
    looped: bool = False
    cut: bool = False


@torch.inference_mode()
def greedy(
    network: Recognises,
    states: torch.Tensor,
    how: Writing,
    most: int = MOST_TOKENS,
    *,
    repeats: int = REPEATS,
) -> list[Written]:
    """Greedy decoding of windows.

    Args:
        network: the recogniser.
        states: ``[batch, state, width]`` of whole windows, from its encoder.
        how: special tokens.
        most: largest number of tokens of a text.
        repeats: repetitions that make a loop; 0 lets loops run.
    """
    rows, device = len(states), states.device
    decoder = network.decoder
    context = decoder.cross_keys_values(states)
    pasts: list[list[torch.Tensor]] = [[] for _ in decoder.layers]
    tokens = torch.tensor(how.begin, device=device).expand(rows, -1)
    barred = torch.zeros(network.sizes.tokens, dtype=torch.bool, device=device)
    barred[how.words :] = True
    barred[list(how.never)] = True
    barred[how.end] = False
    found: list[list[int]] = [[] for _ in range(rows)]
    total, silent = torch.zeros(rows, device=device), torch.zeros(rows, device=device)
    looped = [False] * rows
    open_ = torch.ones(rows, dtype=torch.bool, device=device)
    for step in range(min(most, network.sizes.positions - len(how.begin))):
        hidden = decoder(tokens, context, pasts)
        if step == 0 and how.silent >= 0:
            silent = decoder.scores(hidden[:, 0]).softmax(1)[:, how.silent]
        scores = decoder.scores(hidden[:, -1]).masked_fill(barred, -torch.inf)
        if step == 0 and how.not_first:
            scores[:, list(how.not_first)] = -torch.inf
        best, chosen = scores.log_softmax(1).max(1)
        total += torch.where(open_, best, 0.0)
        open_ &= chosen != how.end
        for row in open_.nonzero()[:, 0].tolist():
            found[row].append(int(chosen[row]))
            length = loop(found[row], repeats) if repeats else 0
            if length:
                del found[row][len(found[row]) - (repeats - 1) * length :]
                looped[row], open_[row] = True, False
        if not bool(open_.any()):
            break
        tokens = chosen[:, None]
    return [
        Written(
            texts,
            float(total[row]) / (len(texts) + 1),
            float(silent[row]),
            looped[row],
            bool(open_[row]),
        )
        for row, texts in enumerate(found)
    ]


def loop(tokens: Sequence[int], repeats: int = REPEATS) -> int:
    """Length of the n-gram that repeats at the end of a text; 0 without repetition.

    Example:
        >>> loop([7, 1, 2, 1, 2, 1, 2], repeats=3)
        2
        >>> loop([1, 2, 1, 2, 1, 3], repeats=3)
        0
    """
    for length in range(1, min(LONGEST_LOOP, len(tokens) // repeats) + 1):
        end = tokens[-length:]
        if all(
            tokens[len(tokens) - (n + 1) * length : len(tokens) - n * length] == end
            for n in range(1, repeats)
        ):
            return length
    return 0
