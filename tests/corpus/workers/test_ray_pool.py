"""Pool of Ray actors: answers, deaths, releases, secrets, and what lies in the current folder."""

from __future__ import annotations

import base64
import functools
import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
import torch

import voicenym
from voicenym.corpus import embedder
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.batches.engines import LOCAL, RayEngine, engine_of
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.plans.file_plan import plan
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import ORIGINAL, Anonymize, Transform
from voicenym.corpus.workers import ray_nodes, ray_pool, ray_session
from voicenym.corpus.workers.ray_pool import MOST_BATCH, RayPool
from voicenym.corpus.workers.ray_session import RaySession
from voicenym.corpus.workers.worker_pool import Death
from voicenym.corpus.workers.worker_process import DONE
from voicenym.errors import CorpusError, DependencyError, WeightsError
from voicenym.pseudonym import Key
from voicenym.verification.verifiers import verifier

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow
KEY = Key(bytes(range(100, 132)))


@pytest.fixture(scope="module")
def session():
    with RaySession(workers=2) as session:
        yield session


@pytest.fixture
def corpus(tmp_path) -> Path:
    for number, name in enumerate(
        ("ann/1.wav", "ann/2.flac", "bob/1.wav", "bob/2.ogg", "eve/3.wav")
    ):
        time = np.arange(8000) / 16_000
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        sound = 0.1 * np.sign(np.sin(2 * np.pi * (100 + 10 * number) * time))
        soundfile.write(path, sound, 16_000)
    return tmp_path / "in"


def job(out: Path, **options) -> Job:
    return Job("mcadams", {}, KEY, log=out / "voicenym.jsonl", **options)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_actors_write_the_same_bytes_as_one_process_in_any_order(session, corpus, tmp_path):
    items = plan([corpus], tmp_path / "one")
    assert run(job(tmp_path / "one"), items).done == 5
    reference = tree(tmp_path / "one")
    for seed, workers in ((1, 1), (2, 2)):
        out = tmp_path / f"ray{seed}"
        items = plan([corpus], out)
        random.Random(seed).shuffle(items)
        assert run(job(out), items, workers, engine=RayEngine()).done == 5
        found = tree(out)
        assert {name: data for name, data in found.items() if name != "voicenym.jsonl"} == {
            name: data for name, data in reference.items() if name != "voicenym.jsonl"
        }
        assert found["voicenym.jsonl"].count(b"\n") == 5
        again = run(job(out), items, workers, engine=RayEngine())
        assert (again.done, again.skipped) == (0, 5)


def test_a_task_whose_actor_dies_is_tried_again_alone_and_the_others_go_on(session, tmp_path):
    def prepare(folder):
        def square(number):
            with open(f"{folder}/begun", "a") as file:
                file.write(f"{number}\n")
            first = not os.path.exists(f"{folder}/{number}")
            open(f"{folder}/{number}", "w").close()
            if number == 3 or (number in (5, 11) and first):
                os.kill(os.getpid(), signal.SIGKILL)
            return number * number

        return square

    with RayPool(2, prepare, str(tmp_path), again=lambda number: number) as pool:
        found = dict(pool.answers(range(16)))
    assert isinstance(found.pop(3), Death)
    assert found == {number: number * number for number in range(16) if number != 3}
    begun = (tmp_path / "begun").read_text().split()
    counts = {number: begun.count(str(number)) for number in range(16)}
    assert counts[3] in (2, 3), "in company, and twice alone"
    assert set(counts.values()) <= {1, 2, 3}
    assert "its worker died" in str(Death(None))


def test_an_output_whose_worker_died_before_it_answered_is_compared_not_refused(
    session, corpus, tmp_path, monkeypatch
):
    """A worker that is killed when the output has its name: the second try finds it there."""
    out = tmp_path / "out"
    once = tmp_path / "once"

    def prepare(settings, log):
        from voicenym.corpus.batches.batch_runner import _prepare

        worker = _prepare(settings, log)

        def answer(task):
            outcome = worker(task)
            if not once.exists():
                once.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return outcome

        return answer

    from voicenym.corpus.batches import batch_runner

    monkeypatch.setattr(batch_runner, "_prepare", prepare)
    summary = run(job(out, fresh=True), plan([corpus], out), 1, engine=RayEngine())
    assert not summary.failures
    assert summary.done + summary.skipped == 5
    reference = tmp_path / "one"
    monkeypatch.undo()
    run(job(reference), plan([corpus], reference))
    assert tree(out) == tree(reference)


def test_answers_in_order_come_from_actors_that_stay(session, tmp_path):
    def prepare(folder):
        def answer(number):
            if number == 4 and not os.path.exists(f"{folder}/died"):
                open(f"{folder}/died", "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return number, os.getpid()

        return answer

    with RayPool(2, prepare, str(tmp_path)) as pool:
        first = list(pool.in_order(range(9)))
        again = list(pool.in_order(range(9)))
    assert [number for number, _ in first] == [number for number, _ in again] == list(range(9))
    assert {process for _, process in again} & {process for _, process in first}


def test_vectors_of_actors_are_those_of_one_process(session, corpus, monkeypatch):
    torch.set_num_threads(1)
    monkeypatch.setattr(embedder, "AT_ONCE", 2)
    voice = verifier("ecapa-small")
    people = [
        Recording(f"{path.parent.name}-{path.stem}", path.parent.name, path)
        for path in sorted(corpus.rglob("*.*"))
    ]
    hidden = Transform((Anonymize("mcadams", KEY),))
    here = [Embedder()(voice, people, one) for one in (ORIGINAL, hidden)]
    with Embedder(workers=2, engine=RayEngine()) as there:
        for transform, expected in zip((ORIGINAL, hidden), here, strict=True):
            np.testing.assert_array_equal(there(voice, people, transform), expected)


def test_errors_of_workers_are_raised_here_and_each_as_it_is(session):
    def without_weights():
        raise WeightsError("weights are missing")

    with (
        RayPool(1, without_weights) as pool,
        pytest.raises(WeightsError, match=r"^weights are missing$"),
    ):
        list(pool.answers([1]))

    def prepare():
        def fail(number):
            raise ZeroDivisionError("x")

        return fail

    with RayPool(1, prepare) as pool, pytest.raises(ZeroDivisionError):
        list(pool.answers([1]))


def test_another_release_on_a_node_is_refused(session, monkeypatch):
    def prepare():
        return lambda number: number

    monkeypatch.setattr("voicenym.__version__", "0.0.0.other")
    with RayPool(1, prepare) as pool, pytest.raises(CorpusError, match="other releases may write"):
        list(pool.answers([1]))


def test_gpus_that_no_node_has_are_refused_at_once(session, corpus):
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    engine = RayEngine(gpus=0.5)
    with (
        pytest.raises(CorpusError, match=r"^--gpus 0\.5: no node .*the most are 0"),
        engine.pool(2, lambda task: task, functools.partial, print),
    ):
        pass


def test_there_are_as_many_workers_as_the_nodes_have_gpus_for(monkeypatch):
    nodes = [
        {"Alive": True, "Resources": {"CPU": 16.0, "GPU": 2.0}},
        {"Alive": True, "Resources": {"CPU": 16.0, "GPU": 1.0}},
        {"Alive": True, "Resources": {"CPU": 16.0}},
        {"Alive": False, "Resources": {"GPU": 8.0}},
    ]
    monkeypatch.setattr(ray_nodes, "imported", lambda: SimpleNamespace(nodes=lambda: nodes))
    assert [ray_nodes.gpu_places(gpus) for gpus in (1.0, 0.25, 0.3, 2.0)] == [3, 12, 9, 1]
    with pytest.raises(CorpusError, match="the most are 2"):
        ray_nodes.gpu_places(4.0)


def test_tasks_are_drawn_as_they_are_needed(session):
    drawn = []

    def source():
        for number in range(150):
            drawn.append(number)
            yield number

    def prepare():
        return lambda number: number

    with RayPool(2, prepare) as pool:
        for count, _ in enumerate(pool.answers(source()), 1):
            assert len(drawn) <= count + 2 * 2 * MOST_BATCH + 1


def test_the_key_is_nowhere_in_ray(session, corpus, tmp_path):
    out = tmp_path / "out"
    run(job(out), plan([corpus], out), 2, engine=RayEngine())
    control = b"a value that is in Ray's object store"
    kept = ray.put(control * 10_000)
    raw = bytes(range(100, 132))
    wanted = [raw, raw.hex().encode(), base64.b64encode(raw)]
    folder = Path(os.environ["RAY_AUTH_TOKEN_PATH"]).parent
    places = [p for p in folder.rglob("*") if p.is_file()]
    assert len(places) > 10
    places += list(Path("/dev/shm").glob("*"))
    stores = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"ray" in (process / "cmdline").read_bytes() and int(process.name) != os.getpid():
                places += [process / "environ", process / "cmdline"]
                descriptors = {os.readlink(one): one for one in (process / "fd").iterdir()}
                stores += [one for name, one in descriptors.items() if "/plasma" in name]
        except OSError:
            continue
    assert sum(place.name == "environ" for place in places) >= 3
    assert any(control in written(place) for place in stores)
    del kept
    for place in [*places, *stores]:
        try:
            data = written(place) if place in stores else place.read_bytes()
        except OSError:  # a process that has ended
            continue
        assert not any(word in data for word in wanted), place


def written(place: Path) -> bytes:
    """What was written to a sparse file: the memory of Ray's object store has no name."""
    if not stat.S_ISREG(place.stat().st_mode):  # its socket
        return b""
    found, end = b"", 0
    with place.open("rb", buffering=0) as file:
        while True:
            try:
                start = os.lseek(file.fileno(), end, os.SEEK_DATA)
            except OSError:  # no more
                return found
            end = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            found += os.pread(file.fileno(), end - start, start)


def test_a_private_instance_is_closed_to_others(session):
    assert session.local
    token = Path(os.environ["RAY_AUTH_TOKEN_PATH"])
    assert (token.stat().st_mode & 0o777, token.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert os.environ["RAY_AUTH_MODE"] == "token"
    logs = [p.read_text("utf-8", "replace") for p in token.parent.rglob("usage*") if p.is_file()]
    assert not any("usage-stats.ray.io" in text for text in logs)


def test_nothing_in_the_current_folder_is_imported_and_nothing_is_left(corpus, tmp_path):
    """A process of its own, with a temporary folder of its own: other tests run Ray beside it.
    Hostile modules lie beside the recordings.
    """
    folder = tmp_path / "in"
    for name in ("numpy", "torch", "ray", "voicenym", "sitecustomize", "soundfile"):
        (folder / f"{name}.py").write_text("import os; open('RAN', 'w').close()\n")
    options = ("-o", str(tmp_path / "out"), "-s", "mcadams", "--engine", "ray", "-j", "1")
    with tempfile.TemporaryDirectory(dir="/tmp") as private:  # short enough for Ray's sockets
        done = subprocess.run(
            [sys.executable, "-P", "-m", "voicenym", "anonymize", ".", *options],
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "TMPDIR": private},
        )
        assert done.returncode == 0, done.stderr
        assert "5 anonymized" in done.stderr
        assert not list(tmp_path.rglob("RAN"))
        assert not os.listdir(private)
    assert "Traceback" not in done.stderr


def test_folders_of_dead_processes_are_removed_and_those_of_living_ones_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(ray_session, "short_temporary_folder", lambda: str(tmp_path))
    dead = tmp_path / "voicenym-ray-dead"
    (dead / "ray").mkdir(parents=True)
    (dead / "token").touch()
    other = tmp_path / "voicenym-ray-without-token"
    other.mkdir()
    living, new = RaySession(), RaySession()
    folder, _ = living._new_folder()
    new._new_folder()
    assert not dead.exists()
    assert folder.exists()
    assert other.exists()
    living._remove()
    new._remove()
    assert list(tmp_path.iterdir()) == [other]


def test_options_of_engines():
    assert engine_of("local") is LOCAL
    assert engine_of("ray", "h:1", 0.5, "cuda") == RayEngine("h:1", 0.5)
    with pytest.raises(CorpusError, match="add --device cuda"):
        engine_of("ray", None, 0.5)
    for name, address, gpus in (("spark", None, None), ("local", "h:1", None), ("ray", None, -1.0)):
        with pytest.raises(CorpusError, match=r"--engine|--gpus"):
            engine_of(name, address, gpus, "cuda")


def test_a_cluster_that_cannot_be_reached_is_named_at_once():
    if ray.is_initialized():
        ray.shutdown()
    for address, why in (("127.0.0.1:1", "refused"), ("nowhere", "not HOST:PORT")):
        with pytest.raises(CorpusError, match=f"^{address}: the cluster cannot.*{why}"):
            RaySession(address).__enter__()


def test_without_ray_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(DependencyError, match=r"voicenym\[cluster\]"):
        ray_session.imported()


def test_a_node_without_the_package_is_named_with_its_cure():
    """As Ray reports an actor whose class its node cannot import."""
    pool = RayPool(1, functools.partial)
    actor = ray_pool._Actor(None, None)
    pool._actors.append(actor)
    said = RuntimeError("The actor died:\n\nModuleNotFoundError: No module named 'voicenym'\n")
    with pytest.raises(CorpusError, match=r"lacks a package.*'voicenym'.*install voicenym .* each"):
        list(pool._lost(actor, said))


class Lost(Exception):
    pass


def actors_that(fates, monkeypatch):
    """A pool of one worker, whose actors begin or die in turn as ``fates`` says."""
    fake = SimpleNamespace(
        wait=lambda refs, **_: (refs[:1], refs[1:]),
        get=lambda ref: ref(),
        exceptions=SimpleNamespace(RayTaskError=KeyError, RayError=Lost),
    )
    monkeypatch.setattr(ray_pool, "imported", lambda: fake)
    pool = RayPool(1, lambda: None)

    def dies():
        raise Lost("the node is gone")

    for begins in fates:
        fate = (lambda: (DONE, voicenym.__version__)) if begins else dies
        actor = ray_pool._Actor(None, fate)
        pool._actors = [actor]
        list(pool._settled())
        assert actor.is_ready == begins


def test_actors_that_die_before_they_begin_end_a_run_unless_others_begin(monkeypatch):
    starts = ray_pool.STARTS
    actors_that(([False] * starts + [True]) * 5, monkeypatch)
    with pytest.raises(CorpusError, match="end before they begin: the node is gone"):
        actors_that([True] + [False] * (starts + 1), monkeypatch)


def test_a_node_that_starts_too_slowly_is_started_again(monkeypatch, tmp_path):
    started = []

    def start(folder, workers):
        started.append(workers)
        if len(started) < ray_session.STARTS:
            raise Exception("The current node timed out during startup.")

    monkeypatch.setattr(ray_session, "STARTS", 3)
    monkeypatch.setattr(ray_session, "short_temporary_folder", lambda: str(tmp_path))
    monkeypatch.setattr(ray_session, "_start_node", start)
    session = RaySession(workers=2)
    session._start()
    assert started == [2] * ray_session.STARTS
    session._remove()
    monkeypatch.setattr(ray_session, "STARTS", 1)
    monkeypatch.setattr(ray_session, "_start_node", lambda *_: 1 / 0)
    with pytest.raises(CorpusError, match="tried once"):
        RaySession().__enter__()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_agents_of_a_dead_ray_made_again_is_removed(monkeypatch, tmp_path):
    monkeypatch.setattr(ray_session, "short_temporary_folder", lambda: str(tmp_path))
    old, new = (tmp_path / f"{ray_session.PREFIX}{name}" for name in ("old", "new"))
    for folder in (old, new):
        (folder / "ray/logs").mkdir(parents=True)
    os.utime(old, (0, 0))
    session = RaySession()
    session._new_folder()
    assert not old.exists()
    assert new.exists()
    session._remove()


def test_a_node_that_dies_while_an_actor_starts_gives_one_message(monkeypatch):
    def start(pool):
        raise ray_session.imported().exceptions.RaySystemError("the raylet has died")

    monkeypatch.setattr(RayPool, "_start", start)
    pool = RayPool(1, len)
    with pytest.raises(CorpusError, match=r"the raylet has died.*run the same command again"):
        list(pool.answers([b"task"]))
