"""``redact``, and ``anonymize --rttm`` with words removed, ended by Ctrl-C and by ``kill -9``.

Nothing half written has a name of an output, nothing that another user could read is left, and the
same command goes on and writes the bytes of a run that nobody stopped.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from pitched_words import GAP, LENGTH, RATE, hear_all, recording

TEXT = "we met Anna in the garden and left the garden " * 3
STOPPED = Path(__file__).parents[2] / "helpers" / "stopped_command.py"
REDACT = ("redact", "talk.wav", "--list", "list.txt")
HIDE = ("anonymize", "talk.wav", "--rttm", "talk.rttm", "--only", "ben", "-s", "mcadams",
        "--list", "list.txt", "--key", "project.key")  # fmt: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs locks of files"),
]


@pytest.fixture
def talk(tmp_path, command, monkeypatch):
    """``talk.wav``, of which ``anna`` says the first half and ``ben`` the second."""
    hear_all(monkeypatch.setattr)
    sound = recording(tmp_path / "talk.wav", TEXT)
    (tmp_path / "list.txt").write_text("Anna\n")
    half, end = len(sound) // 2 / RATE, len(sound) / RATE
    (tmp_path / "talk.rttm").write_text(
        f"SPEAKER talk 1 0.1 {half - 0.1:.3f} <NA> <NA> anna <NA> <NA>\n"
        f"SPEAKER talk 1 {half:.3f} {end - half - 0.01:.3f} <NA> <NA> ben <NA> <NA>\n"
    )
    assert command("key", "new", "project.key").returncode == 0
    return sound


def outputs(given, name):
    """Arguments that name the outputs of a command, and their extensions."""
    if given is HIDE:
        return ("-o", f"{name}.wav"), ("wav", "txt", "jsonl")
    more = ("--transcript", f"{name}.txt", "--findings", f"{name}.tsv")
    return ("-o", f"{name}.wav", *more), ("wav", "txt", "tsv")


def stopped(folder, number, point, count, arguments):
    """Exit status of a command that is ended by a signal."""
    done = subprocess.run(
        [sys.executable, STOPPED, number.name, point, str(count), *arguments],
        cwd=folder, capture_output=True, timeout=300, check=False,
        env={**os.environ, "VOICENYM_KEY_FILE": ""},
    )  # fmt: skip
    assert b"Traceback" not in done.stderr, done.stderr
    return done.returncode


def spoken(sound, word):
    """Samples of the middle of each utterance of a word."""
    for number, one in enumerate(TEXT.split()):
        if one == word:
            first = round((GAP + number * (LENGTH + GAP) + LENGTH / 4) * RATE)
            yield sound[first : first + round(LENGTH / 2 * RATE)]


def holds(path, sound, word):
    """Whether a file has samples of a word as they were spoken."""
    data = path.read_bytes()
    return any(
        part[at : at + 16].tobytes() in data
        for part in spoken(sound, word)
        for at in range(0, len(part) - 16, 1000)
    )


@pytest.mark.parametrize(
    ("given", "number", "point", "count"),
    [
        (REDACT, signal.SIGKILL, "hear", 1),  # in the first hearing
        (REDACT, signal.SIGINT, "hear", 5),  # in the check
        (REDACT, signal.SIGKILL, "write", 0),
        (REDACT, signal.SIGINT, "write", 0),
        (REDACT, signal.SIGKILL, "name", 0),
        (HIDE, signal.SIGKILL, "hear", 5),
        (HIDE, signal.SIGKILL, "write", 0),
        (HIDE, signal.SIGINT, "write", 0),
    ],
)
def test_it_goes_on_and_writes_the_same_bytes(
    command, talk, tmp_path, given, number, point, count, monkeypatch
):
    arguments, ends = outputs(given, "out")
    before = set(os.listdir(tmp_path))
    status = stopped(tmp_path, number, point, count, [*given, *arguments])
    assert status == (-9 if number is signal.SIGKILL else 130)
    left = set(os.listdir(tmp_path)) - before
    assert not {f"out.{end}" for end in ends} & left
    kept = {".voicenym-talk.wav.heard", ".voicenym-out.wav.parts"}
    parts = left - kept
    assert not parts or number is signal.SIGKILL
    assert all(name.startswith(".voicenym-") and ".tmp" in name for name in parts)
    for name in left:
        if point != "name":  # it is complete then, and has the permissions of an output
            assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
        assert not holds(tmp_path / name, talk, "Anna")  # the sound that is removed
    again = hear_all(monkeypatch.setattr)
    done = command(*given, *arguments)
    assert done.returncode == 0, done.stderr
    after = set(os.listdir(tmp_path)) - before
    assert after == {f"out.{end}" for end in ends}
    whole = hear_all(monkeypatch.setattr)
    assert command(*given, *outputs(given, "whole")[0]).returncode == 0
    assert 0 <= again.calls == whole.calls - count if point == "hear" else again.calls == 0
    for end in {*ends} - {"jsonl"}:
        one, other = (tmp_path / f"{name}.{end}" for name in ("out", "whole"))
        assert one.read_bytes() == other.read_bytes()
    assert holds(tmp_path / "talk.wav", talk, "Anna")
    assert not holds(tmp_path / "out.wav", talk, "Anna")


@pytest.mark.parametrize("given", [REDACT, HIDE], ids=["redact", "hide"])
def test_a_run_that_was_killed_between_two_names_is_finished_with_overwrite(
    command, talk, tmp_path, given, monkeypatch
):
    arguments, ends = outputs(given, "out")
    before = set(os.listdir(tmp_path))
    assert stopped(tmp_path, signal.SIGKILL, "link", 0, [*given, *arguments]) == -9
    left = set(os.listdir(tmp_path)) - before
    assert {f"out.{end}" for end in ends} & left == {"out.wav"}  # complete, without the others
    sound, _ = soundfile.read(tmp_path / "out.wav", dtype="float32")
    assert len(sound) == len(talk)
    done = command(*given, *arguments)
    assert b"out.wav: exists already" in done.stderr
    assert not [name for name in os.listdir(tmp_path) if ".tmp" in name]  # also after a refusal
    again = hear_all(monkeypatch.setattr)
    done = command(*given, *arguments, "--overwrite")
    assert done.returncode == 0, done.stderr
    assert not again.calls
    assert set(os.listdir(tmp_path)) - before == {f"out.{end}" for end in ends}
    again, _ = soundfile.read(tmp_path / "out.wav", dtype="float32")
    assert np.array_equal(sound, again)
