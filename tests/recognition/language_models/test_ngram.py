"""N-grams: probabilities sum to one after every context, and are those of the formulas."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicenym.errors import VoicenymError
from voicenym.recognition.language_models.ngram import END, START, UNKNOWN, characters, train, words

TEXTS = [words(t) for t in ("a cat saw a dog", "the dog saw the cat", "a dog saw", "cat cat cat")]
SMOOTHINGS = ["kneser-ney", "witten-bell"]


def contexts(model, length):
    units = sorted(model.units - {END})
    for size in range(length + 1):
        yield from product([START, *units, "never-seen"], repeat=size)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_probabilities_sum_to_one_after_any_context(order, smoothing):
    model = train(TEXTS, order, smoothing)
    assert model.units == {"a", "cat", "dog", "saw", "the", END, UNKNOWN}
    for context in contexts(model, min(order, 2)):
        total = sum(math.exp(model.log_prob(unit, context)) for unit in model.units)
        assert math.isclose(total, 1.0, rel_tol=1e-9), context


@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), min_size=1, max_size=8),
    st.integers(1, 4),
    st.sampled_from(SMOOTHINGS),
)
@settings(max_examples=60, deadline=None)
def test_they_do_for_any_texts(texts, order, smoothing):
    model = train(texts, order, smoothing)
    for text in texts:
        for at in range(len(text) + 1):
            context = (START, *text[:at])
            total = sum(math.exp(model.log_prob(unit, context)) for unit in model.units)
            assert math.isclose(total, 1.0, rel_tol=1e-9)


def test_a_kneser_ney_bigram_by_hand():
    model = train(TEXTS, 2, "kneser-ney")
    # bigrams: 14 kinds; "dog saw" occurs twice, "cat cat" twice, "<s> a" twice, others once
    twos = [tuple(p) for t in TEXTS for p in zip([START, *t], [*t, END], strict=True)]
    once = sum(twos.count(pair) == 1 for pair in set(twos))
    twice = sum(twos.count(pair) == 2 for pair in set(twos))
    discount = once / (once + 2 * twice)
    kinds = {unit: len({a for a, b in twos if b == unit}) for unit in model.units}
    ones = sum(count == 1 for count in kinds.values())
    pairs = sum(count == 2 for count in kinds.values())
    lower = ones / (ones + 2 * pairs) if ones else 0.1
    lower = min(max(lower, 0.1), 0.9)
    total = sum(kinds.values())
    seen = sum(count > 0 for count in kinds.values())

    def one(unit):
        left = max(kinds[unit] - lower, 0.0) / total
        return left + lower * seen / total / len(model.units)

    after = [b for a, b in twos if a == "dog"]
    spread = discount * len(set(after)) / len(after)
    wanted = (after.count("saw") - discount) / len(after) + spread * one("saw")
    assert math.isclose(math.exp(model.log_prob("saw", ["dog"])), wanted, rel_tol=1e-9)
    assert math.isclose(math.exp(model.log_prob("a", ["dog"])), spread * one("a"), rel_tol=1e-9)


def test_a_witten_bell_bigram_by_hand():
    model = train([["a", "b"], ["a", "c"], ["a", "b"]], 2, "witten-bell")
    # unigrams: a 3, b 2, c 1, </s> 3; uniform over these and the unknown
    one = (2 + 4 * 0.2) / (9 + 4)
    assert math.isclose(math.exp(model.log_prob("b", ["a"])), (2 + 2 * one) / (3 + 2))


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_what_was_seen_is_likelier_and_its_perplexity_lower(smoothing):
    model = train(TEXTS, 3, smoothing)
    assert model.sentence(words("a dog saw")) > model.sentence(words("saw dog a"))
    assert model.perplexity(TEXTS) < train(TEXTS, 1, smoothing).perplexity(TEXTS)
    assert math.isfinite(model.sentence(words("a zebra saw a dog")))


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_texts_of_one_unit_and_one_character(smoothing):
    model = train([["x"]], 3, smoothing)
    assert math.isclose(sum(math.exp(model.log_prob(u, [START])) for u in model.units), 1.0)


def test_a_context_is_no_longer_than_matters():
    model = train(TEXTS, 3)
    assert model.context(words("a dog saw a dog")) == ("a", "dog")
    assert model.context(("zebra", "a")) == ("a",)
    long = [START, *words("the dog saw the")]
    assert model.log_prob("cat", long) == model.log_prob("cat", model.context(long))


def test_characters_keep_blanks_separate():
    assert characters("to be") == ["t", "o", "<space>", "b", "e"]


@pytest.mark.parametrize(
    ("texts", "order", "smoothing", "stated"),
    [
        ([], 2, "kneser-ney", "needs text"),
        ([[]], 2, "witten-bell", "needs text"),
        ([["a"]], 0, "kneser-ney", "order is 1"),
        ([["a"]], 2, "katz", "smoothing is"),
    ],
)
def test_what_makes_no_model_is_refused(texts, order, smoothing, stated):
    with pytest.raises(VoicenymError, match=stated):
        train(texts, order, smoothing)
