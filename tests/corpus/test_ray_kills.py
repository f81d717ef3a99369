"""Kills of what a run with Ray consists of: its nodes and its driver; workers have their test in
``test_ray_pool.py``. Nothing is half, nothing is twice, and a rerun makes the rest.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile

import voicenym
from voicenym.corpus.batches import batch_runner
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.batches.engines import RayEngine
from voicenym.corpus.plans.file_plan import plan
from voicenym.corpus.workers import ray_pool
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key

pytest.importorskip("ray")
pytestmark = pytest.mark.slow
KEY = Key(bytes(range(100, 132)))


@pytest.fixture
def corpus(tmp_path) -> Path:
    for number in range(40):
        path = tmp_path / f"in/s{number % 3}/{number}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        sound = 0.1 * np.sign(np.sin(2 * np.pi * (100 + number) * np.arange(8000) / 16_000))
        soundfile.write(path, sound, 16_000)
    return tmp_path / "in"


def job(out: Path) -> Job:
    # all of them, as the command logs them
    parameters = voicenym.load("mcadams").parameters()
    return Job("mcadams", parameters, KEY, log=out / "voicenym.jsonl")


def outputs(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.wav")}


def complete(folder: Path) -> dict[str, bytes]:
    """Outputs under their own names; a worker that ends removes the one that it was writing."""
    paths = [path for path in folder.rglob("*.wav") if not path.name.startswith(".voicenym-")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def finished(corpus: Path, out: Path, expected: dict[str, bytes]) -> None:
    """Checks what a killed run has left, and that the next one makes the rest."""
    assert complete(out)
    assert complete(out).items() <= expected.items()
    again = run(job(out), plan([corpus], out))
    assert (again.done + again.skipped, again.failures) == (len(expected), [])
    assert outputs(out) == expected, "no temporary file is left"
    assert (out / "voicenym.jsonl").read_text().count("\n") == len(expected)


@pytest.fixture
def expected(corpus, tmp_path) -> dict[str, bytes]:
    run(job(tmp_path / "local"), plan([corpus], tmp_path / "local"))
    return outputs(tmp_path / "local")


def children(process: int, part: bytes) -> list[int]:
    """Child processes whose command has a part."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == process and part in command:
            found.append(int(entry.name))
    return found


def gone(processes: list[int]) -> None:
    """Waits for processes that end with the one that started them."""
    while any(map(lives, processes)):
        time.sleep(0.01)


def lives(process: int) -> bool:
    """Whether a process runs; a dead one of which nobody has asked the end does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_run_whose_node_is_killed_ends_with_an_error(corpus, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(ray_pool, "LOST_AFTER", 1.0)
    out, dead = tmp_path / "out", tmp_path / "dead"

    def prepare(settings, log):
        from voicenym.corpus.batches.batch_task import Worker

        worker = Worker(settings)

        def answer(task):
            outcome = worker(task)
            while dead.exists():  # for its answers no node is needed, so that it must not give any
                time.sleep(0.1)
            return outcome

        return answer

    def kill(outcome) -> None:
        if not dead.exists():
            dead.touch()
            (node,) = children(os.getpid(), b"/raylet/raylet")
            os.kill(node, signal.SIGKILL)

    monkeypatch.setattr(batch_runner, "_prepare", prepare)
    with pytest.raises(CorpusError, match="all nodes of the cluster are gone"):
        run(job(out), plan([corpus], out), 2, kill, engine=RayEngine())
    monkeypatch.undo()
    finished(corpus, out, expected)


def test_a_killed_driver_takes_its_workers_along(corpus, expected, tmp_path):
    out = tmp_path / "out"
    KEY.save(tmp_path / "project.key")
    words = [
        "anonymize",
        str(corpus),
        "-o",
        str(out),
        "-s",
        "mcadams",
        "--engine",
        "ray",
        "-j",
        "2",
    ]
    driver = subprocess.Popen(
        [sys.executable, "-m", "voicenym", *words, "--key", str(tmp_path / "project.key")],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stderr=subprocess.DEVNULL,
    )
    while not complete(out) and driver.poll() is None:
        time.sleep(0.01)
    nodes = children(driver.pid, b"/raylet/raylet")
    driver.kill()
    driver.wait()
    gone(nodes)
    finished(corpus, out, expected)
