"""Viterbi search against all paths, and known texts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from voicenym.nets.words.phone_states.phones import States
from voicenym.recognition.language_models.ngram import END, START, train
from voicenym.recognition.phones.pronunciation_graph import graph, uniform
from voicenym.recognition.phones.viterbi import best

STATES = States(("A", "B", "C"))
LEXICON = {"a": ["A"], "ab": ["A B"], "cab": ["C A B", "C B"], "bc": ["B C"]}
TEXTS = [["a", "cab"], ["ab", "bc"], ["a", "bc", "ab"], ["cab", "a"], ["bc"], ["a", "cab", "bc"]]


def spellings(text):
    """Every sequence of states in which each occurs at least once, silence wherever it may be."""
    for ways in itertools.product(*(LEXICON[word] for word in text)):
        phones = [[STATES.first(p) for p in way.split()] for way in ways]
        for quiet in itertools.product((False, True), repeat=len(text) + 1):
            parts = [[0]] if quiet[0] else []
            for word, after in zip(phones, quiet[1:], strict=True):
                parts += [[state] for state in word] + ([[0]] if after else [])
            choices = [[p, [p[0], p[0] + 1]] if p[0] else [p] for p in parts]
            for chosen in itertools.product(*choices):
                yield [state for part in chosen for state in part]


def acoustic(frames, path):
    """Score of the best way to spend the frames on a sequence of states."""
    if not len(path):
        return 0.0 if not len(frames) else -np.inf
    score = np.full(len(path), -np.inf)
    score[0] = frames[0][path[0]]
    for frame in frames[1:]:
        score = np.maximum(score, np.concatenate([[-np.inf], score[:-1]])) + frame[path]
    return score[-1]


def plausible(model, text):
    """Score of a text in the graph: where a back-off is better than what is listed, it counts."""
    states = {model.context((START,)): 0.0}
    for word in [*text, END]:
        grown = {}
        for left, total in states.items():
            while True:
                if word == END:
                    grown[()] = max(grown.get((), -np.inf), total + model.log_prob(END, left))
                    break
                if (*left, word) in model.log_probs:
                    following = model.context((*left, word))
                    score = total + model.log_probs[(*left, word)]
                    grown[following] = max(grown.get(following, -np.inf), score)
                if not left:
                    break
                total, left = total + model.back_offs.get(left, 0.0), left[1:]
        states = grown
    return max(states.values())


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("weight", [0.3, 1.0])
def test_the_best_path_is_the_best_of_all(order, weight):
    rng = np.random.default_rng(order)
    model = train(TEXTS, order, "witten-bell")
    paths = graph(LEXICON, model, STATES)
    texts = [t for n in range(3) for t in itertools.product(sorted(LEXICON), repeat=n)]
    every = {text: [np.array(s) for s in spellings(text)] for text in texts}
    for count in (2, 4, 5):
        frames = rng.normal(0.0, 2.0, (count, len(STATES)))
        scores = {}
        for text in texts:
            fitting = [path for path in every[text] if len(path) <= count]
            transcripts = max((acoustic(frames, path) for path in fitting), default=-np.inf)
            scores[text] = transcripts + weight * plausible(model, text) + 0.5 * len(text)
        assert best(paths, frames, weight, 0.5) == list(max(scores, key=scores.__getitem__))


def spoken(*words):
    """Frames in which words are said slowly, with a pause after each, somewhat unclearly."""
    rng = np.random.default_rng(3)
    states = [0]
    for word in words:
        for phone in LEXICON[word][-1].split():
            first = STATES.first(phone)
            states += [first, first, first + 1]
        states += [0, 0]
    frames = rng.normal(0.0, 0.5, (len(states), len(STATES)))
    frames[np.arange(len(states)), states] += 4.0
    return frames


def test_words_are_recognised_with_and_without_knowledge_of_texts():
    stated = ["a", "cab", "bc", "ab"]
    for model in (uniform(sorted(LEXICON)), train(TEXTS, 2, "witten-bell")):
        assert best(graph(LEXICON, model, STATES), spoken(*stated)) == stated


def test_what_sounds_alike_is_what_is_likelier():
    lexicon = {"two": ["A B"], "too": ["A B"], "me": ["C"]}
    model = train([["me", "too"]] * 3 + [["two", "me"]] * 3, 2, "witten-bell")
    paths = graph(lexicon, model, STATES)
    frames = np.full((9, len(STATES)), -9.0)
    for i, state in enumerate([5, 6, 0, 1, 1, 2, 3, 3, 4]):
        frames[i, state] = 0.0
    assert best(paths, frames) == ["me", "too"]
    assert best(paths, np.concatenate([frames[3:], frames[:3]])) == ["two", "me"]


def test_too_few_frames_for_any_word_are_no_text():
    paths = graph({"bcab": ["B C A B"]}, train([["bcab"]], 1, "witten-bell"), STATES)
    assert best(paths, np.zeros((3, len(STATES)))) == []
    assert best(paths, np.zeros((0, len(STATES)))) == []
