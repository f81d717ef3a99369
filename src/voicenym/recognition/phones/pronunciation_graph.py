"""The decoding graph: pronunciations and an n-gram model as one graph of phones.

Each context of the n-gram model has a prefix tree of the words that are listed after it; words that
are not listed are in the tree of a shorter context, which the back-off weight leads to, as in a
weighted automaton (Mohri, Pereira and Riley, "Weighted finite-state transducers in speech
recognition", 2002). Silence may follow every word.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from voicenym.errors import VoicenymError
from voicenym.nets.words.phones import States
from voicenym.recognition.language_models.ngram import END, START, UNKNOWN, Gram, NGram

ROOT = -1
"""Parent of the first phone of a word."""


@dataclass(frozen=True)
class Level:
    """Contexts of one length, and their back-off contexts.

    Args:
        sources: contexts, ``[context]``, grouped by target.
        cost: natural logarithms of back-offs, ``[context]``.
        offsets: first index in ``sources`` of each target.
        targets: shorter contexts.
    """

    sources: np.ndarray
    cost: np.ndarray
    offsets: np.ndarray
    targets: np.ndarray


@dataclass(frozen=True)
class Graph:
    """The graph; its nodes, called places, are phones within prefix trees, numbered consecutively.

    Args:
        words: by number.
        contexts: of the n-gram model, by number.
        state: of the earlier part of each place's phone, ``[place]``; the later part's is the next.
        parent: the preceding place, ``[place]``, or :data:`ROOT`.
        context: of the place's tree, ``[place]``.
        ends: places at which words end, ``[end]``, grouped by ``following``.
        word: that ends there, ``[end]``.
        chance: natural logarithm of the word's probability in its context, ``[end]``.
        offsets: first index in ``ends`` of each of ``following``.
        following: contexts after words.
        levels: back-offs, from the longest contexts on.
        start: context of the empty text.
        final: natural logarithms of the text's end after each context, ``[context]``.
    """

    words: tuple[str, ...]
    contexts: tuple[Gram, ...]
    state: np.ndarray
    parent: np.ndarray
    context: np.ndarray
    ends: np.ndarray
    word: np.ndarray
    chance: np.ndarray
    offsets: np.ndarray
    following: np.ndarray
    levels: tuple[Level, ...]
    start: int
    final: np.ndarray


def graph(lexicon: Mapping[str, Sequence[str]], ngram: NGram, states: States) -> Graph:
    """The graph of the words that both the lexicon and the n-gram model contain.

    Args:
        lexicon: pronunciations of words, as phones with spaces between.
        ngram: of words.
        states: of the phones.

    Raises:
        VoicenymError: no word in common, or a phone that is none of these.
    """
    listed: dict[Gram, list[str]] = {(): []}
    for gram in ngram.log_probs:
        if gram[-1] in lexicon and gram[-1] not in (START, END, UNKNOWN):
            listed.setdefault(gram[:-1], []).append(gram[-1])
    if not listed[()]:
        raise VoicenymError(
            "the language model and the lexicon have no word in common; give a lexicon of its words"
        )
    start = ngram.context((START,))
    after = {
        (*left, word): ngram.context((*left, word))
        for left, followers in listed.items()
        for word in followers
    }
    contexts = {*listed, *after.values(), start}
    while more := {left[1:] for left in contexts if left} - contexts:
        contexts |= more
    ordered = sorted(contexts)
    number = {left: i for i, left in enumerate(ordered)}
    words = sorted(listed[()])
    numbered = {word: i for i, word in enumerate(words)}

    places: list[tuple[int, int, int]] = []
    ends: list[tuple[int, int, int, float]] = []
    for left, followers in sorted(listed.items()):
        tree: dict[tuple[int, int], int] = {}
        for word in sorted(followers):
            following = number[after[(*left, word)]]
            chance = ngram.log_probs[(*left, word)]
            for place in {_grown(way, tree, places, number[left], states) for way in lexicon[word]}:
                ends.append((following, place, numbered[word], chance))
    ends.sort()
    state, parent, context = (np.array(column) for column in zip(*places, strict=True))
    leads, ended, ended_words, chances = (np.array(column) for column in zip(*ends, strict=True))
    offsets = np.flatnonzero(np.diff(leads, prepend=-1))
    levels = []
    for length in range(max(map(len, ordered)), 0, -1):
        pairs = sorted((number[c[1:]], number[c]) for c in ordered if len(c) == length)
        targets = [target for target, _ in groupby(pairs, key=lambda pair: pair[0])]
        column = np.array([pair[0] for pair in pairs])
        costs = [ngram.back_offs.get(ordered[source], 0.0) for _, source in pairs]
        levels.append(
            Level(
                np.array([source for _, source in pairs]),
                np.array(costs, dtype=np.float32),
                np.flatnonzero(np.diff(column, prepend=-1)),
                np.array(targets),
            )
        )
    return Graph(
        tuple(words),
        tuple(ordered),
        state,
        parent,
        context,
        ended,
        ended_words,
        chances.astype(np.float32),
        offsets,
        leads[offsets],
        tuple(levels),
        number[start],
        np.array([ngram.log_prob(END, left) for left in ordered], dtype=np.float32),
    )


def _grown(
    way: str,
    tree: dict[tuple[int, int], int],
    places: list[tuple[int, int, int]],
    context: int,
    states: States,
) -> int:
    """The last place of a pronunciation; adds the places that the tree lacks."""
    place = ROOT
    for phone in way.split():
        try:
            state = states.first(phone)
        except KeyError:
            raise VoicenymError(
                f"pronunciation {way!r}: {phone} is none of the phones that this recogniser knows: "
                f"{' '.join(states.phones)}"
            ) from None
        key = (place, state)
        if key not in tree:
            tree[key] = len(places)
            places.append((state, place, context))
        place = tree[key]
    return place


def uniform(words: Sequence[str]) -> NGram:
    """A zero-gram: uniform probabilities of words and the end.

    >>> round(math.exp(uniform(["a", "b"]).log_prob("b", ["a"])), 3)
    0.333
    """
    chance = -math.log(len(words) + 1)
    return NGram(1, {(word,): chance for word in [*words, END]}, {})
