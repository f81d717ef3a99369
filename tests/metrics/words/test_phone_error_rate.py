"""Phone errors against a search through all alignments, and by hand."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from voicenym.metrics.metric_inputs import RecognisedPhones
from voicenym.metrics.words.phone_error_rate import DELETED_PHONES, PHONES, phone_counts, tally


def edits(reference, found):
    """Levenshtein's distance by its recursion."""

    @cache
    def of(i, j):
        if not i or not j:
            return i + j
        same = of(i - 1, j - 1) + (reference[i - 1] != found[j - 1])
        return min(same, of(i - 1, j) + 1, of(i, j - 1) + 1)

    return of(len(reference), len(found))


@pytest.mark.parametrize("seed", range(25))
def test_the_best_pronunciations_are_those_of_all_combinations(seed):
    rng = np.random.default_rng(seed)

    def drawn(most):
        return [str(p) for p in rng.choice(list("ABCD"), rng.integers(1, most))]

    words = [[" ".join(drawn(5)) for _ in range(rng.integers(1, 4))] for _ in range(3)]
    found = drawn(12) if seed else []
    tried = {}
    for ways in product(*words):
        reference = " ".join(ways).split()
        tried.setdefault(edits(reference, found), []).append(len(reference))
    s, d, i, length = phone_counts(words, found)
    assert s + d + i == min(tried)
    assert length == max(tried[min(tried)])
    assert length - d + i == len(found)
    assert min(s, d, i) >= 0


def test_counts_by_hand():
    cat = [["DH AH", "DH IY"], ["K AE T"]]
    assert phone_counts(cat, ["DH", "IY", "K", "AE", "T"]) == (0, 0, 0, 5)
    assert phone_counts(cat, []) == (0, 5, 0, 5)
    assert phone_counts(cat, ["DH", "AH", "K", "T"]) == (0, 1, 0, 5)
    assert phone_counts(cat, ["DH", "AH", "K", "AH", "T", "T"]) == (1, 0, 1, 5)
    assert phone_counts([], ["AH"]) == (0, 0, 1, 0)
    with pytest.raises(ValueError, match="no pronunciation"):
        phone_counts([[]], ["AH"])


def test_the_rate_is_of_all_phones_with_an_interval_over_speakers():
    words = [["K AE T"]]
    phones = RecognisedPhones(
        [words] * 6, [["K", "AE", "T"], ["K"], ["K", "AE", "T", "S"]] * 2,
        list("abcdef"), list("uvwxyz"), replicates=200,
    )  # fmt: skip
    found = PHONES(phones)
    assert found.value == pytest.approx(100 * 6 / 18)
    assert found.low < found.value < found.high
    assert DELETED_PHONES(phones).value == pytest.approx(100 * 4 / 18)
    assert tally(phones).above.tolist() == [0, 2, 1] * 2
    with pytest.raises(ValueError, match="no phones"):
        PHONES(RecognisedPhones([[]], [["K"]], ["a"], ["x"]))
