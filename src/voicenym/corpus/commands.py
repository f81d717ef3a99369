"""Commands of a Kaldi ``wav.scp``, which print recordings; they run only with the user's
consent.
"""

from __future__ import annotations

import shlex

from voicenym import processes
from voicenym.errors import CorpusError


def output_of(command: str) -> bytes:
    """Output of a command, which runs in a shell with the user's rights.

    Args:
        command: of ``wav.scp``, without the bar at its end.

    Raises:
        CorpusError: the command failed; the message has the last line of its errors.
    """
    done = processes.shell(command)
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = lines[-1] if lines else "no output"
        raise CorpusError(f"wav.scp: the command {shlex.quote(command)} failed: {reason}")
    return done.stdout
