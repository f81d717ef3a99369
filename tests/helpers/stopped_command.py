"""``voicenym`` in a process of its own that a signal ends at a point of its work, not of the clock.

    python stopped_command.py SIGNAL POINT COUNT ARGUMENT...

Points: ``hear`` (before a stretch is heard), ``write`` (after a block was written), ``name``
(before a complete file gets its name), ``link`` (when it has two); each at the call of a number
from 0.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def stopping(place: Any, name: str, count: int, number: int, after: bool = False) -> None:
    """Replaces a function by one that sends this process a signal in its call of a number."""
    real: Callable[..., Any] = getattr(place, name)
    calls = []

    def counted(*arguments: Any, **others: Any) -> Any:
        calls.append(name)
        if len(calls) == count + 1 and not after:
            os.kill(os.getpid(), number)
        found = real(*arguments, **others)
        if len(calls) == count + 1 and after:
            os.kill(os.getpid(), number)
        return found

    setattr(place, name, counted)


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    from pitched_words import PitchedWords, hear_all

    from voicenym.apps import cli
    from voicenym.audio.atomic import AtomicFile
    from voicenym.audio.writer import Writer

    # a shell starts what it puts in the background with Ctrl-C ignored, and tests inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    number = getattr(signal, sys.argv[1])
    points = {
        "hear": (PitchedWords, "hear", False),
        "write": (Writer, "write", True),
        "name": (AtomicFile, "_name", False),
        "link": (os, "link", True),
    }
    place, name, after = points[sys.argv[2]]
    stopping(place, name, int(sys.argv[3]), number, after)
    hear_all(setattr)
    sys.argv = ["voicenym", *sys.argv[4:]]
    cli.main()


if __name__ == "__main__":
    main()
