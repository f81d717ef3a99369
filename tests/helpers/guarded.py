"""Runs commands in a folder of planted modules, without a network, and records all attempts.

The folder holds a module for every library that the package imports and for the whole standard
library. Each leaves a mark when a process imports it, and then steps aside. Processes run in a
network namespace of their own where the system allows that. Attempts to reach a host are seen by
strace, where it may be used, in all processes and libraries; and in any case by Python's audit
events in all processes of Python.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "voicenym"
IMPORTERS = ("import_module", "library", "find_spec", "importorskip")
PLANTED = """
import sys
import posix

mark = posix.open(
    {marks!r} + "/" + __name__ + "." + str(posix.getpid()), posix.O_CREAT | posix.O_WRONLY
)
posix.write(mark, "\\n".join(sys.orig_argv).encode())
posix.close(mark)
# What was asked for goes on as if nothing had happened, so that all marks are left.
path, sys.path = sys.path, [p for p in sys.path if p not in ("", ".", {folder!r})]
del sys.modules[__name__]
try:
    __import__(__name__)
finally:
    sys.path = path
"""
HOOK = """
import os, sys

def seen(event, arguments, log={log!r}):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        host = arguments[-1]
        if not isinstance(host, tuple):  # a path: a socket of this machine
            return
    else:
        return
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{{event}} {{host}}\\n".encode())
    os.close(file)

sys.addaudithook(seen)
"""
ATTEMPT = re.compile(r"(connect|sendto|sendmsg|sendmmsg)\(.*(AF_INET|[Rr]esolve)")
"""In a line of strace: something is sent to a host, or asked of a resolver of this machine."""
WATCH = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg"]
ALONE = ["unshare", "--user", "--map-root-user", "--net"]
FIRST = ["sh", "-c", 'echo $$ > "$0"; exec "$@"']
"""Writes the process number of a command to a file, and becomes the command."""
UNSET = re.compile("PYTHON|CI$|GITHUB_|.*TELEMETRY|DO_NOT_TRACK|WANDB|XDG_|HF_|TF_BUILD")
"""Variables that turn telemetry off, which must come from the package, and Python's."""


def modules() -> Iterator[tuple[Path, ast.AST]]:
    """Every module of the package, parsed."""
    for path in sorted(SOURCE.rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


def third_parties() -> set[str]:
    """Top-level names of all libraries that the package imports, wherever it does."""
    found: set[str] = set()
    for _, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module or "")
            elif isinstance(node, ast.Call) and node.args:
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                first = node.args[0]
                if called in IMPORTERS and isinstance(first, ast.Constant):
                    found.add(str(first.value))
    return {name.partition(".")[0] for name in found} - {"voicenym", ""}


def works(*command: str) -> bool:
    """Whether a wrapper around commands may be used here."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class Traces:
    """What a command and its child processes did.

    Attributes:
        imported: names that the first process imported from the folder.
        others: names that any other process imported from it, with its command line.
        events: attempts to reach a host, of Python's audit events.
        calls: attempts to reach a host, as strace saw them.
        out, err: what was written to the standard streams.
    """

    imported: set[str]
    others: dict[str, str]
    events: list[str]
    calls: list[str]
    out: str
    err: str

    @property
    def attempts(self) -> list[str]:
        """All attempts to reach a host, whoever saw them."""
        return [*self.events, *self.calls]


class Guard:
    """A folder with planted modules, in which commands run without a network.

    Args:
        root: an empty folder.

    Attributes:
        folder: the current folder of the commands.
        home: their home.
        python: an interpreter that records audit events; with the libraries of this one.
        watched: whether strace sees what they call.
    """

    def __init__(self, root: Path) -> None:
        self.folder, self.home = root / "hostile", root / "home"
        self._marks, self._log, self._calls = root / "marks", root / "log", root / "calls"
        self._first = root / "first"
        for made in (self.folder, self.home, self._marks):
            made.mkdir()
        names = {*third_parties(), *sys.stdlib_module_names, "sitecustomize", "usercustomize"}
        # libraries that those import first
        names |= {"click", "rich", "shellingham", "requests", "joblib", "numba", "librosa", "tqdm"}
        for name in names:
            self.plant(name)
        self.python = self._interpreter(root / "environment")
        watch = [*WATCH, "-o", str(self._calls)]
        # a filter in the kernel stops a process at those calls alone
        watches = [one for one in ([*watch, "--seccomp-bpf"], watch) if works(*one)]
        self.watched = bool(watches)
        alone = ALONE if works(*ALONE) else []
        self._before = [*(watches[0] if watches else []), *alone, *FIRST, str(self._first)]
        clean = {name: value for name, value in os.environ.items() if not UNSET.match(name)}
        self._environment = {**clean, "HOME": str(self.home), "OMP_NUM_THREADS": "1"}

    def plant(self, name: str) -> None:
        """Write a module into the folder that leaves a mark when it is imported."""
        text = PLANTED.format(marks=str(self._marks), folder=str(self.folder))
        (self.folder / f"{name}.py").write_text(text)

    def run(
        self, *command: object, environment: dict[str, str] | None = None, check: bool = True
    ) -> Traces:
        """Run a command in the folder.

        Args:
            command: program and arguments.
            environment: variables to set besides.
            check: whether a failure of the command fails the test.
        """
        for old in self._marks.iterdir():
            old.unlink()
        for file in (self._log, self._calls):
            file.write_text("")
        process = subprocess.Popen(
            [*self._before, *map(str, command)],
            cwd=self.folder,
            env={**self._environment, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            out, err = process.communicate(timeout=600)
        finally:
            process.kill()
        if check:
            assert process.returncode == 0, err
        number = int(self._first.read_text())
        imported, others = set(), {}
        for mark in self._marks.iterdir():
            name, _, owner = mark.name.rpartition(".")
            if int(owner) == number:
                imported.add(name)
            else:
                others[name] = mark.read_text()
        calls = [line for line in self._calls.read_text().splitlines() if ATTEMPT.search(line)]
        return Traces(imported, others, self._log.read_text().splitlines(), calls, out, err)

    def _interpreter(self, place: Path) -> Path:
        """A virtual environment over the libraries of this one.

        The hook lies in it, so that all its processes record, whatever ``PYTHONPATH`` is.
        """
        import venv

        venv.EnvBuilder(symlinks=True).create(place)
        (packages,) = place.glob("lib/python*/site-packages")
        (packages / "audit_hook.py").write_text(HOOK.format(log=str(self._log)))
        lines = ["import audit_hook"]
        folders = site.getsitepackages()
        folders += [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
        lines += [f"import site; site.addsitedir({one!r})" for one in folders]
        (packages / "audit_hook.pth").write_text("\n".join(lines) + "\n")
        return place / "bin" / "python"
