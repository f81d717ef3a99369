"""Recordings of a list that can be measured; others are left out by name."""

from __future__ import annotations

import os

import pytest

from voicenym.corpus.readers.present_recordings import present
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.skipped import LeftOut
from voicenym.errors import AudioError, CorpusError

LATIN_1 = os.fsdecode(b"M\xfcller")


def listed(tmp_path, *names):
    path = tmp_path / "a.wav"
    path.touch()
    return [Recording(f"{speaker}/{name}", speaker, path) for speaker, name in names]


def test_names_that_are_no_utf_8_are_left_out_and_shown(tmp_path):
    found = listed(tmp_path, ("anna", "1"), ("anna", LATIN_1), (LATIN_1, "1"))
    left_out = LeftOut()
    assert [r.name for r in present("c", found, left_out)] == ["anna/1"]
    told = [str(one) for one in left_out]
    assert len(told) == 2
    assert all("not in UTF-8; rename it" in line and line.isprintable() for line in told)
    with pytest.raises(AudioError, match="not in UTF-8"):
        present("c", found, LeftOut(fail_fast=True))
    with pytest.raises(CorpusError, match=r"not in UTF-8.*all 2 are so"):
        present("c", found[1:], LeftOut())


@pytest.mark.skipif(os.name == "nt", reason="file names are text there")
def test_folders_of_such_names_are_left_out(tmp_path):
    for speaker in ("anna", LATIN_1):
        try:
            (tmp_path / speaker).mkdir()
        except OSError:
            pytest.skip("the file system takes names in UTF-8 alone")
        (tmp_path / speaker / "1.wav").touch()
    left_out = LeftOut()
    assert [r.speaker for r in recordings(tmp_path, left_out=left_out)] == ["anna"]
    assert len(left_out) == 1
