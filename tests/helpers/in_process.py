"""Runs the command line within the test process, with the results of a separate process.

Starting Python and importing torch costs seconds. What a command changes for its whole process is
put back afterwards: arguments, standard streams, folder, environment, search path, handlers of
signals, warnings, umask, caches, and torch's threads and random numbers.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from unittest import mock

SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if os.name == "posix" else []))
QUIET = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings that Python shows nobody who has not asked for them."""


@dataclass(frozen=True)
class Finished:
    """What is left of a command, as of a finished process.

    Attributes:
        returncode: exit status; 1 after an exception that nothing caught, whose traceback is then
            in ``stderr``.
        stdout, stderr: all that was written there, by child processes and libraries too.
    """

    returncode: int
    stdout: bytes
    stderr: bytes


def run(
    arguments: list[str], folder: Path, environment: dict[str, str], input: bytes | None = None
) -> Finished:
    """Run ``voicenym`` with arguments in a folder.

    Args:
        arguments: after the command's name.
        folder: the current folder of the run.
        environment: variables that are set besides those of this process.
        input: standard input, which is empty where this is None.
    """
    from voicenym.apps import cli

    with ExitStack() as stack:
        given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(input or b"")
        given.seek(0)
        stack.enter_context(_surroundings(folder, environment))
        stack.enter_context(_libraries())
        stack.enter_context(_streams(given.fileno(), out.fileno(), err.fileno()))
        stack.enter_context(mock.patch.object(sys, "argv", ["voicenym", *arguments]))
        stack.enter_context(_main_module())
        stack.enter_context(mock.patch.object(cli, "_developers", _print_warning))
        status = _status(cli.main)
        sys.stdout.flush()
        sys.stderr.flush()
        out.seek(0)
        err.seek(0)
        return Finished(status, out.read(), err.read())


def _status(command: Callable[[], None]) -> int:
    """Run a command; its exit status, as the interpreter makes it of an exception."""
    try:
        command()
    except SystemExit as end:
        if end.code is None:
            return 0
        if isinstance(end.code, int):
            return end.code & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def _print_warning(message, category, filename, lineno, file=None, line=None) -> None:
    (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))


@contextmanager
def _main_module() -> Iterator[None]:
    """An empty ``__main__``: that of the tests names no command, and is not for workers."""
    before = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = before


@contextmanager
def _surroundings(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """Folder, environment, search path, umask and signal handlers, which are put back."""
    here, path, variables = os.getcwd(), list(sys.path), dict(os.environ)
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    mask = os.umask(0)
    os.umask(mask)
    os.chdir(folder)
    os.environ.update(environment)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.umask(mask)
        for name in os.environ.keys() - variables.keys():
            del os.environ[name]
        os.environ.update(variables)
        sys.path[:] = path
        os.chdir(here)


@contextmanager
def _libraries() -> Iterator[None]:
    """Warnings, caches and torch as when a process starts, and afterwards as they were."""
    import torch  # not above: the process that hands tests out to others runs no command

    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    strict = torch.are_deterministic_algorithms_enabled()
    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.resetwarnings()
        for category in QUIET:
            warnings.simplefilter("ignore", category)
        torch.seed()  # as a process starts: from the system
        _clear_caches()
        try:
            yield
        finally:
            _clear_caches()
            torch.set_num_threads(threads)
            torch.set_default_dtype(dtype)
            torch.use_deterministic_algorithms(strict)


def _clear_caches() -> None:
    """Empty what functions of the package remember for as long as a process lives."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "voicenym":
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@contextmanager
def _streams(*files: int) -> Iterator[None]:
    """Standard input, output and errors from and to open files, for child processes too."""
    saved = [os.dup(number) for number in range(3)]
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
        # not closed: a logger that is set up meanwhile keeps one
        read = os.fdopen(0, "r", encoding="utf-8", closefd=False)
        wrote = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        errors = os.fdopen(2, "w", 1, "utf-8", "backslashreplace", closefd=False)
        with (
            mock.patch.object(sys, "stdin", read),
            mock.patch.object(sys, "stdout", wrote),
            mock.patch.object(sys, "stderr", errors),
        ):
            yield
    finally:
        for number, file in enumerate(saved):
            os.dup2(file, number)
            os.close(file)
