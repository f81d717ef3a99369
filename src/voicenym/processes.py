"""Start of isolated subprocesses; no other module of the package starts any.

A process that Python starts with ``-c`` or ``-m``, as multiprocessing does, imports from the
current folder first. Processes started here do not (:mod:`voicenym.isolation`), whether the caller
is the command line or another program, whose own search path and environment stay unchanged.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.context import ForkServerContext, ForkServerProcess, SpawnContext, SpawnProcess
from typing import TYPE_CHECKING, Any

from voicenym.ending_signals import ending_signals
from voicenym.errors import VoicenymError
from voicenym.isolation import NAMES, environment, own_environment, search_path, unprotected
from voicenym.temporary import folder_for_temporary_files

if TYPE_CHECKING:
    import subprocess

_RUN = (
    "import sys; given = sys.argv[1].split(chr(10)); "
    "sys.path[:] = given + [one for one in sys.path if one not in given]; import runpy; "
    "runpy.run_module(sys.argv[2], run_name='__main__', alter_sys=True)"
)
_lock = threading.RLock()
_no_copies = threading.Event()
LONGEST_FOLDER = 40
"""Most characters of the folder of sockets: Ray's lie 60 deeper, and 107 are allowed."""


@contextmanager
def isolated() -> Iterator[None]:
    """Context manager in which processes start isolated; search path and environment are restored
    afterwards.

    Raises:
        VoicenymError: Python ignores its environment (``-E``), which isolation needs.
    """
    if unprotected():
        raise VoicenymError(
            "Python was started with -E, and its processes would import from the current folder: "
            "start it with -P or -I as well, or use one worker"
        )
    with _lock:
        entries, before = sys.path, {name: os.environ.get(name) for name in NAMES}
        cleaned = environment()
        sys.path = search_path(entries)  # which multiprocessing hands over
        try:
            _put({name: cleaned.get(name) for name in NAMES})
            yield
        finally:
            sys.path = entries
            _put(before)


class Process(SpawnProcess):
    """Process of multiprocessing that starts isolated."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        with isolated(), _deferred_signals():
            return SpawnProcess._Popen(process_obj)


class Context(SpawnContext):
    """Start method ``spawn`` of multiprocessing with isolated processes."""

    Process = Process


def context() -> Context:
    """Multiprocessing context for isolated processes, for multiprocessing and data loaders.

    Raises:
        VoicenymError: as :func:`isolated`.
    """
    if os.name == "posix":
        from multiprocessing import resource_tracker

        with isolated():  # it is a process too, which the first lock or queue would start
            resource_tracker.ensure_running()
    return Context()


class ForkedProcess(ForkServerProcess):
    """Process of multiprocessing that is a copy of an isolated one."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        with isolated():
            _check_copies()
            return ForkServerProcess._Popen(process_obj)


class ForkedContext(ForkServerContext):
    """Start method ``forkserver`` of multiprocessing with isolated processes."""

    Process = ForkedProcess


def copying(modules: Sequence[str]) -> ForkedContext:
    """Multiprocessing context whose processes are copies of one that has imported modules.

    The copied process imports, and does nothing else, so that no copy knows of another's task. A
    copy takes milliseconds; a process of :func:`context` imports its libraries anew.

    Args:
        modules: imported by the copied process; those that are missing are left out.

    Raises:
        VoicenymError: as :func:`isolated`; or this system cannot copy processes.
        EOFError: after :func:`end_copying`.
    """
    if os.name != "posix" or sys.version_info < (3, 11, 1):
        raise VoicenymError(
            "worker processes are copies of another, which needs Linux or macOS, and Python 3.11.1 "
            "or later, since others could reach the copied process before"
        )
    from multiprocessing import forkserver

    found = ForkedContext()
    with isolated(), _short_sockets():
        _check_copies()
        found.set_forkserver_preload(list(modules))
        forkserver.ensure_running()
    return found


def allow_copying() -> None:
    """Takes :func:`end_copying` back."""
    _no_copies.clear()


def end_copying() -> None:
    """Kills the copied process; its copies run on. Whoever starts a copy gets EOFError, also in
    another thread, which would else wait until the copied process has imported its modules.
    """
    from multiprocessing import forkserver

    _no_copies.set()
    pid = getattr(getattr(forkserver, "_forkserver", None), "_forkserver_pid", None)
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _check_copies() -> None:
    if _no_copies.is_set():
        raise EOFError("no copies are started any more")


def short_temporary_folder() -> str:
    """Folder for temporary files whose name is short enough for the sockets in it: the usual one
    (``TMPDIR``), or ``/tmp``.
    """
    usual = str(folder_for_temporary_files())
    return "/tmp" if os.name == "posix" and len(usual) > LONGEST_FOLDER else usual


@contextmanager
def _short_sockets() -> Iterator[None]:
    """Context in which multiprocessing makes its folder of sockets where their names are short.

    It makes the folder once in a process and removes it at the end.
    """
    import tempfile

    before = tempfile.tempdir
    tempfile.tempdir = short_temporary_folder()
    try:
        yield
    finally:
        tempfile.tempdir = before


def wait_for_parent_end() -> bool:
    """Waits until the process that started this one has ended; False at once where
    multiprocessing did not start it.
    """
    from multiprocessing import connection, parent_process

    parent = parent_process()
    if parent is None:
        return False
    connection.wait([parent.sentinel])
    return True


def module(name: str) -> subprocess.Popen[bytes]:
    """Runs a module of the package, as ``python -m`` does, with pipes to its standard input and
    output.

    Args:
        name: of the module.
    """
    import subprocess

    entries = "\n".join(search_path(sys.path))
    return subprocess.Popen(
        [sys.executable, "-I" if sys.flags.isolated else "-P", "-c", _RUN, entries, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    )


def loading(workers: int) -> dict[str, Any]:
    """Options of torch's ``DataLoader`` for isolated worker processes.

    If multiprocessing forks, a worker is a copy of this process and first cleans its search path;
    otherwise it starts isolated.

    Args:
        workers: number of processes; 0 loads in this process.

    Raises:
        VoicenymError: as :func:`isolated`.
    """
    if workers == 0:
        return {"num_workers": 0}
    from multiprocessing import get_start_method

    return {
        "num_workers": workers,
        "multiprocessing_context": None if get_start_method() == "fork" else context(),
        "worker_init_fn": _start_loader,
    }


def shell(command: str) -> subprocess.CompletedProcess[bytes]:
    """Runs a shell command of the user in the user's environment; returns its output.

    Args:
        command: for the shell.
    """
    import subprocess

    return subprocess.run(
        command, shell=True, capture_output=True, check=False, env=own_environment()
    )


def program(
    command: Sequence[str], text: str | None = None, seconds: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a system program, which is not looked up in the current folder; returns its text output.

    Args:
        command: its name and its arguments; other users of the machine can read them.
        text: for its standard input, which they cannot read; None: it reads this process's.
        seconds: time limit; None for none.

    Raises:
        FileNotFoundError: it is not installed.
        TimeoutError: it was ended at the time limit.
    """
    import subprocess

    try:
        return subprocess.run(
            _with_path(command),
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            env=environment(),
            input=text,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(command[0]) from None


def watching_program(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Starts a system program that runs on, with a pipe from its standard output.

    Args:
        command: its name and its arguments.

    Raises:
        FileNotFoundError: it is not installed.
    """
    import subprocess

    return subprocess.Popen(
        _with_path(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**environment(), "LC_ALL": "C"},
    )


def _with_path(command: Sequence[str]) -> list[str]:
    """A command with the path of its program, which is not looked up in the current folder."""
    from shutil import which

    found = which(command[0], path=environment().get("PATH"))
    if found is None:
        raise FileNotFoundError(command[0])
    return [found, *command[1:]]


@contextmanager
def _deferred_signals() -> Iterator[None]:
    """Defers SIGINT, SIGTERM and SIGHUP to the end of the block, because a process interrupted at
    its start prints a traceback. A signal mask would be inherited by the process, these handlers
    are not.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    before = {}
    for number in (signal.SIGINT, *ending_signals()):
        if callable(signal.getsignal(number)):
            before[number] = signal.signal(number, lambda number, frame: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in arrived:
            signal.raise_signal(late)


def _start_loader(worker: int) -> None:
    sys.path[:] = search_path(sys.path)


def _put(variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
