"""Times and probabilities of the words that Whisper wrote, from its cross-attention.

The attention of the decoder's upper layers follows the speech. A monotonic path through it gives
each token its time (Sakoe and Chiba 1978; as in Radford et al.'s software for word times).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from voicenym.nets.words.whisper.whisper import RATE, STATE, Whisper
from voicenym.nets.words.whisper.whisper_decoding import Writing
from voicenym.nets.words.whisper.whisper_vocabulary import Vocabulary

SMOOTHED = 7
"""States of the median filter over the attention."""


@dataclass(frozen=True)
class TimedWord:
    """A word of a window.

    Args:
        text: with its punctuation.
        start, end: in seconds from the beginning of the window.
        log_prob: mean log probability of its tokens.
        tokens: number of them.
    """

    text: str
    start: float
    end: float
    log_prob: float
    tokens: int = 1


@torch.inference_mode()
def timed_words(
    network: Whisper,
    known: Vocabulary,
    states: torch.Tensor,
    tokens: Sequence[int],
    how: Writing,
    seconds: float,
) -> list[TimedWord]:
    """Words of a text with their times.

    Args:
        network: that wrote it.
        known: its vocabulary.
        states: ``[1, state, width]`` of the window.
        tokens: of the text, without prefix and end.
        how: special tokens.
        seconds: of sound in the window.
    """
    if not tokens:
        return []
    attention, log_probs = _attended(network, states, tokens, how)
    speech = max(1, min(attention.shape[1], round(seconds * RATE / STATE)))
    first = len(how.begin) - 1
    # the token at each position is predicted from the one before it; the last is the end
    starts = path(attention[first : first + len(tokens) + 1, :speech]) * (STATE / RATE)
    words: list[list[int]] = []
    for i, token in enumerate(tokens):
        if not words or known.begins_word(token):
            words.append([])
        words[-1].append(i)
    found = []
    for places in words:
        text = known.decode([tokens[i] for i in places])
        if text:
            mean = float(log_probs[places].mean())
            start, end = float(starts[places[0]]), float(starts[places[-1] + 1])
            found.append(TimedWord(text, start, max(start, end), mean, len(places)))
    return found


def _attended(
    network: Whisper, states: torch.Tensor, tokens: Sequence[int], how: Writing
) -> tuple[np.ndarray, np.ndarray]:
    """Attention ``[position, state]`` of the upper layers, and log probabilities ``[token]``."""
    decoder: Any = network.decoder
    given = torch.tensor([[*how.begin, *tokens]], device=states.device)
    weights: list[torch.Tensor] = []

    def keep(module: Any, inputs: tuple[Any, ...]) -> None:
        x, (keys, _) = inputs[0], inputs[1]
        queries = module.query(x).unflatten(2, (module.heads, -1)).transpose(1, 2)
        scores = queries @ keys.transpose(2, 3) / queries.shape[3] ** 0.5
        weights.append(scores.softmax(3)[0])

    layers = decoder.layers[len(decoder.layers) // 2 :]
    handles = [layer.cross.register_forward_pre_hook(keep) for layer in layers]
    try:
        hidden = decoder(given, decoder.cross_keys_values(states))[0]
    finally:
        for handle in handles:
            handle.remove()
    scores = decoder.scores(hidden[len(how.begin) - 1 : -1]).log_softmax(1)
    log_probs = scores[torch.arange(len(tokens)), given[0, len(how.begin) :]]
    heads = torch.cat(weights)  # [head, position, state]
    spread, mean = torch.std_mean(heads, dim=1, keepdim=True, correction=0)
    even = (heads - mean) / spread.clamp_min(1e-6)
    side = SMOOTHED // 2
    padded = torch.nn.functional.pad(even, (side, side), mode="replicate")
    smooth = padded.unfold(2, SMOOTHED, 1).median(3).values
    return smooth.mean(0).cpu().numpy(), log_probs.cpu().numpy()


def path(weights: np.ndarray) -> np.ndarray:
    """First column of each row on the best monotonic path, on which each row has a column or more.

    Args:
        weights: ``[row, column]``; with more rows than columns, rows share the last ones.

    Example:
        >>> path(np.array([[1.0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])).tolist()
        [0, 2, 3]
    """
    rows, columns = weights.shape
    best = np.full(rows, -np.inf)
    best[0] = weights[0, 0]
    moved = np.zeros((rows, columns), dtype=bool)
    for column in range(1, columns):
        from_above = np.concatenate([[-np.inf], best[:-1]])
        moved[:, column] = from_above > best
        best = np.maximum(best, from_above) + weights[:, column]
    starts = np.full(rows, columns - 1)
    row = rows - 1 if np.isfinite(best[-1]) else int(np.isfinite(best).sum()) - 1
    for column in range(columns - 1, 0, -1):
        if moved[row, column]:
            starts[row] = column
            row -= 1
    starts[0] = 0
    return starts
