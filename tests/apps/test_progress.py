"""Progress is said line by line where there is no terminal, and not at all where it is unwished."""

from __future__ import annotations

import pytest

from voicenym.apps.cli.progress import Progress


@pytest.mark.parametrize(("quiet", "told"), [(False, "first\nsecond\n"), (True, "")])
def test_lines(quiet, told, capsys):
    with Progress(quiet) as tell:
        tell("first")
        tell.done(3)
        tell("second")
    found = capsys.readouterr()
    assert (found.out, found.err) == ("", told)
