"""Training of a CTC recogniser's language model, and tuning of its weight."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from voicenym.metrics import normalise, word_errors
from voicenym.nets.words.ctc_networks import ctc
from voicenym.nets.words.ctc_networks.character_model import CharacterModel
from voicenym.private import write_inside
from voicenym.recognition.ctc_recogniser import Decoding, decode, note
from voicenym.recognition.language_models.arpa import write_arpa
from voicenym.recognition.language_models.ngram import train, words

WEIGHTS = (0.3, 0.6, 1.0)
BONUSES = (0.0, 1.5, 3.0)
"""Grid values."""
FILE = "words.arpa"


def attach(
    folder: Path,
    texts: Sequence[str],
    held_out: Sequence[tuple[np.ndarray, str]],
    order: int = 2,
    *,
    beam: int = ctc.BEAM,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, float]:
    """Add a word n-gram model to a recogniser's folder; tune its weight on held-out speech.

    The chosen weight and bonus have the fewest word errors; where the best path without language
    model has no more errors, decoding stays without.

    Args:
        folder: of the recogniser.
        texts: to train the n-gram model on, not normalised.
        held_out: samples ``[time]`` at 16 kHz and texts that are not among these.
        order: of the n-gram.
        beam: of the search.
        say: receives progress messages.

    Returns:
        Word error rates in percent: ``greedy``, and ``with the n-gram``.

    Raises:
        VoicenymError: no texts.
    """
    ngram = train([words(normalise(text)) for text in texts], order)
    model, _ = CharacterModel.load(folder)
    outputs = [model.log_probs(torch.from_numpy(samples)) for samples, _ in held_out]
    references = [text for _, text in held_out]

    def errors(how: Decoding) -> float:
        found = [decode(frames, model.alphabet, how, ngram) for frames in outputs]
        return 100.0 * word_errors(references, found).value

    plain = errors(Decoding())
    tried = {
        how: errors(how)
        for how in (
            Decoding(beam, FILE, "words", weight, bonus) for weight in WEIGHTS for bonus in BONUSES
        )
    }
    best = min(tried, key=lambda how: tried[how])
    say(
        f"{order}-gram of {len(ngram.units)} words: WER {tried[best]:.1f} % with weight "
        f"{best.weight:g} and bonus {best.bonus:g}, {plain:.1f} % without"
    )
    write_inside(folder / FILE, write_arpa(ngram))
    chosen = best if tried[best] < plain else dataclasses.replace(best, beam=0)
    note(folder, decoding=dataclasses.asdict(chosen))
    return {"greedy": plain, "with the n-gram": tried[best]}
