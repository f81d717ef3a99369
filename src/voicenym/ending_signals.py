"""Signals that ask a process to end, whose handlers unwind it so that it removes its files."""

from __future__ import annotations

import signal
import traceback


def ending_signals() -> tuple[int, ...]:
    """SIGTERM, and SIGHUP, which comes when the terminal is closed or the ssh connection is lost.

    SIGHUP is left out where the system has none, and while it is ignored, as ``nohup`` does.
    """
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is None or signal.getsignal(hangup) is signal.SIG_IGN:
        return (signal.SIGTERM,)
    return signal.SIGTERM, hangup


def ignore_hangups() -> None:
    """Ignores SIGHUP from now on, for handlers of :func:`ending_signals`.

    A shell that loses its terminal sends it, and the system again when the shell ends: the second
    one would interrupt the removal of files.
    """
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def raised_by_handler(error: BaseException) -> bool:
    """Whether the handler of a signal raised an exception, such as the exit that SIGTERM asks for.

    Args:
        error: with its traceback.
    """
    handlers = {getattr(signal.getsignal(one), "__code__", None) for one in signal.valid_signals()}
    return any(frame.f_code in handlers for frame, _ in traceback.walk_tb(error.__traceback__))
