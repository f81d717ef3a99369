"""The folder for temporary files is the one that was named, or the command ends with its name."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from voicenym.errors import VoicenymError
from voicenym.kept_work import KeptWork
from voicenym.temporary import NAMES, folder_for_temporary_files, temporary_directory


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", None)


def test_unnamed_it_is_the_systems():
    assert folder_for_temporary_files() == Path(tempfile.gettempdir())


@pytest.mark.parametrize("name", NAMES)
def test_the_named_one_is_used(name, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", None)  # which the folder of the test has set
    monkeypatch.setenv(name, str(tmp_path))
    assert folder_for_temporary_files() == tmp_path
    with temporary_directory() as folder:
        assert Path(folder).parent == tmp_path
        if os.name == "posix":
            assert Path(folder).stat().st_mode & 0o777 == 0o700
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_nothing_takes_the_place_of_a_named_one_that_is_not_there(name, tmp_path, monkeypatch):
    monkeypatch.setenv(name, str(tmp_path / "not mounted"))
    for use in (folder_for_temporary_files, temporary_directory, lambda: KeptWork.unnamed(None)):
        with pytest.raises(VoicenymError, match=f"not mounted: no such folder, and {name} "):
            use()
    monkeypatch.setattr(tempfile, "tempdir", None)
    with pytest.raises(VoicenymError, match="not mounted"):
        folder_for_temporary_files()
    (tmp_path / "not mounted").mkdir()
    assert folder_for_temporary_files() == tmp_path / "not mounted"


def test_one_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(tmp_path))
    with pytest.raises(VoicenymError, match=r"cannot be written.*change TMPDIR"):
        folder_for_temporary_files()


def test_one_that_is_full_is_refused(tmp_path, monkeypatch):
    full = tmp_path / "full"
    full.mkdir()
    open_file = os.open

    def opened(path, *arguments, **options):
        if Path(path).parent == full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return open_file(path, *arguments, **options)

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setenv("TMPDIR", str(full))
    for _ in range(2):
        with pytest.raises(VoicenymError, match="full: cannot be written or is full, and TMPDIR"):
            folder_for_temporary_files()
    monkeypatch.setattr(os, "open", open_file)
    assert folder_for_temporary_files() == full


def test_the_command_says_so_and_writes_nothing(process, sample, tmp_path):
    nowhere = str(tmp_path / "not mounted")
    done = process(
        "anonymize", "-", "--system", "mcadams", input=sample.read_bytes(), TMPDIR=nowhere
    )
    assert done.returncode != 0
    assert done.stdout == b""
    assert b"not mounted: no such folder" in done.stderr
    assert b"Traceback" not in done.stderr
