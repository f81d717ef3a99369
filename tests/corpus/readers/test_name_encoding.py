"""A name has one text, and its speaker one voice, in every locale."""

from __future__ import annotations

import os

import pytest

from voicenym.corpus.readers.name_encoding import check_encoding
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key

NAME = "Müller"


@pytest.mark.parametrize("encoding", ["iso8859-15", "iso8859-1", "cp1252"])
def test_utf_8_that_was_decoded_otherwise_is_refused(encoding):
    wrong = NAME.encode().decode(encoding)
    with pytest.raises(CorpusError, match=rf"in UTF-8, and the locale in {encoding}.*PYTHONUTF8=1"):
        check_encoding(["anna", wrong], encoding)


def test_names_in_the_encoding_of_the_locale_are_the_text_that_they_mean():
    read = NAME.encode("iso8859-15").decode("iso8859-15")
    check_encoding([read, "anna"], "iso8859-15")
    assert read == NAME
    check_encoding([NAME.encode().decode("iso8859-1")], "utf-8")


def test_a_locale_of_ascii_gives_the_voice_of_the_text():
    read = NAME.encode().decode("ascii", "surrogateescape")
    check_encoding([read], "ascii")
    key = Key(bytes(32))
    assert key.pseudonym(read) == key.pseudonym(NAME)


def test_folders_are_checked(tmp_path, monkeypatch):
    from voicenym.corpus.plans import file_plan

    seen = []
    monkeypatch.setattr(file_plan, "check_encoding", lambda names: seen.extend(names))
    (tmp_path / "c" / NAME).mkdir(parents=True)
    (tmp_path / "c" / NAME / "1.wav").touch()
    file_plan.plan([tmp_path / "c"], tmp_path / "o")
    assert [os.fsdecode(name) for name in seen] == [NAME]
