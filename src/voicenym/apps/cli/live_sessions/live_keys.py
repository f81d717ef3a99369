"""Keys that are pressed while ``voicenym live`` runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def pressed_keys() -> Iterator[Callable[[], str]]:
    """Gives a function that returns the keys pressed since its last call, without waiting.

    The terminal is as it was afterwards. Where standard input is no terminal, no key is pressed.
    """
    if not sys.stdin.isatty():
        yield lambda: ""
    elif sys.platform == "win32":
        import msvcrt

        def found() -> str:
            keys = ""
            while msvcrt.kbhit():
                keys += msvcrt.getwch()
            return keys

        yield found
    else:
        import os
        import select
        import termios
        import tty

        number = sys.stdin.fileno()
        before = termios.tcgetattr(number)
        tty.setcbreak(number)

        def read() -> str:
            ready, _, _ = select.select([number], [], [], 0.0)
            return os.read(number, 64).decode("utf-8", "ignore") if ready else ""

        try:
            yield read
        finally:
            termios.tcsetattr(number, termios.TCSADRAIN, before)
