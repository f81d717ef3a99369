"""Transcripts of other recognisers, and missing ones."""

from __future__ import annotations

import unicodedata

import pytest

from voicenym.errors import CorpusError
from voicenym.recognition import read_transcripts

TEXTS = {"u1": "say \"yes\" now", "u2": "", "u3": "été"}  # fmt: skip


@pytest.fixture(params=["kaldi", "kaldi folder", "table", "folder"])
def source(request, tmp_path):
    if request.param.startswith("kaldi"):
        path = tmp_path / "text"
        path.write_text("".join(f"{u} {t}\n" for u, t in TEXTS.items()) + "\n", "utf-8")
        return path if request.param == "kaldi" else tmp_path
    if request.param == "table":
        path = tmp_path / "heard.tsv"
        lines = ["speaker\tutterance\ttext", *(f"s\t{u}\t{t}" for u, t in TEXTS.items())]
        path.write_text("\r\n".join(lines) + "\r\n", "utf-8-sig")
        return path
    for number, (utterance, text) in enumerate(TEXTS.items()):
        path = tmp_path / f"speaker{number}" / f"{utterance}.txt"
        path.parent.mkdir()
        path.write_text(text + "\n", "utf-8")
    return tmp_path


def test_every_form_gives_the_same_texts(source):
    assert read_transcripts(source).texts == TEXTS


def test_what_is_missing_is_listed_and_no_silent_gap(source):
    found = read_transcripts(source)
    assert found.of(["u3", "u1"]) == ["été", TEXTS["u1"]]
    assert found.missing(["u1", "u9", "u8"]) == ["u9", "u8"]
    with pytest.raises(CorpusError, match="no transcript of 2 of 3 utterances: u9, u8"):
        found.of(["u1", "u9", "u8"])


def test_other_columns_are_read_where_they_are_named(tmp_path):
    path = tmp_path / "asr.tsv"
    path.write_text("id\thypothesis\na\tone two\n", "utf-8")
    with pytest.raises(CorpusError, match="no column 'utterance'; there are: id, hypothesis"):
        read_transcripts(path)
    found = read_transcripts(path, utterance_column="id", text_column="hypothesis")
    assert found.texts == {"a": "one two"}


def test_a_row_cut_short_is_an_error(tmp_path):
    path = tmp_path / "asr.tsv"
    path.write_text("utterance\ttext\na\tone\nb\n", "utf-8")
    with pytest.raises(CorpusError, match=r"asr.tsv:3: .*b"):
        read_transcripts(path)


@pytest.mark.parametrize(
    ("content", "stated"),
    [(b"a one\na two\n", "a stands here a second time"), (b"", "no transcripts"),
     (b"a \xff\xfe\n", "not UTF-8")],
)  # fmt: skip
def test_what_does_not_hold_together_is_an_error(tmp_path, content, stated):
    path = tmp_path / "text"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=stated):
        read_transcripts(path)


def test_a_missing_file_and_a_folder_without_transcripts_are_refused(tmp_path):
    with pytest.raises(CorpusError, match="cannot be read"):
        read_transcripts(tmp_path / "none")
    with pytest.raises(CorpusError, match="no transcripts here"):
        read_transcripts(tmp_path)


@pytest.mark.parametrize(("listed", "asked"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_accents_of_names_may_have_the_other_form(tmp_path, listed, asked):
    path = tmp_path / "text"
    names = {form: unicodedata.normalize(form, "Jos\u00e9-1") for form in (listed, asked)}
    path.write_text(f"{names[listed]} yes\n", "utf-8")
    found = read_transcripts(path)
    assert found.missing([names[asked], "u9"]) == ["u9"]
    assert found.of([names[asked]]) == ["yes"]


def test_two_forms_of_a_name_are_two_utterances(tmp_path):
    path = tmp_path / "text"
    one, two = (unicodedata.normalize(form, "Jos\u00e9-\u1e69") for form in ("NFC", "NFD"))
    path.write_text(f"{one} yes\n{two} no\n", "utf-8")
    found = read_transcripts(path)
    assert found.of([one, two]) == ["yes", "no"]
    third = "Jos\u00e9-s\u0323\u0307"
    assert found.missing([third]) == [third], "it may be either"
