"""Exact Viterbi search through a decoding graph, vectorised over the places of a frame.

Each frame is in the earlier or the later part of a phone or in silence; a phone lasts at least one
frame, in its earlier part. There is no pruning: numpy needs about a millisecond a frame for a graph
of some thousand words.
"""

from __future__ import annotations

import numpy as np

from voicenym.nets.words.phone_states.phones import QUIET
from voicenym.recognition.phones.pronunciation_graph import ROOT, Graph

NEVER = np.float32(-1e30)
NONE = -1
"""Link before the first word."""


def best(
    graph: Graph, likelihoods: np.ndarray, weight: float = 1.0, bonus: float = 0.0
) -> list[str]:
    """Words of the best path; empty if no path fits the number of frames.

    Args:
        graph: of words.
        likelihoods: ``[frame, state]``, natural logarithms, up to a constant of each frame.
        weight: of the n-gram model.
        bonus: added for each word.
    """
    search = _Search(graph, weight, bonus)
    for frame in np.asarray(likelihoods, dtype=np.float32):
        search.step(frame - frame.max())
    return search.words()


class _Search:
    """Best scores of all places at one frame, with back-pointers to words.

    A link is a word's end at a frame: ``time * contexts + context``; at this index, the arrays of
    that frame hold the word and the preceding link.
    """

    def __init__(self, graph: Graph, weight: float, bonus: float) -> None:
        self.graph = graph
        places, contexts = len(graph.state), len(graph.contexts)
        self.rooted = graph.parent == ROOT
        self.above = np.where(self.rooted, 0, graph.parent)
        self.chance = np.float32(weight) * graph.chance + np.float32(bonus)
        self.final = np.float32(weight) * graph.final
        self.costs = [np.float32(weight) * level.cost for level in graph.levels]
        counts = np.diff(graph.offsets, append=len(graph.ends))
        self.group = np.repeat(np.arange(len(counts)), counts)
        self.early = np.full(places, NEVER)
        self.late = np.full(places, NEVER)
        self.early_link = np.full(places, NONE)
        self.late_link = np.full(places, NONE)
        self.quiet = np.full(contexts, NEVER)
        self.quiet_link = np.full(contexts, NONE)
        self.reached = np.full(contexts, NEVER)  # by words that end, or silence after them
        self.reached[graph.start] = 0.0
        self.reached_link = np.full(contexts, NONE)
        self.ended: list[tuple[np.ndarray, np.ndarray]] = []

    def step(self, frame: np.ndarray) -> None:
        """Advance by one frame, ``[state]``."""
        graph = self.graph
        entry, entry_link = self._backed_off()
        # the best state of each phone, from which the next phone starts
        later = self.late > self.early
        phone = np.where(later, self.late, self.early)
        phone_link = np.where(later, self.late_link, self.early_link)
        begin = np.where(self.rooted, entry[graph.context], phone[self.above])
        begin_link = np.where(self.rooted, entry_link[graph.context], phone_link[self.above])
        self.late = phone + frame[graph.state + 1]
        self.late_link = phone_link
        stays = self.early >= begin
        self.early = np.where(stays, self.early, begin) + frame[graph.state]
        self.early_link = np.where(stays, self.early_link, begin_link)
        self.quiet = self.reached + frame[QUIET]  # silence is among what reaches
        self.quiet_link = self.reached_link
        self._end()

    def _backed_off(self) -> tuple[np.ndarray, np.ndarray]:
        """Scores ``[context]`` of word beginnings, including back-offs from longer contexts."""
        entry, link = self.reached.copy(), self.reached_link.copy()
        for level, cost in zip(self.graph.levels, self.costs, strict=True):
            scores = entry[level.sources] + cost
            first = _first_of_best(scores, level.offsets)
            better = scores[first] > entry[level.targets]
            entry[level.targets] = np.where(better, scores[first], entry[level.targets])
            source = link[level.sources[first]]
            link[level.targets] = np.where(better, source, link[level.targets])
        return entry, link

    def _end(self) -> None:
        """Propagate word ends, or the silence after them, to contexts."""
        graph = self.graph
        early, late = self.early[graph.ends], self.late[graph.ends]
        scores = np.maximum(early, late) + self.chance
        first = _first_of_best(scores, graph.offsets)
        place = graph.ends[first]
        later = late[first] > early[first]
        before = np.where(later, self.late_link[place], self.early_link[place])
        words = np.full(len(graph.contexts), NONE)
        links = np.full(len(graph.contexts), NONE)
        words[graph.following], links[graph.following] = graph.word[first], before
        time = len(self.ended)
        self.ended.append((words, links))
        self.reached, self.reached_link = self.quiet.copy(), self.quiet_link.copy()
        better = scores[first] > self.quiet[graph.following]
        where = graph.following[better]
        self.reached[where] = scores[first][better]
        self.reached_link[where] = time * len(graph.contexts) + where

    def words(self) -> list[str]:
        """Words of the best path that ends at this frame."""
        scores = self.reached + self.final
        context = int(scores.argmax())
        found: list[str] = []
        link = int(self.reached_link[context]) if scores[context] > NEVER / 2 else NONE
        while link != NONE:
            time, context = divmod(link, len(self.graph.contexts))
            words, links = self.ended[time]
            found.append(self.graph.words[int(words[context])])
            link = int(links[context])
        return found[::-1]


def _first_of_best(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Index of the greatest score of each group, the first of equals; groups begin at offsets."""
    greatest = np.maximum.reduceat(scores, offsets)
    counts = np.diff(offsets, append=len(scores))
    places = np.flatnonzero(scores >= np.repeat(greatest, counts))
    found: np.ndarray = places[np.searchsorted(places, offsets)]
    return found
