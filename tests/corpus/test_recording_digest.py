"""Digests of recordings, by which caches know them: of the bytes that are there now."""

from __future__ import annotations

from pathlib import Path

import pytest

from voicenym.corpus.recording import Recording
from voicenym.errors import AudioError


def test_a_file_that_changed_has_another_digest(tmp_path):
    path = tmp_path / "a.wav"
    path.write_bytes(b"first")
    before = Recording("a", "anna", path).digest()
    assert Recording("a", "anna", path).digest() == before
    path.write_bytes(b"other words")
    assert Recording("a", "anna", path).digest() != before


def test_the_same_relative_path_elsewhere_is_another_file(tmp_path, monkeypatch):
    found = set()
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.wav").write_bytes(name.encode())
        monkeypatch.chdir(folder)
        found.add(Recording("a", "anna", Path("a.wav")).digest())
    assert len(found) == 2


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(AudioError, match=r"missing\.wav: No such file.*check the path"):
        Recording("a", "anna", tmp_path / "missing.wav").digest()
