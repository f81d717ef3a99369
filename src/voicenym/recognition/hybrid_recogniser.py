"""A hybrid recogniser: a phone network, a pronunciation lexicon and a word n-gram model."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.metrics import normalise, word_errors
from voicenym.nets.checkpoint import fingerprint
from voicenym.nets.words.phone_states.phone_model import PhoneModel
from voicenym.private import write_inside
from voicenym.recognition.ctc_recogniser import SHORTEST, note
from voicenym.recognition.interface import Recogniser, Recording, checked, digest_of
from voicenym.recognition.language_models import ngram as grams
from voicenym.recognition.language_models.arpa import read_arpa, write_arpa
from voicenym.recognition.language_models.closed_vocabulary import (
    Lexicon,
    lexicon_of,
    write_lexicon,
)
from voicenym.recognition.phones.phone_loop import PhoneLoop
from voicenym.recognition.phones.pronunciation_graph import graph, uniform
from voicenym.recognition.phones.viterbi import best

LEXICON = "lexicon.dict"
NGRAM = "words.arpa"
WEIGHTS = (0.7, 1.0, 1.5, 2.0, 3.0)
BONUSES = (-6.0, -4.0, -2.0, 0.0, 2.0)
PRIORS = (0.3, 0.6, 1.0)
"""Grids of weights and bonuses, relative to a weight of 1 for each frame of 30 ms."""


@dataclass(frozen=True)
class Search:
    """Parameters of the search.

    Args:
        weight: of the n-gram model.
        bonus: added for each word.
        priors: exponent of the states' priors by which posteriors are divided; 1 for likelihoods.
    """

    weight: float = 1.0
    bonus: float = 0.0
    priors: float = 0.6


class Hybrid(Recogniser):
    """A phone network with a lexicon and a word n-gram model.

    Recordings are decoded one by one, so that a result does not depend on the batch.

    Args:
        weights: folder with ``config.json``, ``model.safetensors``, ``lexicon.dict`` and
            ``words.arpa``, as ``voicenym train hybrid`` writes it.
        device: ``cpu``, ``cuda``...
        language_model: ARPA file that replaces the folder's.
        lexicon: dictionary in CMU format that replaces the folder's.
        order: 0 for uniform word probabilities, 1 for the model's unigram; None for the full
            model.
        search: replaces the folder's.

    Attributes:
        folder: of the weights.
        anonymized_by: system that anonymized its training speech; empty for original speech.

    Raises:
        DependencyError: safetensors is not installed.
        VoicenymError: no such folder, weights that do not fit, or no words.

    Example:
        >>> with Hybrid("models/asr") as recogniser:   # doctest: +SKIP
        ...     recogniser.transcribe([samples])
        ['please call stella']
    """

    def __init__(
        self,
        weights: Path | str = "",
        *,
        device: str = "cpu",
        language_model: Path | str | None = None,
        lexicon: Path | str | None = None,
        order: int | None = None,
        search: Search | None = None,
    ) -> None:
        if not weights:
            raise VoicenymError(
                "hybrid: no weights; give the folder that voicenym train hybrid wrote "
                "(--recogniser-weights FOLDER)"
            )
        self.folder = Path(weights)
        self._model, config = PhoneModel.load(self.folder)
        self._model.net.to(device)
        self._config = config
        self.anonymized_by: str = config.get("training", {}).get("anonymized by", "")
        self._search = search or Search(**config.get("search", {}))
        self._model_files = (
            Path(lexicon or self.folder / LEXICON),
            Path(language_model or self.folder / NGRAM),
        )
        words = lexicon_of(self._model_files[0])
        model = cut(read_arpa(self._model_files[1]), words, order)
        self._kind = "zero-gram" if order == 0 else f"{model.order}-gram"
        self._graph = graph(words, model, self._model.states)

    @property
    def name(self) -> str:
        name = self.folder.resolve().name
        return f"{name}, phones with {self._kind} of {len(self._graph.words)} words"

    @functools.cached_property
    def identity(self) -> str:  # type: ignore[override]
        """Digest of weights, search, lexicon and language model."""
        weights = fingerprint(self._model.net.state_dict())
        return f"{self.name} {digest_of(weights, self._search, *self._model_files)}"

    def transcribe(self, recordings: Sequence[Recording]) -> list[str]:
        return [self._recognise(checked(x, i)) for i, x in enumerate(recordings)]

    def phones(self, recordings: Sequence[Recording]) -> list[list[str]]:
        """Phones of each recording, recognised without lexicon and language model."""
        return PhoneLoop.of_config(self._model, self._config).phones(recordings)

    def close(self) -> None:
        """Does nothing: there is no resource to release."""

    def _recognise(self, samples: Recording) -> str:
        if len(samples) < SHORTEST:
            return ""
        frames = self._likelihoods(samples)
        return " ".join(best(self._graph, frames, self._search.weight, self._search.bonus))

    def _likelihoods(self, samples: Recording) -> np.ndarray:
        """Log-likelihoods ``[frame, state]``, up to a constant of each frame."""
        log_probs = self._model.log_probs(torch.from_numpy(samples))
        return log_probs - self._search.priors * self._model.priors


def cut(model: grams.NGram, words: Mapping[str, object], order: int | None) -> grams.NGram:
    """An n-gram model reduced to its unigram or to uniform probabilities.

    Args:
        model: of words.
        words: of the lexicon, for uniform probabilities.
        order: 0, 1, or None for the model as it is.
    """
    if order is None or order >= model.order:
        return model
    if order == 0:
        return uniform(sorted(set(words) & model.units))
    if order > 1:
        raise VoicenymError(f"an n-gram can be cut to 0 or 1, not {order}; train another one")
    return grams.NGram(1, {g: p for g, p in model.log_probs.items() if len(g) == 1}, {})


def attach(
    folder: Path,
    texts: Iterable[str],
    lexicon: Lexicon,
    held_out: Sequence[tuple[np.ndarray, str]],
    order: int = 2,
    *,
    say: Callable[[str], None] = lambda text: None,
) -> float:
    """Add a lexicon and an n-gram model to a phone network's folder; tune its weight.

    Args:
        folder: that :meth:`~voicenym.nets.words.phone_states.phone_model.PhoneModel.save` wrote.
        texts: to train the n-gram model on, not normalised.
        lexicon: pronunciations of their words; words that it lacks cannot be recognised.
        held_out: samples ``[time]`` at 16 kHz and texts that are not among these.
        order: of the n-gram.
        say: receives progress messages.

    Returns:
        The word error rate in percent with the weight and bonus that have the fewest errors.

    Raises:
        VoicenymError: no texts, or no word of them in the lexicon.
    """
    model, _ = PhoneModel.load(folder)
    ngram = grams.train([grams.words(normalise(text)) for text in texts], order)
    words = {word: ways for word, ways in lexicon.items() if word in ngram.units}
    write_inside(folder / LEXICON, write_lexicon(words, words))
    write_inside(folder / NGRAM, write_arpa(ngram))
    paths = graph(words, ngram, model.states)
    inputs = [model.log_probs(torch.from_numpy(x)) for x, _ in held_out]
    references = [text for _, text in held_out]

    def errors(how: Search) -> float:
        likely = (frames - how.priors * model.priors for frames in inputs)
        found = [" ".join(best(paths, frames, how.weight, how.bonus)) for frames in likely]
        return 100.0 * word_errors(references, found).value

    # one after the other, since each trial is a search through all of it
    chosen, tried = Search(), dict[Search, float]()
    turns = (("bonus", BONUSES), ("weight", WEIGHTS), ("priors", PRIORS), ("bonus", BONUSES))
    for field, values in turns:
        some = [dataclasses.replace(chosen, **{field: value}) for value in values]
        tried |= {how: errors(how) for how in some if how not in tried}
        chosen = min(tried, key=lambda how: tried[how])
    say(
        f"{order}-gram of {len(paths.words)} words: WER {tried[chosen]:.1f} % with weight "
        f"{chosen.weight:g}, bonus {chosen.bonus:g} and priors {chosen.priors:g}"
    )
    note(folder, search=dataclasses.asdict(chosen))
    return tried[chosen]
