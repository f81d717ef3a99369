"""Training of scores that tell music and noise from speech: a linear function of states.

Ridge-penalised logistic regression on the mean states of pieces of 2 s. Music and speech weigh the
same; the bias is moved so that few pieces of speech count as music.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from voicenym.errors import CorpusError
from voicenym.nets.content.language_scores import PIECE_SECONDS, LanguageScores
from voicenym.training.content.language.language_examples import MUSIC, NO_SPEECH, Example

PENALTY = 1e-2
"""Of the squared weights of standardised states."""
ALARMS = 1e-3
"""Share of pieces of speech that may count as music."""
MARGIN = 0.5
"""Log odds between these pieces and the limit."""


def add_music_scores(
    network: LanguageScores, examples: Sequence[Example], rate: float
) -> dict[str, float]:
    """Sets :attr:`LanguageScores.of_music` from examples of speech, music and noise.

    Args:
        network: with ``tells_music``.
        examples: music and noise in the groups :data:`MUSIC` and :data:`NO_SPEECH`.
        rate: of the content, in Hz.

    Returns:
        The share of pieces of music and noise that count as speech in %, of those it learned from.

    Raises:
        CorpusError: there is no piece of one kind.
    """
    speech, music = pieces(examples, rate)
    if not len(speech) or not len(music):
        raise CorpusError("there is no example of music or noise, or none of speech, of 2 s")
    assert network.of_music is not None
    x = torch.cat([speech, music]).double()
    mean, scale = x.mean(0), x.std(0).clamp_min(1e-3)
    wanted = torch.cat([torch.zeros(len(speech)), torch.ones(len(music))]).double()
    each = torch.where(wanted > 0, 0.5 / len(music), 0.5 / len(speech))
    standard = (x - mean) / scale
    weights = torch.zeros(x.shape[1], dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights, bias], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        scores = standard @ weights + bias
        found = torch.nn.functional.binary_cross_entropy_with_logits(scores, wanted, each)
        total: torch.Tensor = found * len(wanted) + PENALTY * weights.square().sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(loss)
    with torch.no_grad():
        scores = standard @ weights + bias
        highest = float(torch.quantile(scores[: len(speech)], 1.0 - ALARMS))
        shift = max(0.0, highest + MARGIN)
        own = weights / scale
        network.of_music.weight.copy_(own[None])
        network.of_music.bias.copy_(bias - shift - own @ mean)
        missed = 100.0 * float((scores[len(speech) :] < shift).double().mean())
    return {"music or noise taken for speech, % of 2 s": missed}


def pieces(examples: Sequence[Example], rate: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean states ``[piece, element]`` of pieces of 2 s of speech, and of music and noise."""
    size = round(PIECE_SECONDS * rate)
    found: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
    for example in examples:
        loud = example.speech.float()
        for start in range(0, len(loud) - size + 1, size):
            part = slice(start, start + size)
            weight = loud[part, None]
            if weight.any():
                mean = (example.states[part].float() * weight).sum(0) / weight.sum()
                found[example.group in (MUSIC, NO_SPEECH)].append(mean)
    width = examples[0].states.shape[1] if examples else 0
    speech, music = (torch.stack(x) if x else torch.zeros(0, width) for x in found)
    return speech, music
