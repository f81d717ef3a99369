"""Codes, against all of their words where these can be counted."""

import itertools
import math

import pytest

from voicenym.errors import UnknownSystemError
from voicenym.identity.code_words import code


@pytest.mark.parametrize(
    ("length", "bits", "distance"), [(16, 11, 4), (32, 21, 6), (64, 45, 8), (128, 64, 22)]
)
def test_sizes_are_those_of_the_tables(length, bits, distance):
    found = code(length)
    assert (found.bits, found.distance) == (bits, distance)
    assert found.cosine == 1 - 2 * distance / length


@pytest.mark.parametrize("length", [16, 32])
def test_the_lightest_word_has_the_promised_weight(length):
    """The code is linear: the least distance is the least weight, over all of its words."""
    rows = code(length).rows
    words = [0]
    for row in rows[:16]:
        words += [word ^ row for word in words]
    rest = [0]
    for row in rows[16:]:
        rest += [word ^ row for word in rest]
    lightest = min((a ^ b).bit_count() for a in words for b in rest if a ^ b)
    assert lightest == code(length).distance


@pytest.mark.parametrize("length", [64, 128])
def test_sums_of_few_generating_words_are_not_lighter_than_promised(length):
    found = code(length)
    for count in (1, 2, 3):
        for some in itertools.combinations(found.rows, count):
            word = 0
            for row in some:
                word ^= row
            assert word.bit_count() >= found.distance
            assert word.bit_count() % 2 == 0


def test_words_are_signs_and_numbers_name_them():
    found = code(64)
    one, other = found.word(5), found.word(2**44 + 5)
    assert set(one) == {1, -1}
    assert len(one) == 64
    assert sum(a * b for a, b in zip(one, other, strict=True)) <= 64 * found.cosine
    assert found.word(0) == [1] * 64


def test_how_likely_two_speakers_share_a_word():
    assert code(64).shared(10_000) == pytest.approx(math.comb(10_000, 2) / 2**45)
    assert code(128).shared(10_000) < 3e-12
    assert code(16).shared(100) == 1.0
    with pytest.raises(UnknownSystemError, match="16, 32, 64, 128"):
        code(63)
