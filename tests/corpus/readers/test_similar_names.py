"""Names of speakers that look alike."""

from __future__ import annotations

import unicodedata

import pytest

from voicenym.corpus.readers.similar_names import FEW, report, similar_names

COMPOSED = unicodedata.normalize("NFC", "Müller")
DECOMPOSED = unicodedata.normalize("NFD", "Müller")


@pytest.mark.parametrize(
    "pair",
    [("anna", "Anna"), ("anna", "anna "), ("p 1", "p  1"), (COMPOSED, DECOMPOSED), ("ß", "SS")],
)
def test_names_that_look_alike_are_a_group(pair):
    assert similar_names([*pair, "bert"]) == [sorted(pair)]


def test_different_names_and_single_files_are_none():
    own = ("file/sha256:ab", "file/sha256:AB")
    assert similar_names(["p1", "p01", "Muller", COMPOSED, *own, "p1"]) == []


def test_forms_of_one_letter_are_told_apart_in_the_message():
    (line,) = report([COMPOSED, DECOMPOSED])
    assert r"'Mu\u0308ller' and 'M\xfcller' are 2 speakers" in line
    (line,) = report([COMPOSED, COMPOSED.upper()])
    assert f"'{COMPOSED.upper()}' and '{COMPOSED}'" in line


def test_many_groups_are_counted():
    names = [name for k in range(FEW + 2) for name in (f"a{k}", f"A{k}")]
    lines = report(names)
    assert len(lines) == FEW + 1
    assert lines[-1].startswith("so are 2 more groups")
