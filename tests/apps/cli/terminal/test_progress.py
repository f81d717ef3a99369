"""Progress output: line by line without a terminal, and none with ``--quiet``."""

from __future__ import annotations

import io
import sys

import pytest

from voicenym.apps.cli.anonymizing.batch_report import BatchProgress
from voicenym.apps.cli.terminal.progress import Progress


@pytest.mark.parametrize(("quiet", "given"), [(False, "first\nsecond\n"), (True, "")])
def test_stages_are_lines_on_standard_error_unless_quiet(quiet, given, capsys):
    with Progress(quiet) as tell:
        tell("first")
        tell.done(3)
        tell("second")
    found = capsys.readouterr()
    assert (found.out, found.err) == ("", given)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_what_is_done_for_how_long_and_how_many(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with Progress(quiet=False) as tell:
        tell("mcadams: semi-informed [1], training")
        tell.done(3)
        tell.done(4)
        tell._bar.refresh()
    shown = screen.getvalue()
    assert "mcadams: semi-informed [1], training" in shown, "brackets are no markup"
    assert "0:00:0" in shown
    assert "7 recordings so far" in shown


def test_a_batch_says_how_many_failed(capsys):
    with BatchProgress(3, quiet=False) as progress:
        progress.advance("a.wav", 1.0)
        progress.advance("b.wav", None, 1)
        progress.advance("c.wav", 1.0)
    first, last = capsys.readouterr().err.splitlines()
    assert first.startswith("[1/3] a.wav")
    assert "failed" not in first
    assert last.startswith("[3/3] c.wav")
    assert ", 1 failed" in last
