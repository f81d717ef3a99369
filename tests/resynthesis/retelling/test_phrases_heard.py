"""Phrases become sentences at marks, at long pauses, and before they get too long."""

from voicenym.resynthesis.retelling.phrases_heard import LONGEST_SENTENCE, Phrase, sentences


def test_marks_and_long_pauses_end_sentences():
    given = [
        Phrase(0.0, 1.0, "I came,"), Phrase(1.4, 2.0, "and saw."), Phrase(2.3, 3.0, "Then"),
        Phrase(6.0, 7.0, "nothing?"), Phrase(7.1, 8.0, "No"),
    ]  # fmt: skip
    found = sentences(given, 1.0)
    assert [one.text for one in found] == ["I came, and saw.", "Then", "nothing?", "No"]
    assert (found[0].start, found[0].end) == (0.0, 2.0)
    assert [one.text for one in sentences(given, 5.0)][1] == "Then nothing?"


def test_no_word_is_lost_and_none_gets_too_long():
    given = [Phrase(i, i + 0.9, f"word{i}") for i in range(100)]
    found = sentences(given, 1.0)
    assert " ".join(one.text for one in found) == " ".join(one.text for one in given)
    assert len(found) > 1
    assert all(len(one.text) <= LONGEST_SENTENCE + 8 for one in found)
