"""Object stores whose calls fail, buckets that are full, workers and runs that are killed."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from s3_server import corpus, fresh, objects, outputs, upload
from shard_material import said, tree

from voicenym.corpus.shards import shard_ledger
from voicenym.corpus.shards.shard_ledger import status_of_store
from voicenym.corpus.shards.stores import object_store
from voicenym.pseudonym import Key

KEY = Key(bytes(range(100, 132)))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_failing_calls_lose_nothing_and_write_nothing_twice(
    store, anonymize, tmp_path, workers, monkeypatch
):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")  # else botocore itself repeats most of them
    fresh()
    corpus(tmp_path / "in", 4)
    upload(tmp_path / "in", "s3://corpus/in")
    assert anonymize("in", "-o", "local").returncode == 0
    store.share = 0.05
    for _ in range(10):  # until a run has met no failure that it could not mend
        done = anonymize("s3://corpus/in", "-o", "s3://corpus/out", workers=workers)
        assert "Traceback" not in said(done)
        if done.returncode == 0:
            break
    assert done.returncode == 0, said(done)
    store.share = 0.3
    anonymize("s3://corpus/in", "-o", "s3://corpus/harder", workers=workers)
    assert store.failed > 0
    store.share = 0.0
    anonymize("s3://corpus/in", "-o", "s3://corpus/harder", workers=workers)
    local = outputs(tree(tmp_path / "local"))
    assert outputs(objects("s3://corpus/out")) == local
    assert outputs(objects("s3://corpus/harder")) == local


@pytest.mark.slow
def test_killed_workers_leave_whole_objects_and_a_rerun_makes_the_rest(
    store, anonymize, tmp_path, temporary
):
    corpus(tmp_path / "in", 6)
    upload(tmp_path / "in", "s3://corpus/in")
    assert anonymize("in", "-o", "local").returncode == 0
    local = outputs(tree(tmp_path / "local"))
    store.delay = 0.2  # so that some die between their work and their put
    stop = threading.Event()

    def kill() -> None:
        """Kills a worker process now and then, as a system that is out of memory does."""
        chosen = random.Random(3)
        while not stop.wait(0.4):
            for child in workers_of(os.getpid()):
                if chosen.random() < 0.3:
                    os.kill(child, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        first = anonymize("s3://corpus/in", "-o", "s3://corpus/out", workers=2)
    finally:
        stop.set()
        killer.join()
    there = outputs(objects("s3://corpus/out"))
    assert there.items() <= local.items()  # nothing half, nothing else
    assert "Traceback" not in said(first)
    store.delay = 0.0
    store.puts.clear()
    again = anonymize("s3://corpus/in", "-o", "s3://corpus/out")
    assert again.returncode == 0, said(again)
    assert outputs(objects("s3://corpus/out")) == local
    assert f"{len(there)} already done" in said(again)
    written = [path for path, _ in store.puts if "ledger" not in path]
    assert len(written) >= len(local) - len(there)
    assert list(temporary.glob(".voicenym-*")) == []  # those of the dead are gone, too


@pytest.mark.slow
def test_a_killed_run_leaves_whole_objects_and_a_rerun_makes_the_rest(
    store, anonymize, key, tmp_path, temporary
):
    corpus(tmp_path / "in", 4)
    upload(tmp_path / "in", "s3://corpus/in")
    assert anonymize("in", "-o", "local").returncode == 0
    local = outputs(tree(tmp_path / "local"))
    store.puts.clear()
    arguments = ["anonymize", "--key", str(key), "-s", "mcadams", "-j", "1", "s3://corpus/in"]
    run = subprocess.Popen(
        [sys.executable, "-m", "voicenym", *arguments, "-o", "s3://corpus/out"],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stderr=subprocess.DEVNULL,
    )
    # at its fifth put: what it says of itself, two outputs and the line of the first are there, the
    # line of the second not
    store.before_put = lambda: run.kill() if len(store.puts) == 5 else None
    run.wait()
    store.before_put = lambda: None
    assert run.returncode == -signal.SIGKILL
    there = objects("s3://corpus/out")
    assert outputs(there).items() <= local.items()
    assert len(outputs(there)) >= 2
    assert any("/run/" in name for name in there)
    assert status_of_store("s3://corpus/out").process is None
    again = anonymize("s3://corpus/in", "-o", "s3://corpus/out")
    assert again.returncode == 0, said(again)
    assert outputs(objects("s3://corpus/out")) == local
    assert f"{len(outputs(there))} already done" in said(again)
    assert list(temporary.glob(".voicenym-*")) == []
    assert not any("/run/" in name for name in objects("s3://corpus/out"))


def test_an_interrupted_run_ends_though_its_store_never_answers(store, monkeypatch):
    """An interrupt can leave a lock of logging held; the store's thread then waits for it."""
    answered = threading.Event()
    monkeypatch.setattr(shard_ledger, "PATIENCE", 0.01)
    state = shard_ledger.ledger_of("s3://corpus/out", ["0.tar"])
    state.__enter__()
    assert status_of_store("s3://corpus/out").process == os.getpid()
    monkeypatch.setattr(shard_ledger.object_writes, "remove", lambda _: answered.wait())
    state.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    answered.set()
    assert any("/run/" in name for name in objects("s3://corpus/out"))


def test_each_read_of_an_open_object_is_tried_again(store, monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    data = random.Random(1).randbytes(50_000)
    fresh().pipe_file("s3://corpus/x.tar", data)
    with object_store.open_read("s3://corpus/x.tar", 1000) as file:
        calls = itertools.count()

        def every_other() -> None:
            store.share = 1.0 - next(calls) % 2

        store.each_call = every_other
        assert file.read(10) == data[:10]
        file.seek(30_000)
        assert file.read(5_000) == data[30_000:35_000]
        file.seek(-4, os.SEEK_END)
        assert file.read() == data[-4:]
    assert store.failed >= 3


def workers_of(process: int) -> list[int]:
    """Worker processes of the run, which the fork server of the tests has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                parent = int(stat[1])
                grand = int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if grand == process:
                found.append(int(entry.name))
    return found


def test_a_full_bucket_is_named_and_a_rerun_makes_the_rest(store, anonymize, tmp_path):
    """The server refuses what does not fit, as a store with a quota does."""
    corpus(tmp_path / "in", 3)
    assert anonymize("in", "-o", "local").returncode == 0
    local = outputs(tree(tmp_path / "local"))
    store.quota = len(local["0.tar"]) + len(local["1.tar"]) + 4000
    done = anonymize("in", "-o", "s3://corpus/out")
    assert done.returncode == 1
    assert "the store takes no more data" in said(done)
    assert "free some space there and run again" in said(done)
    assert "Traceback" not in said(done)
    there = outputs(objects("s3://corpus/out"))
    assert there
    assert there.items() < local.items()
    store.quota = None
    again = anonymize("in", "-o", "s3://corpus/out")
    assert again.returncode == 0, said(again)
    assert outputs(objects("s3://corpus/out")) == local


@pytest.mark.slow
def test_ray_over_a_store_that_fails_and_workers_that_die(store, tmp_path, temporary, monkeypatch):
    """Ray's workers inherit the endpoint and the credentials; each gets the voices of its shard."""
    pytest.importorskip("ray")
    from voicenym.corpus.batches.batch import Job
    from voicenym.corpus.batches.engines import RayEngine
    from voicenym.corpus.shards.shard_ledger import ledger_of
    from voicenym.corpus.shards.shard_plan import plan_units
    from voicenym.corpus.shards.shard_runner import run_shards
    from voicenym.corpus.shards.shard_survey import SpeakerChoice
    from voicenym.corpus.workers.ray_session import RaySession

    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    fresh()
    corpus(tmp_path / "in", 4)
    upload(tmp_path / "in", "s3://corpus/in")

    def run(source, out, **more):
        plan = plan_units([source], out)
        log = None if "://" in out else Path(out) / "voicenym.jsonl"
        job = Job("mcadams", {}, KEY, log=log)
        state = ledger_of(out, [unit.name for unit in plan.units])
        return run_shards(job, plan.units, state, SpeakerChoice(), **more)

    assert run(str(tmp_path / "in"), str(tmp_path / "local")).done == 5
    local = outputs(tree(tmp_path / "local"))
    killed: list[int] = []

    def kill() -> None:
        """Kills the workers at the first upload of a shard."""
        if not killed and any(path.endswith(".tar") for path, _ in store.puts):
            killed.extend(ray_workers())
            for process in killed:
                os.kill(process, signal.SIGKILL)

    with RaySession(workers=2):
        store.puts.clear()
        store.share, store.before_put = 0.05, kill
        first = run("s3://corpus/in", "s3://corpus/out", workers=2, engine=RayEngine())
        assert killed
        store.share, store.before_put = 0.0, lambda: None
        assert outputs(objects("s3://corpus/out")).items() <= local.items()
        assert first.done + first.skipped + len(first.failures) == 5
        again = run("s3://corpus/in", "s3://corpus/out", workers=1, engine=RayEngine())
    assert not again.failures
    assert outputs(objects("s3://corpus/out")) == local
    assert list(temporary.glob(".voicenym-*")) == []


def ray_workers() -> list[int]:
    """Processes of Ray's actors that have this test's endpoint."""
    found = []
    endpoint = os.environ["AWS_ENDPOINT_URL"].encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            name, environment = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue
        if name.startswith(b"ray::RayWorker") and endpoint in environment:
            found.append(int(entry.name))
    return found
