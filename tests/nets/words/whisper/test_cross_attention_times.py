"""Times of words by cross-attention: a monotonic path, and words of tokens."""

from itertools import combinations, pairwise

import numpy as np
import pytest
import tiny_whisper
import torch
from hypothesis import given
from hypothesis import strategies as st

from voicenym.nets.words.whisper.cross_attention_times import path, timed_words
from voicenym.nets.words.whisper.whisper_vocabulary import BLANK, Vocabulary


def best_by_trying(weights: np.ndarray) -> float:
    """Largest sum over all monotonic paths that cover every row."""
    rows, columns = weights.shape
    return max(
        sum(weights[row, a:b].sum() for row, (a, b) in enumerate(pairwise((0, *cut, columns))))
        for cut in combinations(range(1, columns), rows - 1)
    )


@given(st.integers(1, 4), st.integers(0, 4), st.integers(0, 10**6))
def test_the_path_is_the_best_of_all(rows, more, seed):
    weights = np.random.default_rng(seed).normal(size=(rows, rows + more))
    starts = path(weights)
    assert starts[0] == 0
    assert np.all(np.diff(starts) > 0)
    ends = [*starts[1:], weights.shape[1]]
    total = sum(weights[r, a:b].sum() for r, (a, b) in enumerate(zip(starts, ends, strict=True)))
    assert total == pytest.approx(best_by_trying(weights))


def test_more_rows_than_columns_share_the_last():
    starts = path(np.ones((5, 3)))
    assert len(starts) == 5
    assert np.all(np.diff(starts) >= 0)
    assert starts.max() <= 2


def test_words_are_in_order_and_within_the_sound(tmp_path):
    network = tiny_whisper.network()
    tiny_whisper.write(network, tmp_path)
    known = Vocabulary(tmp_path / "tokenizer.json")
    letters = [*"one", BLANK, *"two.", BLANK, *"three"]
    tokens = [tiny_whisper.BYTES[letter] for letter in letters]
    states = network.states(torch.randn(1, 16_000))
    words = timed_words(network, known, states, tokens, tiny_whisper.WRITING, 0.8)
    assert [word.text for word in words] == ["one", "two.", "three"]
    assert [word.tokens for word in words] == [3, 5, 6]
    times = [time for word in words for time in (word.start, word.end)]
    assert times == sorted(times)
    assert times[0] == 0.0
    assert times[-1] <= 0.8
    assert all(word.log_prob < 0.0 for word in words)
    assert timed_words(network, known, states, [], tiny_whisper.WRITING, 0.8) == []


def test_certain_words_have_a_probability_of_nearly_one(tmp_path):
    token = tiny_whisper.BYTES["a"]
    network = tiny_whisper.always(tiny_whisper.network(), {token: 50.0})
    tiny_whisper.write(network, tmp_path)
    known = Vocabulary(tmp_path / "tokenizer.json")
    states = network.states(torch.randn(1, 16_000))
    (sure,) = timed_words(network, known, states, [token], tiny_whisper.WRITING, 1.0)
    other = tiny_whisper.BYTES["b"]
    (unsure,) = timed_words(network, known, states, [other], tiny_whisper.WRITING, 1.0)
    assert sure.log_prob > -0.01 > -10.0 > unsure.log_prob
