"""Standard output that takes no more, such as a file on a full disk, that is for sound alone, and
standard streams that are closed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

import typer

from voicenym.errors import AudioError

_closed: set[int] = set()
"""Numbers of the standard streams that were closed at the start."""


def open_closed_streams() -> None:
    """Opens standard streams that are closed, as after ``>&-``: nothing can be read from them, and
    what is printed is lost.

    The next file that is opened would have the number of the stream, so that warnings of a library
    would be written into a recording.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            _closed.add(number)
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


@contextmanager
def checked_output() -> Iterator[None]:
    """Context manager around a command; at its end, all that was printed has been written.

    Raises:
        AudioError: standard output cannot be written; what is left for it is dropped.
        BrokenPipeError: nobody reads it.
    """
    try:
        try:
            yield
        finally:
            _flush()
    except OSError as error:
        if not _is_of_output(error):
            raise
        _drop_rest()
        if isinstance(error, BrokenPipeError):
            raise
        from voicenym.audio.atomic import write_failed

        raise write_failed("standard output", error) from error


@contextmanager
def for_sound_alone() -> Iterator[BinaryIO]:
    """Standard output for sound; what else is printed meanwhile goes to standard error.

    A line that a system of another package prints would be bytes of the recording.

    Returns:
        Context manager of the output, which the caller flushes.

    Raises:
        AudioError: standard output is closed.
    """
    try:
        number = sys.stdout.fileno()
    except OSError:  # a test has put memory in its place
        yield sys.stdout.buffer
        return
    if number in _closed:
        raise AudioError("standard output is closed; send the sound to a program or a file")
    sound = os.fdopen(os.dup(number), "wb")
    os.dup2(2, number)
    try:
        sys.stdout.flush()  # what was printed before is not sound either
        yield sound
    finally:
        with suppress(OSError):
            sys.stdout.flush()
        os.dup2(sound.fileno(), number)
        with suppress(OSError):  # of a pipe that nobody reads, as the caller was told
            sound.close()


def _is_of_output(error: OSError) -> bool:
    """Whether an error was raised by printing, or by the flush at the end; not by another file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    innermost = None if trace is None else trace.tb_frame.f_code
    return innermost in (typer.echo.__code__, _flush.__code__)


def _flush() -> None:
    sys.stdout.flush()


def _drop_rest() -> None:
    """Sends what is still buffered nowhere: Python would try again at its end, and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
