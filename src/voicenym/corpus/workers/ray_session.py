"""Connection to Ray: a private instance on this machine, or a cluster.

An instance that is started here is closed to others: its files lie in a folder of mode 0700 (Ray
itself makes them readable for everybody), its ports ask for a token that is in that folder (Ray's
workers listen on every address), and usage statistics and dashboard are off. Its processes start in
that folder and import nothing from the current one, in which recordings of others may lie.
"""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TextIO

from voicenym.errors import CorpusError, DependencyError
from voicenym.processes import isolated, short_temporary_folder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PREFIX, TOKEN = "voicenym-ray-", "token"
QUIET = {
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",  # no messages about dead workers: the run reports them
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # its default from now on, or a warning
}
OWN = {
    "RAY_AUTH_MODE": "token",
    "RAY_worker_niceness": "0",  # as local processes; Ray's 15 starves beside any other program
}
"""Variables of an instance that is started here."""
ERRORS_ONLY = 40
"""Level of Ray's own messages, as of :mod:`logging`."""
STARTS = 3
"""Times that a start is tried: a node ends if its agents, Python programs, take over 15 seconds."""
ABANDONED_AFTER = 600.0
"""Seconds after which a folder without a token is what agents of a dead Ray wrote after its end."""
PATIENCE = 10.0
"""Seconds to wait for an answer of a cluster."""


class RaySession:
    """Ray from :meth:`__enter__` to :meth:`__exit__`; one that runs already is used and left.

    Args:
        address: of a cluster, such as ``10.0.0.1:6379``; None starts an instance on this machine.
        workers: processors of an instance that is started here.

    Attributes:
        local: whether the instance was started here.
    """

    def __init__(self, address: str | None = None, workers: int = 1) -> None:
        self._address, self._workers = address, workers
        self._folder: Path | None = None
        self._lock: TextIO | None = None
        self._before: dict[str, str | None] = {}
        self._owns = False
        self.local = False

    def __enter__(self) -> RaySession:
        try:
            if self._address is None:
                self._start()
            else:
                self._connect(self._address)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if self._owns:
            imported().shutdown()
            self._owns = False
        self._remove()

    def _start(self) -> None:
        folder, token = self._new_folder()
        self._set({**QUIET, **OWN, "RAY_AUTH_TOKEN_PATH": str(token)})
        ray = imported()  # which reads these variables
        if ray.is_initialized():
            return
        for attempt in range(1, STARTS + 1):
            try:
                _start_node(folder, self._workers)
                break
            except Exception as error:  # Ray raises a plain one where its start takes too long
                ray.shutdown()
                if attempt == STARTS:
                    raise _no_start(folder, error) from None
        self.local = self._owns = True

    def _connect(self, address: str) -> None:
        self._set(QUIET)
        ray = imported()
        if ray.is_initialized():
            return
        folder, _ = self._new_folder()
        try:
            _read_variables_again()
            _check_reachable(address)  # Ray itself tries for minutes
            with _beside(folder), _own_signals():
                ray.init(address=address, log_to_driver=False, logging_level=ERRORS_ONLY)
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            ray.shutdown()
            raise CorpusError(
                f"{address}: the cluster cannot be reached ({_first_line(error)}); check the "
                "address that `ray start --head` printed, its token ($RAY_AUTH_TOKEN_PATH), and "
                f"that the same Ray ({ray.__version__}) and Python ({platform.python_version()}) "
                "run there"
            ) from None
        self._owns = True

    def _new_folder(self) -> tuple[Path, Path]:
        """Private folder with a token that is locked while this process lives; those of dead
        processes are removed.
        """
        within = Path(short_temporary_folder())
        for folder in within.glob(f"{PREFIX}*"):
            _remove_if_dead(folder)
        self._folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=within))
        token = self._folder / TOKEN
        self._lock = _locked(token, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        self._lock.write(secrets.token_hex(32))
        self._lock.flush()
        return self._folder, token

    def _set(self, variables: Mapping[str, str]) -> None:
        """Sets environment variables until the end of the session; Ray reads them at any time."""
        self._before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)

    def _remove(self) -> None:
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._before = {}
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def imported() -> ModuleType:
    """Ray's module.

    Raises:
        DependencyError: it is not installed.
    """
    try:
        import ray
    except ImportError:
        raise DependencyError(
            "--engine ray needs the package ray: pip install 'voicenym[cluster]'"
        ) from None
    return ray


def _start_node(folder: Path, workers: int) -> None:
    """Starts Ray on this machine, with its files in a private folder.

    Raises:
        Exception: Ray's own.
    """
    _read_variables_again()
    with _beside(folder), _own_signals():
        imported().init(
            address="local",
            num_cpus=workers,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=ERRORS_ONLY,
            _temp_dir=str(folder / "ray"),
            _node_ip_address="127.0.0.1",
        )


def _no_start(folder: Path, error: Exception) -> CorpusError:
    often = "once" if STARTS == 1 else f"{STARTS} times"
    return CorpusError(
        f"Ray cannot start on this machine ({_first_line(error)}); tried {often}, and its "
        "node gives up after 15 seconds where other programs keep the processors busy: run again "
        f"when there are fewer, free some memory and some space in {folder.parent}, or leave out "
        "--engine ray"
    )


def _remove_if_dead(folder: Path) -> None:
    """Removes the folder of a dead process; without a token, one that agents have made again."""
    try:
        with closing(_locked(folder / TOKEN, os.O_RDWR)):
            shutil.rmtree(folder, ignore_errors=True)
    except FileNotFoundError:
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > ABANDONED_AFTER:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return  # a living process has it


def _locked(path: Path, flags: int) -> TextIO:
    """A file that this process has locked.

    Raises:
        OSError: another process has, or it cannot be opened.
    """
    file = os.fdopen(os.open(path, flags, 0o600), "w" if flags & os.O_CREAT else "r+")
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file


def _read_variables_again() -> None:
    """Makes Ray read its variables and its token again, where the program had used it before."""
    raylet = import_module("ray._raylet")
    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()


def _check_reachable(address: str) -> None:
    """Checks that somebody listens at ``HOST:PORT``.

    Raises:
        OSError: nobody does.
        ValueError: it is no such address.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise ValueError("not HOST:PORT")
    with socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE):
        pass


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]


@contextmanager
def _beside(folder: Path) -> Iterator[None]:
    """Context in which processes start in a folder, isolated.

    Ray puts the current folder of its driver on the search path of its workers.
    """
    before = Path.cwd()
    with isolated():
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


@contextmanager
def _own_signals() -> Iterator[None]:
    """Context after which the caller's handler of SIGTERM is back; Ray sets its own."""
    try:
        before = signal.getsignal(signal.SIGTERM)
        yield
        signal.signal(signal.SIGTERM, before)
    except ValueError:  # not the main thread: Ray sets none either
        yield
