"""Standard output that is for sound alone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from voicenym.apps.cli.terminal.standard_output import for_sound_alone
print("before")
with for_sound_alone() as output:
    print("while")
    output.write(b"sound")
    output.flush()
print("after")
"""


def test_what_a_system_prints_is_not_in_the_sound():
    """A line of a package's own would be the first bytes of a recording, or a click on a call."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, check=True, env=buffered
    )
    assert done.stdout.split() == [b"soundafter"]
    assert done.stderr.split() == [b"before", b"while"]


@pytest.mark.parametrize(
    "line",
    [
        ["live", "--stdin", "--stdout", "-s", "mcadams", "--quiet"],
        ["anonymize", "-", "-s", "mcadams", "--quiet"],
    ],
)
def test_sound_for_a_closed_output_is_an_error(line):
    """It would be computed, and lost, and the exit status would say that all is well."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "voicenym", *line],
        input=bytes(3200),
        stderr=subprocess.PIPE,
        check=False,
    )
    assert done.returncode != 0
    assert b"standard output is closed; " in done.stderr
    assert b"Traceback" not in done.stderr
