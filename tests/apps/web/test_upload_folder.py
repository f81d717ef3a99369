"""Folders of uploads: private, wiped at once, at exit, and after a kill."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys

import pytest

from voicenym.apps.web.upload_folder import UploadFolder
from voicenym.errors import VoicenymError

HOLD = """
import sys
from pathlib import Path
from voicenym.apps.web.upload_folder import UploadFolder
folder = UploadFolder(Path(sys.argv[1]))
(folder.new_folder() / "original.wav").write_bytes(b"speech")
print(folder.path, flush=True)
sys.stdin.read()
"""


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_are_private_under_any_umask(tmp_path):
    before = os.umask(0)
    try:
        with UploadFolder(tmp_path / "base") as folder, folder.request() as own:
            assert {mode(path) for path in (folder.base, folder.path, own)} == {0o700}
    finally:
        os.umask(before)


def test_a_request_leaves_nothing_and_a_server_neither(tmp_path):
    with UploadFolder(tmp_path / "base") as folder:
        with contextlib.suppress(KeyError), folder.request() as own:
            (own / "original.wav").write_bytes(b"speech")
            raise KeyError
        assert not own.exists()
        kept = folder.new_folder()
        (kept / "original.wav").write_bytes(b"speech")
    assert list((tmp_path / "base").iterdir()) == []
    folder.close()


def test_the_next_start_wipes_what_a_killed_server_left(tmp_path):
    base = tmp_path / "base"
    held = subprocess.Popen(
        [sys.executable, "-c", HOLD, base], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with held:
        left = held.stdout.readline().strip()
        with UploadFolder(base) as beside:
            assert beside.swept == 0
            assert os.path.exists(left), "a running server keeps its folder"
        held.send_signal(signal.SIGKILL)
        held.wait()
    assert os.path.exists(left)
    with UploadFolder(base) as after:
        assert after.swept == 1
        assert not os.path.exists(left)
        assert len(list(base.iterdir())) == 2, "the folder and its lock"


def test_other_files_of_the_base_stay(tmp_path):
    base = tmp_path / "base"
    base.mkdir(mode=0o700)
    (base / "letters").mkdir()
    (base / "run-1.lock").touch()
    with UploadFolder(base):
        assert (base / "letters").exists()
        assert (base / "run-1.lock").exists()


def test_a_base_that_others_use_is_refused(tmp_path):
    base = tmp_path / "base"
    base.mkdir()
    base.chmod(0o755)
    (base / "something").touch()
    with pytest.raises(VoicenymError, match="others can enter"):
        UploadFolder(base)


def test_only_own_folders_are_wiped(tmp_path):
    with UploadFolder(tmp_path / "base") as folder:
        with pytest.raises(ValueError):
            folder.wipe(tmp_path)
        assert tmp_path.exists()
