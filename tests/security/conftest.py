"""A hostile folder: among recordings, a module for every name that a process of ours may import."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

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


@pytest.fixture(scope="session")
def sources() -> list[tuple[Path, ast.AST]]:
    """Every module of the package, parsed."""
    return list(modules())


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


class Hostile:
    """A folder with planted modules, and what they leave when they are imported."""

    def __init__(self, root: Path) -> None:
        self.folder, self.marks = root / "hostile", root / "marks"
        self.folder.mkdir()
        self.marks.mkdir()
        names = {*third_parties(), *sys.stdlib_module_names, "sitecustomize", "usercustomize"}
        # libraries that those import first
        names |= {"click", "rich", "shellingham", "requests", "joblib", "numba", "librosa", "tqdm"}
        for name in names:
            self.plant(name)

    def plant(self, name: str) -> None:
        text = PLANTED.format(marks=str(self.marks), folder=str(self.folder))
        (self.folder / f"{name}.py").write_text(text)

    def run(
        self, *command: object, environment: dict[str, str] | None = None, check: bool = True
    ) -> tuple[set[str], dict[str, str], subprocess.CompletedProcess[str]]:
        """Run a command in the folder.

        Returns:
            Names that its first process imported from the folder; names that any other process did,
            with its command line; and the finished process.
        """
        for old in self.marks.iterdir():
            old.unlink()
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=self.folder,
            env={**clean, "OMP_NUM_THREADS": "1", **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            out, err = process.communicate(timeout=600)
        finally:
            process.kill()
        done = subprocess.CompletedProcess(command, process.returncode, out, err)
        if check:
            assert done.returncode == 0, err
        first, others = set(), {}
        for mark in self.marks.iterdir():
            name, _, pid = mark.name.rpartition(".")
            if int(pid) == process.pid:
                first.add(name)
            else:
                others[name] = mark.read_text()
        return first, others, done


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    return Hostile(tmp_path_factory.mktemp("ground"))
