"""The decoding graph: pronunciations and an n-gram model as one graph of phones.

Each context of the n-gram model has a prefix tree of the words that are listed after it; words that
are not listed are in the tree of a shorter context, which the back-off weight leads to, as in a
weighted automaton (Mohri, Pereira and Riley, "Weighted finite-state transducers in speech
recognition", 2002). Silence may follow every word.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.errors import VoicenymError
from voicenym.nets.words.phone_states.phones import States
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
    followers = _followers(lexicon, ngram)
    words = sorted(followers[()])
    start = ngram.context((START,))
    contexts = _contexts(followers, ngram, start)
    number = {left: i for i, left in enumerate(contexts)}
    places, ends = _trees(lexicon, ngram, states, followers, number)
    state, parent, context = (np.array(column) for column in zip(*places, strict=True))
    leads, ended, ended_words, chances = (np.array(column) for column in zip(*ends, strict=True))
    offsets = np.flatnonzero(np.diff(leads, prepend=-1))
    return Graph(
        words=tuple(words),
        contexts=tuple(contexts),
        state=state,
        parent=parent,
        context=context,
        ends=ended,
        word=ended_words,
        chance=chances.astype(np.float32),
        offsets=offsets,
        following=leads[offsets],
        levels=tuple(_levels(contexts, number, ngram)),
        start=number[start],
        final=np.array([ngram.log_prob(END, left) for left in contexts], dtype=np.float32),
    )


def _followers(lexicon: Mapping[str, Sequence[str]], ngram: NGram) -> dict[Gram, list[str]]:
    """Words of the lexicon that are listed after each context of the n-gram model.

    Raises:
        VoicenymError: no word in common.
    """
    listed: dict[Gram, list[str]] = {(): []}
    for gram in ngram.log_probs:
        if gram[-1] in lexicon and gram[-1] not in (START, END, UNKNOWN):
            listed.setdefault(gram[:-1], []).append(gram[-1])
    if not listed[()]:
        raise VoicenymError(
            "the language model and the lexicon have no word in common; give a lexicon of its words"
        )
    return listed


def _contexts(followers: Mapping[Gram, Sequence[str]], ngram: NGram, start: Gram) -> list[Gram]:
    """Contexts in which words are listed, those after a word, and all that they back off to."""
    contexts = {*followers, start}
    contexts |= {
        ngram.context((*left, word)) for left, words in followers.items() for word in words
    }
    while more := {left[1:] for left in contexts if left} - contexts:
        contexts |= more
    return sorted(contexts)


def _trees(
    lexicon: Mapping[str, Sequence[str]],
    ngram: NGram,
    states: States,
    followers: Mapping[Gram, Sequence[str]],
    number: Mapping[Gram, int],
) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int, float]]]:
    """A prefix tree of pronunciations for each context.

    Returns:
        Places, as state, parent and context; and ends of words, sorted, as following context,
        place, word and logarithm of its probability.

    Raises:
        VoicenymError: a phone that is none of the states'.
    """
    word_number = {word: i for i, word in enumerate(sorted(followers[()]))}
    places: list[tuple[int, int, int]] = []
    ends: list[tuple[int, int, int, float]] = []
    for left, words in sorted(followers.items()):
        tree: dict[tuple[int, int], int] = {}
        for word in sorted(words):
            following = number[ngram.context((*left, word))]
            chance = ngram.log_probs[(*left, word)]
            for place in {_grown(way, tree, places, number[left], states) for way in lexicon[word]}:
                ends.append((following, place, word_number[word], chance))
    return places, sorted(ends)


def _levels(contexts: Sequence[Gram], number: Mapping[Gram, int], ngram: NGram) -> Iterator[Level]:
    """Back-offs of each length of contexts, the longest first."""
    for length in range(max(map(len, contexts)), 0, -1):
        pairs = sorted((number[c[1:]], number[c]) for c in contexts if len(c) == length)
        targets, sources = (np.array(column) for column in zip(*pairs, strict=True))
        offsets = np.flatnonzero(np.diff(targets, prepend=-1))
        costs = [ngram.back_offs.get(contexts[source], 0.0) for source in sources]
        yield Level(sources, np.array(costs, dtype=np.float32), offsets, targets[offsets])


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
