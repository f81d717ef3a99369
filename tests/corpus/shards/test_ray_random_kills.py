"""``voicenym anonymize --engine ray`` from a failing store into it, of which workers, nodes and the
command itself are killed at random calls of that store.

It runs on request alone, since each start of Ray takes seconds on an idle machine and minutes on a
busy one: ``VOICENYM_KILLS=3``; ``VOICENYM_KILL_SEED`` draws others.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from s3_server import corpus, fresh, objects, outputs, upload
from shard_material import said, tree

from voicenym.corpus.run_records.run_log import RunLog
from voicenym.corpus.shards.shard_ledger import lines_of_store, status_of_store

pytest.importorskip("ray")
KILLS = int(os.environ.get("VOICENYM_KILLS", "0"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not KILLS, reason="VOICENYM_KILLS=3: kills Ray at random, for minutes"),
]
SEED = int(os.environ.get("VOICENYM_KILL_SEED", "26"))
GAP = (3, 9)
"""Fewest and most calls of the store between two kills."""
PARTS = {"worker": b"ray::RayWorker", "node": b"/raylet/raylet", "driver": b"--engine"}
"""What can be killed, by a part of its command."""


def processes() -> dict[int, bytes]:
    """Commands of the processes that have this test's endpoint, but for this one."""
    found = {}
    endpoint = b"AWS_ENDPOINT_URL=" + os.environ["AWS_ENDPOINT_URL"].encode() + b"\0"
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            name, environment = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue
        if name and endpoint in environment and int(entry.name) != os.getpid():
            found[int(entry.name)] = name
    return found


class Killer:
    """Kills one part after the other, in random order, after random numbers of calls of the store.

    A part that is not there yet is killed at the first call at which it is.
    """

    def __init__(self, most: int) -> None:
        self._random, self._lock = random.Random(SEED), threading.Lock()
        kinds = sorted(PARTS)
        rounds = (self._random.sample(kinds, len(kinds)) for _ in range(most))
        self._waiting = [kind for one in rounds for kind in one][:most]
        self._left = self._random.randint(*GAP)
        self.killed: Counter[str] = Counter()

    def __call__(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left > 0 or not self._waiting:
                return
            part = PARTS[self._waiting[0]]
            if found := [one for one, name in processes().items() if part in name]:
                os.kill(self._random.choice(sorted(found)), signal.SIGKILL)
                self.killed[self._waiting.pop(0)] += 1
                self._left = self._random.randint(*GAP)


@pytest.fixture
def anonymize_with_ray(key, tmp_path):
    """The command in a process of its own."""

    def run(out: str) -> subprocess.CompletedProcess[bytes]:
        words = ["anonymize", "--key", str(key), "-s", "mcadams", "-j", "2", "--engine", "ray"]
        return subprocess.run(
            [sys.executable, "-m", "voicenym", *words, "s3://corpus/in", "-o", out],
            cwd=tmp_path,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            check=False,
        )

    return run


@pytest.mark.parametrize("remote", [True, False])
def test_random_kills_beside_a_failing_store_lose_and_double_nothing(
    store, anonymize, anonymize_with_ray, tmp_path, temporary, monkeypatch, remote
):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")  # else botocore itself repeats most calls
    fresh()
    corpus(tmp_path / "in", max(5, 2 * KILLS))
    upload(tmp_path / "in", "s3://corpus/in")
    assert anonymize("in", "-o", "local").returncode == 0
    local = outputs(tree(tmp_path / "local"))
    out = "s3://corpus/out" if remote else str(tmp_path / "out")

    def there() -> dict[str, bytes]:
        if remote:
            return objects(out)
        return {n: d for n, d in tree(tmp_path / "out").items() if ".voicenym" not in n}

    store.written.clear()
    killer = Killer(KILLS)
    before: dict[str, bytes] = {}
    for _ in range(4 * KILLS + 20):
        store.share, store.each_call = 0.05, killer
        done = anonymize_with_ray(out)
        store.share, store.each_call = 0.0, lambda: None
        now = outputs(there())
        assert before.items() <= now.items() <= local.items(), "nothing lost, half or else"
        before = now
        assert "Traceback" not in said(done)
        if done.returncode == 0:
            break
    assert done.returncode == 0, said(done)
    assert killer.killed.total() == KILLS
    assert before == local
    wait_for_the_last()
    check_nothing_is_left(out, temporary, remote)
    lines = lines_of_store(out) if remote else read_log(tmp_path / "out")
    assert lines.keys() == local.keys()
    assert all("error" not in line for line in lines.values())
    if remote:
        puts = {path: n for path, n in store.written.items() if n and "ledger" not in path}
        assert puts == {f"/corpus/out/{name}": 1 for name in local}


def wait_for_the_last() -> None:
    """Until the processes of all runs have ended."""
    while processes():
        time.sleep(0.05)


def read_log(folder: Path):
    log = RunLog(folder / "voicenym.jsonl")
    log.read()
    return log.lines


def check_nothing_is_left(out: str, temporary: Path, remote: bool) -> None:
    # the empty one is torch's
    assert [path.name for path in temporary.rglob("*")] in ([], ["torchinductor_root"])
    if remote:
        assert status_of_store(out).process is None
        assert not any("/run/" in name for name in objects(out))
    else:
        assert not [name for name in tree(Path(out)) if "/." in f"/{name}"]
