"""Ctrl-C: raises KeyboardInterrupt, but only once the imports in progress have ended.

A module whose import is interrupted stays half imported, so that what uses it later fails in its
own words, and some libraries swallow the exception.
"""

from __future__ import annotations

import _thread
import signal
import time
from types import CodeType, FrameType

LOOK_SECONDS = 0.05
"""Between two looks whether the imports have ended."""


class Interrupts:
    """Handler of SIGINT.

    Args:
        outermost: code of the function that runs the command; imports of its callers do not count.
    """

    def __init__(self, outermost: CodeType) -> None:
        self._outermost = outermost
        self._is_waiting = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self._is_importing(frame):
            self._is_waiting = False
            raise KeyboardInterrupt
        if not self._is_waiting:
            self._is_waiting = True
            # not of threading, whose locks the interrupted code may hold
            _thread.start_new_thread(self._again, (number, _thread.get_ident()))

    def _is_importing(self, frame: FrameType | None) -> bool:
        while frame is not None and frame.f_code is not self._outermost:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                return True
            frame = frame.f_back
        return False

    def _again(self, number: int, main_thread: int) -> None:
        time.sleep(LOOK_SECONDS)
        if self._is_waiting:
            self._is_waiting = False
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(main_thread, number)  # wakes it where it waits, too
            else:
                signal.raise_signal(number)
