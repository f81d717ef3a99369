import sys

import pytest

from voicenym.errors import DependencyError, UnmeasurableError
from voicenym.metrics import normalise, word_errors
from voicenym.metrics.intervals.binomial import wilson

pytest.importorskip("jiwer")


@pytest.mark.parametrize(
    ("reference", "hypothesis", "substitutions", "deletions", "insertions"),
    [
        ("a b c", "a b c", 0, 0, 0),
        ("a b c", "a x c", 1, 0, 0),
        ("a b c", "a c", 0, 1, 0),
        ("a b c", "a b d c", 0, 0, 1),
        ("a b c", "", 0, 3, 0),
        ("a b", "x y z w", 2, 0, 2),
    ],
)
def test_each_kind_of_error_by_hand(reference, hypothesis, substitutions, deletions, insertions):
    found = word_errors([reference], [hypothesis])
    assert (found.substitutions, found.deletions, found.insertions) == (
        substitutions,
        deletions,
        insertions,
    )
    length = len(reference.split())
    assert found.value == pytest.approx((substitutions + deletions + insertions) / length)
    assert found.interval is None


def test_errors_are_added_up_before_they_are_divided():
    found = word_errors(["a", "b c d e"], ["x", "b c d e"])
    assert found.value == pytest.approx(1 / 5)
    assert found.length == 5


def test_words_without_reference_are_insertions():
    found = word_errors(["", "a b"], ["x y", "a b"])
    assert (found.insertions, found.value) == (2, 1.0)
    with pytest.raises(ValueError, match="no words"):
        word_errors([""], ["x"])
    with pytest.raises(ValueError, match="1 reference but 2 hypotheses"):
        word_errors(["a"], ["a", "b"])
    with pytest.raises(ValueError, match="2 references but 1 speaker"):
        word_errors(["a", "b"], ["a", "b"], ["x"])


def test_characters_are_counted_in_place_of_words():
    found = word_errors(["ab cd"], ["ab xd"], characters=True)
    assert (found.value, found.length) == (0.25, 4)


def test_interval_over_speakers_holds_the_rate_and_is_wider_with_one_bad_speaker():
    references = ["a b c d"] * 40
    transcripts = ["a b c d"] * 20 + ["x y z w"] * 20
    mixed = word_errors(references, transcripts, [str(i % 10) for i in range(40)])
    split = word_errors(references, transcripts, [str(i // 20 * 5 + i % 5) for i in range(40)])
    assert mixed.interval == (0.5, 0.5)
    assert split.interval[0] <= 0.2
    assert split.interval[1] >= 0.8


def test_no_errors_of_few_speakers_are_compatible_with_some():
    found = word_errors(["please call"] * 8, ["please call"] * 8, list("abcdefgh"))
    assert found.value == 0.0
    assert found.interval == (0.0, wilson(0, 8, 0.95)[1])
    assert found.by_kind == (found.interval,) * 3


def test_interval_is_that_of_a_ratio_of_sums():
    """One who says little is drawn as often as one who says much, but counts for less."""
    references, transcripts = ["a", *["a " * 99] * 4], ["x", *["a " * 99] * 4]
    low, high = word_errors(references, transcripts, list("pqrst")).interval
    assert low == 0.0
    assert 2 / 299 <= high <= 1.0
    assert word_errors(references, transcripts, list("pqrss")).interval is None, "four speakers"


def test_each_kind_of_error_has_an_interval_of_its_own():
    """One speaker is misheard, another is cut short, a third is put words in the mouth."""
    references = ["a b"] * 6
    found = word_errors(references, ["a x", "a", "a b c"] * 2, list("pqrstu"))
    assert (found.substitutions, found.deletions, found.insertions) == (2, 2, 2)
    assert all(0.0 <= low < 1 / 6 < high <= 0.5 for low, high in found.by_kind)
    assert found.interval == (0.5, 0.5), "each makes one error"
    assert word_errors(references, references).by_kind is None


def test_the_order_of_texts_and_the_seed_change_nothing():
    references = ["a b c", "d e", "f", "g h i j", "k", "l"]
    transcripts, people = ["a b", "d x", "f", "g h i j k", "k", "l"], list("pqprst")
    found = word_errors(references, transcripts, people)
    turned = word_errors(references[::-1], transcripts[::-1], people[::-1])
    assert turned == found == word_errors(references, transcripts, people)


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jiwer", None)
    with pytest.raises(DependencyError, match=r"pip install 'voicenym\[evaluate\]'"):
        word_errors(["a b"], ["a c"])


def test_normalisation_is_as_documented():
    assert normalise("ＦＵＬＬ-width, naïve; it's 2 o'clock!") == "full width naïve it's 2 o'clock"
    assert normalise("'quoted' don’t") == "quoted don't"
    assert normalise("snake_case soft\u00adhyphen") == "snake case softhyphen"
    assert normalise("two\u200bwords") == "two words"
    assert normalise("İzmir") == normalise("i̇zmir")
    for text in ("हिन्दी भाषा", "ภาษาไทย ที่นี่"):
        assert normalise(text + "!").split() == text.split(), "vowels that are marks part no words"
    assert word_errors(["Please, call Stella."], ["please call stella"]).value == 0.0


def test_texts_are_lists():
    """Of one text, each character would be an utterance."""
    for given in (("a b", ["a b"]), (["a b"], "a b"), ("a b", "a c")):
        with pytest.raises(UnmeasurableError, match="lists of texts, not one text"):
            word_errors(*given)
