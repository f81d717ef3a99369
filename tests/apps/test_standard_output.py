"""Standard output on a full disk: one line and a status, and nothing is lost that was not shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import voicenym

FULL = Path("/dev/full")
LINE = b"voicenym: error: standard output: the disk is full; free some space and run again\n"
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


@pytest.fixture
def full(tmp_path):
    """``full("systems")``: status and messages of a command whose output is full."""

    def run(*arguments: object, input: bytes = b"") -> tuple[int, bytes]:
        with FULL.open("wb") as output:
            done = subprocess.run(
                [sys.executable, "-m", "voicenym", *map(str, arguments)],
                cwd=tmp_path,
                env={**os.environ, "VOICENYM_KEY_FILE": ""},
                input=input,
                stdout=output,
                stderr=subprocess.PIPE,
                check=False,
            )
        return done.returncode, done.stderr

    return run


@pytest.mark.parametrize("arguments", [("systems",), ("--version",), ("explain", "--help")])
def test_what_is_printed(arguments, full):
    assert full(*arguments) == (1, LINE)


def test_sound(full, sample):
    found = full("anonymize", "-", "-s", "mcadams", "-q", input=sample.read_bytes())
    assert found == (1, LINE)


def test_live_sound(full):
    status, said = full("live", "--stdin", "--stdout", "-s", "mcadams", input=bytes(96_000))
    assert status == 1
    assert said.endswith(LINE)
    assert b"Traceback" not in said


@pytest.mark.parametrize(
    ("closed", "arguments"),
    [
        (">&-", ("systems",)),
        (">&-", ("anonymize", "-", "-s", "mcadams", "-q")),
        ("<&- >&- 2>&-", ("anonymize", "{sample}", "-o", "out.wav", "-s", "mcadams")),
    ],
)
def test_streams_may_be_closed(closed, arguments, sample, tmp_path):
    """No file gets the number of a stream, into which libraries may write."""
    given = [one.format(sample=sample) for one in arguments]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "voicenym", *given],
        cwd=tmp_path,
        env={**os.environ, "VOICENYM_KEY_FILE": ""},
        input=sample.read_bytes(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    if "out.wav" in given:
        assert voicenym.read(tmp_path / "out.wav").samples.abs().max() > 0


def test_a_token_that_nobody_has_seen_is_taken_back(full, command, tmp_path):
    given = ("serve", "--token-file", "tokens", "--new-token")
    assert full(*given, "desk") == (1, LINE)
    assert not (tmp_path / "tokens").exists()
    assert command(*given, "desk").returncode == 0
    before = (tmp_path / "tokens").read_bytes()
    assert full(*given, "other") == (1, LINE)
    assert (tmp_path / "tokens").read_bytes() == before
    assert (tmp_path / "tokens").stat().st_mode & 0o777 == 0o600


def test_a_full_disk_elsewhere_is_not_blamed_on_it(command, monkeypatch):
    from voicenym.apps import cli

    def other():
        with FULL.open("wb") as file:
            file.write(b"x")

    monkeypatch.setattr(cli, "app", other)
    done = command()
    assert b"standard output" not in done.stderr
    assert b"OSError: [Errno 28]" in done.stderr
