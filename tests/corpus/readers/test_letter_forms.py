"""Names in both forms of letters with accents."""

import unicodedata

from voicenym.corpus.readers.letter_forms import both_forms, spelled_as

COMPOSED = "Jos\u00e9"
APART = unicodedata.normalize("NFD", COMPOSED)


def test_a_name_is_found_in_the_other_form_and_exactly_first():
    assert spelled_as([APART], [COMPOSED, "Ann"]) == {APART: COMPOSED}
    assert spelled_as([COMPOSED], [APART]) == {COMPOSED: APART}
    assert spelled_as([COMPOSED, APART], [COMPOSED, APART]) == {COMPOSED: COMPOSED, APART: APART}


def test_other_names_and_those_of_several_are_not_found():
    assert spelled_as(["Jose"], [COMPOSED]) == {}
    mixed = "s\u0323\u0307"
    known = [unicodedata.normalize("NFC", mixed), "s\u0307\u0323"]
    assert spelled_as([mixed], known) == {}
    assert spelled_as([], []) == {}


def test_both_forms_of_a_name():
    assert both_forms([COMPOSED, "Ann"]) == {COMPOSED, APART, "Ann"}
