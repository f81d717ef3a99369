"""Nothing beside a recording is executed: every command that starts processes, in a hostile folder.

The folder holds a module for every library that the package imports and for the whole standard
library. Each leaves a mark when it is imported, by any process, and then steps aside.
"""

from __future__ import annotations

import ast
import json
import shutil

import pytest

from voicenym.pseudonym import Key

PATHS = [None, "", ".", ":/nowhere"]
"""Values of PYTHONPATH that name the current folder, or seem to."""
STARTERS = {
    "subprocess": None,
    "multiprocessing": None,
    "concurrent.futures": ("ProcessPoolExecutor",),
    "torch.multiprocessing": None,
    "pty": None,
    "asyncio.subprocess": None,
    "runpy": None,
    "code": None,
}
"""Modules that start processes, and what of them does; None for all of it."""
CALLS = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"}
CALLS |= {
    f"{kind}{end}" for kind in ("exec", "spawn") for end in ("l", "le", "lp", "v", "ve", "vp")
}
ALLOWED = {"processes.py": None, "isolation.py": {"execve"}}


def anonymize(guard, *command, path=None):
    """A recording by a worker process, because two are named; what that imported.

    The output of the other is there from the first call on.
    """
    more = {} if path is None else {"PYTHONPATH": path}
    if not (guard.folder / "some.key").exists():
        Key.generate().save(guard.folder / "some.key")
    (guard.folder / "out" / "1.wav").unlink(missing_ok=True)
    names = ["corpus/s0/0.wav", "corpus/s0/1.wav"]
    options = ["-o", "out", "--key", "some.key", "--system", "mcadams", "--workers", "2", "-q"]
    found = guard.run(*command, "anonymize", *names, *options, environment=more)
    assert len(list((guard.folder / "out").rglob("*.wav"))) == 2
    assert found.attempts == []
    return found


def test_the_planted_modules_leave_marks(guard):
    """Without which the other tests would show nothing."""
    found = guard.run(guard.python, "-c", "import json, numpy, multiprocessing.spawn")
    assert {"json", "numpy", "multiprocessing"} <= found.imported
    started = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import numpy'])"
    found = guard.run(guard.python, "-P", "-c", started)
    assert "numpy" in found.others


@pytest.mark.parametrize("path", PATHS[1:])
def test_the_command_and_its_workers_import_nothing(guard, console, path):
    """Without PYTHONPATH: ``test_commands.py``, where an evaluation and a training have workers."""
    command, stub = console
    more = {"PYTHONPATH": path}
    if not path:
        guard.plant("voicenym")
    try:
        beyond_us = guard.run(*stub, environment=more).imported
        found = anonymize(guard, *command, path=path)
    finally:
        (guard.folder / "voicenym.py").unlink(missing_ok=True)
    assert found.others == {}
    # A relative PYTHONPATH is the user's word to Python, which obeys it before we are asked.
    assert found.imported <= beyond_us
    assert path or not found.imported


@pytest.mark.parametrize(("path", "flag"), [(None, "-P"), (".", "-I")])
def test_the_module_and_its_workers_import_nothing(guard, path, flag):
    (guard.folder / "empty").mkdir(exist_ok=True)
    (guard.folder / "empty" / "__main__.py").write_text("")
    more = {} if path is None else {"PYTHONPATH": path}
    beyond_us = guard.run(guard.python, "-m", "empty", environment=more).imported
    found = anonymize(guard, guard.python, "-m", "voicenym", path=path)
    assert found.others == {}
    assert found.imported <= beyond_us
    # -P does not concern PYTHONPATH, against which there is -I
    found = anonymize(guard, guard.python, flag, "-m", "voicenym", path=path)
    assert (found.imported, found.others) == (set(), {})


def test_ignoring_the_environment_does_not_open_the_folder(guard):
    found = anonymize(guard, guard.python, "-E", "-m", "voicenym")
    assert found.others == {}
    assert not {"numpy", "torch", "json", "multiprocessing"} & found.imported


@pytest.mark.parametrize("path", PATHS)
def test_metadata_in_the_folder_adds_nothing(guard, path):
    """``key new`` asks every system for its revisions; those of other packages it imports."""
    about = guard.folder / "planted-1.0.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    groups = ("systems", "identities", "verifiers", "metrics", "attackers")
    (about / "entry_points.txt").write_text(
        "".join(f"[voicenym.{group}]\nplanted = planted:Planted\n" for group in groups)
    )
    guard.plant("planted")
    (guard.folder / "key").unlink(missing_ok=True)
    more = {} if path is None else {"PYTHONPATH": path}
    command = [guard.python, "-m", "voicenym"]
    found = guard.run(*command, "key", "new", "key", environment=more)
    assert "planted" not in found.imported | set(found.others)
    assert "planted" not in found.err
    assert "planted" not in (guard.folder / "key").read_text()
    program = (
        "import voicenym; print(voicenym.available()); voicenym.Key.generate().save('own'); "
        "from voicenym.identity import identities; print(identities()); "
        "from voicenym.verification.verifiers import VERIFIERS; print(VERIFIERS.names())"
    )
    (guard.folder / "own").unlink(missing_ok=True)
    found = guard.run(guard.python, "-P", "-c", program, environment=more)
    assert "planted" not in found.imported
    assert all(name in found.out for name in ("mcadams", "householder", "ecapa-small"))
    assert "planted" not in found.out


PROGRAM = """
import json
import os
import sys
from pathlib import Path

import numpy as np


def report(*anything):
    import multiprocessing

    time = __import__("time")
    time.sleep(0.2)
    return os.getpid(), sys.path, dict(os.environ)


class Ones:
    def identity(self, recording):
        return recording.name

    def __call__(self, recording):
        Path(f"path.{os.getpid()}").write_text(json.dumps(sys.path))
        return np.ones(16_000, np.float32)


class Rows:
    def __len__(self):
        return 4

    def __getitem__(self, row):
        return sys.path


def main():
    import torch

    from voicenym import processes
    from voicenym.corpus.workers.worker_pool import Pool

    environment, path = dict(os.environ), list(sys.path)
    everything(runs=sys.argv[1:] == ["everything"])
    with Pool.of(report, 1) as pool:  # a process of its own all the same
        children = list(pool.in_order(range(4)))
    loader = torch.utils.data.DataLoader(Rows(), None, **processes.loading(2))
    paths = [json.loads(p.read_text()) for p in Path().glob("path.*")] + list(loader)
    assert os.environ == environment and sys.path == path
    answer = {
        "paths": paths + [path for _, path, _ in children],
        "environments": [environment for _, _, environment in children],
        "pids": len({pid for pid, *_ in children} - {os.getpid()}),
    }
    print(json.dumps(answer))


def everything(runs):
    from voicenym.corpus.batches.batch_runner import Job, run
    from voicenym.corpus.embedder import Embedder
    from voicenym.corpus.plans.file_plan import Item
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.workers.worker_pool import Pool
    from voicenym.dsp.features.cepstra import Cepstra
    from voicenym.pseudonym import Key
    from voicenym.training.speakers.train_ubm import _features
    from voicenym.training.speech.speech_cache import SpeechCache
    from voicenym.verification.verifiers import verifier

    if not runs:
        return
    start = Pool.__init__  # one process of each pool is enough
    Pool.__init__ = lambda self, workers, *rest: start(self, 1, *rest)
    speech = recordings(Path("corpus"))
    items = [Item(r.path, Path(f"library/{r.name}.wav"), r.speaker, r.name) for r in speech[:2]]
    assert run(Job("mcadams", {}, Key.generate()), items, workers=2).done == 2
    with Embedder(workers=2) as embedder:
        embedder(verifier("ecapa-small"), [*speech, *speech[:12]])
    assert len(list(_features([(r, Cepstra()) for r in speech], 2))) == len(speech)
    SpeechCache(Path("cache")).fill(speech[:16], Ones(), workers=2)


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("path", "all_pools"), [(None, False), (":", True)])
def test_a_program_of_others_starts_isolated_processes(guard, tmp_path, path, all_pools):
    """All pools start their processes in one way: where nothing names the folder, one is enough."""
    (tmp_path / "program.py").write_text(PROGRAM)
    for made in ("library", "cache"):
        shutil.rmtree(guard.folder / made, ignore_errors=True)
    for old in guard.folder.glob("path.*"):
        old.unlink()
    more = {} if path is None else {"PYTHONPATH": path}
    command = [guard.python, tmp_path / "program.py", *(["everything"] if all_pools else [])]
    found = guard.run(*command, environment=more)
    assert found.others == {}
    assert found.attempts == []
    # what the program imports by itself is its own affair
    assert path or not found.imported
    answer = json.loads(found.out)
    assert answer["pids"] >= 1
    assert len(answer["paths"]) >= (9 if all_pools else 8)
    for entries in answer["paths"]:
        assert all(entry.startswith("/") for entry in entries)
        assert str(guard.folder) not in entries
    for environment in answer["environments"]:
        assert environment["PYTHONSAFEPATH"] == "1"
        assert environment["ORT_DISABLE_TELEMETRY"] == "1"
        # at most the package's own folder, which the relative entry could have been
        assert all(one.startswith("/") for one in environment.get("PYTHONPATH", "/").split(":"))
        assert str(guard.folder) not in environment.get("PYTHONPATH", "")


@pytest.mark.parametrize("path", [None, "."])
def test_the_aligner_and_the_recogniser_import_nothing(guard, tmp_path, path):
    pytest.importorskip("pocketsphinx")
    (tmp_path / "program.py").write_text(
        "import numpy as np\n"
        "from voicenym.recognition.sphinx_processes.alignment import Aligner\n"
        "from voicenym.recognition.sphinx_processes.sphinx import Sphinx\n"
        "with Aligner({'cat': ['K AE T']}) as aligner:\n"
        "    aligner.align(np.zeros(16000, np.float32), 'cat')\n"
        "with Sphinx(phrases=['cat']) as sphinx:\n"
        "    print(sphinx.transcribe([np.zeros(16000, np.float32)]))\n"
    )
    more = {} if path is None else {"PYTHONPATH": path}
    found = guard.run(guard.python, tmp_path / "program.py", environment=more)
    assert found.out.startswith("['")
    assert found.others == {}
    assert found.attempts == []
    assert path or not found.imported


def test_a_program_that_cannot_be_isolated_names_the_cure(guard, tmp_path):
    (tmp_path / "program.py").write_text(
        "from voicenym.corpus.workers.worker_pool import Pool\n"
        "if __name__ == '__main__':\n    list(Pool.of(print, 2).in_order([1]))\n"
    )
    found = guard.run(guard.python, "-E", tmp_path / "program.py", check=False)
    assert found.others == {}
    assert "start it with -P or -I as well" in found.err


def test_the_linker_s_path_loses_the_current_folder_before_anything_is_loaded(guard, tmp_path):
    (tmp_path / "voicenym").write_text(
        "import voicenym, os, sys, json\n"
        "print(json.dumps([os.environ.get('LD_LIBRARY_PATH'), sys.flags.safe_path, sys.path,"
        " os.environ['PATH'], sys.argv[1:]]))\n"
    )
    more = {"LD_LIBRARY_PATH": ":/opt/some", "PATH": ".:/usr/bin::/bin"}
    found = guard.run(guard.python, tmp_path / "voicenym", "a b", environment=more)
    linker, safe, path, programs, arguments = json.loads(found.out)
    assert linker == "/opt/some"
    assert safe  # it has started anew
    assert programs == "/usr/bin:/bin"
    assert arguments == ["a b"]
    assert str(guard.folder) not in path


def test_a_command_of_the_user_s_own_has_the_user_s_environment(guard, tmp_path, monkeypatch):
    from voicenym import isolation, processes

    monkeypatch.setenv("PYTHONPATH", "mine")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.delenv(isolation.OWN, raising=False)
    with processes.isolated():
        done = processes.shell('echo "$PYTHONPATH,$PYTHONSAFEPATH,$VOICENYM_OWN_ENVIRONMENT"')
    assert done.stdout == b"mine,,\n"


def test_libraries_take_no_settings_from_the_current_folder(guard, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("speechmos")
    (guard.folder / "matplotlibrc").write_text("lines.linewidth: 77\n")
    (guard.folder / ".numba_config.yaml").write_text("disable_jit: 1\ncache_dir: ./evil\n")
    (tmp_path / "program.py").write_text(
        "import os\n"
        "from voicenym.libraries import library\n"
        "here = os.getcwd()\n"
        "width = library('matplotlib').rcParams['lines.linewidth']\n"
        "from voicenym.metrics.utility.opinion import mean_opinion\n"
        "import numpy as np\n"
        "mean_opinion([np.random.default_rng(0).standard_normal(160000) * 0.1])\n"
        "import numba, onnxruntime\n"
        "numba.njit(lambda x: x + 1)(1)\n"
        "assert os.getcwd() == here\n"
        "print(width, numba.config.DISABLE_JIT, numba.config.CACHE_DIR)\n"
    )
    try:
        found = guard.run(guard.python, tmp_path / "program.py")
    finally:
        (guard.folder / "matplotlibrc").unlink()
        (guard.folder / ".numba_config.yaml").unlink()
    width, *numba = found.out.split()
    assert float(width) < 10
    assert numba == ["0"]


def test_processes_are_started_in_one_place(sources):
    found = []
    for path, tree in sources:
        allowed = ALLOWED.get(path.name, set())
        for node in _run(tree):
            for what in _starts(node):
                if allowed is not None and what not in allowed:
                    found.append(f"{path}:{node.lineno}: {what}")
    assert found == []


def test_the_search_for_starts_finds_them():
    text = "\n".join(
        (
            "import subprocess, os",
            "from multiprocessing import get_context",
            "import concurrent.futures",
            "concurrent.futures.ProcessPoolExecutor(2)",
            "from concurrent.futures import ProcessPoolExecutor",
            "os.system('ls')",
            "DataLoader([], num_workers=2)",
            "def f(x, shell=True): pass",
            "f(1, shell=True)",
            "f.load(x, weights_only=False, allow_pickle=True, trust_remote_code=True)",
            "import pickle",
            "yaml.load(x)",
            "eval('1')",
            "from pickle import UnpicklingError, loads",
        )
    )
    lines = {node.lineno for node in ast.walk(ast.parse(text)) for _ in _starts(node)}
    doors = {node.lineno for node in ast.walk(ast.parse(text)) for _ in _doors(node)}
    assert lines == {1, 2, 4, 5, 6, 7}
    assert doors == {9, 10, 11, 12, 13, 14}


def test_nothing_that_is_read_is_executed(sources):
    """Pickles, evaluated text, shells and others' code: none but a Kaldi pipe that is allowed."""
    found = []
    for path, tree in sources:
        for node in ast.walk(tree):
            for what in _doors(node):
                if (path.name, what) != ("processes.py", "shell=True"):
                    found.append(f"{path}:{node.lineno}: {what}")
    assert found == []


def _run(tree):
    """Nodes of a module, without what only a checker of types reads."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from _run(node)


def _starts(node):
    """What starts a process, among the statements and calls of a module."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if STARTERS.get(alias.name, ()) is None:
                yield alias.name
    elif isinstance(node, ast.ImportFrom) and node.module in STARTERS:
        names = STARTERS[node.module]
        # an annotation's import starts nothing; nor do exceptions and helpers
        for alias in node.names:
            if names is None or alias.name in names:
                yield alias.name
    elif isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Attribute):
            root = called.value
            if isinstance(root, ast.Name) and root.id in ("os", "posix") and called.attr in CALLS:
                yield called.attr
            if called.attr == "ProcessPoolExecutor":
                yield called.attr
        for keyword in node.keywords:
            if keyword.arg == "num_workers":
                yield "num_workers"


PICKLES = ("pickle", "dill", "shelve", "marshal")


def _doors(node):
    if isinstance(node, ast.Import):
        yield from (n.name for n in node.names if n.name in PICKLES)
    if isinstance(node, ast.ImportFrom) and node.module in PICKLES:
        yield from (n.name for n in node.names if not n.name.endswith("Error"))
    if not isinstance(node, ast.Call):
        return
    called = getattr(node.func, "id", None)
    if called in ("eval", "exec", "compile"):
        yield called
    dotted = ast.unparse(node.func)
    if dotted in ("yaml.load", "yaml.unsafe_load", "yaml.full_load"):
        yield dotted
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if dotted == "torch.load" and ast.unparse(given.get("weights_only", ast.Constant(0))) != "True":
        yield "torch.load without weights_only"
    for name in ("shell", "allow_pickle", "trust_remote_code"):
        if name in given and ast.unparse(given[name]) != "False":
            yield f"{name}={ast.unparse(given[name])}"
