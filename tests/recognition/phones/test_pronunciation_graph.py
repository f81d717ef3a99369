"""The graph of words: trees that share beginnings, contexts that back off."""

from __future__ import annotations

import math

import numpy as np
import pytest

from voicenym.errors import VoicenymError
from voicenym.nets.words.phone_states.phones import States
from voicenym.recognition.language_models.ngram import END, START, UNKNOWN, train
from voicenym.recognition.phones.pronunciation_graph import ROOT, graph, uniform

STATES = States(("A", "B", "C"))
LEXICON = {"a": ["A"], "ab": ["A B"], "abc": ["A B C", "A C"], "never": ["C"]}


def test_words_share_their_beginnings():
    flat = graph(LEXICON, train([["a", "ab", "abc"]], 1, "witten-bell"), STATES)
    assert flat.words == ("a", "ab", "abc")
    # A; A B; A B C and A C
    assert len(flat.state) == 4
    assert (flat.parent == ROOT).sum() == 1
    assert len(flat.ends) == 4
    assert flat.contexts == ((),)
    assert not flat.levels


@pytest.mark.parametrize("order", [1, 2, 3])
def test_every_context_has_the_words_that_are_listed_after_it(order):
    texts = [["a", "ab", "glorp"], ["ab", "abc", "a"], ["a", "abc"]]
    model = train(texts, order, "witten-bell")
    found = graph(LEXICON, model, STATES)
    listed = {}
    for end, word, chance in zip(found.ends, found.word, found.chance, strict=True):
        left = found.contexts[found.context[end]]
        listed[(*left, found.words[word])] = chance
    expected = {
        gram: value
        for gram, value in model.log_probs.items()
        if gram[-1] not in (START, END, UNKNOWN, "glorp")
    }
    assert listed.keys() == expected.keys()
    for gram, value in expected.items():
        assert listed[gram] == pytest.approx(value, rel=1e-5)
    # whoever reaches a context by a word comes to the state that the n-gram has there
    counts = np.diff(found.offsets, append=len(found.ends))
    for end, word, following in zip(
        found.ends, found.word, np.repeat(found.following, counts), strict=True
    ):
        left = found.contexts[found.context[end]]
        assert found.contexts[following] == model.context((*left, found.words[word]))
    assert found.contexts[found.start] == model.context((START,))
    # each context but the empty one backs off to one that is shorter by a word
    targets = {}
    for level in found.levels:
        counts = np.diff(level.offsets, append=len(level.sources))
        for source, target in zip(level.sources, np.repeat(level.targets, counts), strict=True):
            targets[found.contexts[source]] = found.contexts[target]
    assert targets == {left: left[1:] for left in found.contexts if left}
    ends = [model.log_prob(END, left) for left in found.contexts]
    np.testing.assert_allclose(found.final, ends, rtol=1e-5)


def test_words_without_pronunciation_are_no_part():
    with pytest.raises(VoicenymError, match="no word in common"):
        graph({"x": ["A"]}, train([["a"]], 1), STATES)
    with pytest.raises(VoicenymError, match="'A Q': Q is none of the phones"):
        graph({"a": ["A Q"]}, train([["a"]], 1, "witten-bell"), STATES)


def test_a_zero_gram_knows_nothing():
    model = uniform(["a", "b", "c"])
    for word in ("a", "b", "c", END):
        assert model.log_prob(word, ("a",)) == pytest.approx(math.log(1 / 4))
