"""CTC: against all paths of tiny cases."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product

import numpy as np
import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.words.ctc_networks.ctc import (
    Alphabet,
    collapse,
    frames_needed,
    greedy,
    loss,
    search,
)

FRAMES, TOKENS = 5, 4


def chances(seed: int, frames: int = FRAMES, peak: float = 1.0) -> np.ndarray:
    logits = torch.randn(frames, TOKENS, generator=torch.Generator().manual_seed(seed))
    return (peak * logits.double()).log_softmax(-1).numpy()


def every_text(log_probs: np.ndarray) -> dict[tuple[int, ...], float]:
    """Probability of each text: the sum over all of its paths."""
    found: defaultdict[tuple[int, ...], float] = defaultdict(float)
    for path in product(range(log_probs.shape[1]), repeat=len(log_probs)):
        found[collapse(path)] += math.exp(sum(log_probs[t, token] for t, token in enumerate(path)))
    return dict(found)


class Pairs:
    """A language model by hand: what a pair of neighbours adds, and what an end does."""

    def __init__(self, seed: int) -> None:
        self.table = np.random.default_rng(seed).normal(0, 2, (TOKENS, TOKENS))

    def start(self) -> int:
        return 0

    def step(self, state: int, token: int) -> tuple[float, int]:
        return float(self.table[state, token]), token

    def finish(self, state: int) -> float:
        return float(self.table[state, 0])

    def whole(self, text: tuple[int, ...]) -> float:
        return sum(self.table[a, b] for a, b in zip((0, *text), (*text, 0), strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_an_unlimited_search_adds_up_all_paths(seed):
    log_probs = chances(seed)
    wanted = every_text(log_probs)
    found = dict(search(log_probs, beam=10_000, least=-math.inf))
    assert set(found) == set(wanted)
    for text, score in found.items():
        assert math.isclose(math.exp(score), wanted[text], rel_tol=1e-9)
    assert math.isclose(sum(wanted.values()), 1.0, rel_tol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_scorer_weighs_every_text(seed):
    log_probs, pairs = chances(seed), Pairs(seed)
    wanted = {t: math.log(p) + pairs.whole(t) for t, p in every_text(log_probs).items()}
    found = search(log_probs, beam=10_000, least=-math.inf, scorer=pairs)
    assert found[0][0] == max(wanted, key=wanted.get)
    for text, score in found:
        assert math.isclose(score, wanted[text], rel_tol=1e-9)
    assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)


@pytest.mark.parametrize("seed", range(5))
def test_a_narrow_search_finds_the_best_where_frames_are_sure(seed):
    log_probs = chances(seed, peak=4.0)
    wanted = every_text(log_probs)
    text, score = search(log_probs, beam=4)[0]
    assert text == max(wanted, key=wanted.get)
    assert score <= math.log(wanted[text]) + 1e-9


@pytest.mark.parametrize("text", [(), (1,), (1, 1), (2, 3, 1)])
def test_the_loss_is_the_probability_of_all_paths(text):
    log_probs = chances(7)
    wanted = -math.log(every_text(log_probs)[text])
    found = loss(
        torch.from_numpy(log_probs)[None],
        torch.tensor([FRAMES]),
        torch.tensor([[*text, 0]]),
        torch.tensor([len(text)]),
    )
    assert math.isclose(found.item(), wanted, rel_tol=1e-4)


def test_the_loss_of_a_text_without_room_is_zero_and_others_are_as_alone():
    logits = torch.randn(2, 3, TOKENS)
    texts, sizes = torch.tensor([[1, 1, 1], [1, 2, 0]]), torch.tensor([3, 2])
    both = loss(logits, torch.tensor([3, 2]), texts, sizes)
    alone = loss(logits[1:, :2], torch.tensor([2]), texts[1:], sizes[1:])
    assert both[0] == 0
    torch.testing.assert_close(both[1], alone[0])
    assert frames_needed([1, 1, 1]) == 5 > 3


def test_greedy_merges_repetitions_within_each_length():
    paths = torch.tensor([[1, 1, 0, 1, 2, 3], [0, 2, 2, 3, 3, 3]])
    logits = torch.nn.functional.one_hot(paths, 4).float()
    assert greedy(logits, torch.tensor([6, 3])) == [(1, 1, 2, 3), (2,)]


def test_greedy_is_the_best_path_and_search_the_best_text():
    once = np.log([[0.4, 0.6, 1e-9], [0.6, 0.4, 1e-9]])
    assert greedy(torch.from_numpy(once)[None], torch.tensor([2])) == [(1,)]
    two = np.log([[0.6, 0.4, 1e-9], [0.6, 0.4, 1e-9]])
    assert greedy(torch.from_numpy(two)[None], torch.tensor([2])) == [()]
    assert search(two)[0][0] == (1,)


def test_no_frames_are_no_text():
    assert search(np.zeros((0, 3))) == [((), 0.0)]


def test_an_alphabet_goes_both_ways():
    alphabet = Alphabet.of(["please call", "stella"])
    assert alphabet.characters == " acelpst"
    assert len(alphabet) == 9
    assert alphabet.decode(alphabet.encode("stale place")) == "stale place"
    with pytest.raises(VoicenymError, match="'x'"):
        alphabet.encode("exit")


def test_alphabets_of_nothing_and_with_a_letter_twice_are_refused():
    with pytest.raises(VoicenymError, match="transcripts"):
        Alphabet.of(["", ""])
    with pytest.raises(ValueError, match="twice"):
        Alphabet("aba")
