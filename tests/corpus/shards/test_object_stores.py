"""Object stores: a real S3 server on loopback, calls that fail, workers that are killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import ClassVar

import pytest
from shard_material import add, parquet_shard, said, sound, tree, web_shard

from voicenym.corpus.shards import object_store
from voicenym.corpus.shards.shard_ledger import status_of_store
from voicenym.errors import CorpusError, DependencyError
from voicenym.pseudonym import Key

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("s3fs")
server = pytest.importorskip("moto.server")
KEY = Key(bytes(range(100, 132)))


FAILS = "500 Internal Server Error"
AGAIN = b"<Error><Code>InternalError</Code><Message>try again</Message></Error>"
FULL = b"<Error><Code>QuotaExceeded</Code><Message>no room for this</Message></Error>"


class Trouble:
    """Middleware that fails some calls before, and some after they have taken effect."""

    def __init__(self, application) -> None:
        self._application = application
        self.share, self.failed = 0.0, 0
        self._random = random.Random(7)
        self.puts: list[tuple[str, bool]] = []
        self.sent: Counter[str] = Counter()
        self.delay = 0.0
        self.before_put = lambda: None
        self.quota: int | None = None

    def __call__(self, environ, start_response):
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        fails = self._random.random() < self.share
        late = fails and self._random.random() < 0.5
        if fails:
            self.failed += 1
        if fails and not late:
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            return self._error(environ, start_response)
        if method == "PUT" and self.quota is not None:
            size = int(environ.get("CONTENT_LENGTH") or 0)
            self.quota -= size
            if self.quota < 0:
                environ["wsgi.input"].read(size)
                return self._error(environ, start_response, "507 Insufficient Storage", FULL)
        if method == "PUT" and path.count("/") > 1:
            self.puts.append((path, environ.get("HTTP_IF_NONE_MATCH") == "*"))
            self.before_put()
            time.sleep(self.delay)
        if late:  # done, but nobody hears of it
            b"".join(self._application(environ, lambda *answer: None))
            return self._error(environ, start_response)

        def counted(status, headers, *error):
            self.sent[path] += int(dict(headers).get("Content-Length", 0)) * (method == "GET")
            return start_response(status, headers, *error)

        return self._application(environ, counted)

    def _error(self, environ, start_response, status=FAILS, text=AGAIN):
        head = [("Content-Type", "application/xml"), ("Content-Length", str(len(text)))]
        start_response(status, head)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [text]


@pytest.fixture
def temporary(monkeypatch, tmp_path) -> Path:
    """The folder for temporary files of this test and its workers."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.fixture
def store(monkeypatch, temporary):
    """A server with an empty bucket ``corpus``; its middleware."""
    from werkzeug.serving import make_server

    application = server.DomainDispatcherApplication(server.create_backend_app)
    trouble = Trouble(application)
    listening = make_server("127.0.0.1", 0, trouble, threaded=True)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{listening.server_port}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-a-secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    system = fresh()
    trouble.address = address
    import urllib.request

    urllib.request.urlopen(urllib.request.Request(f"{address}/moto-api/reset", method="POST"))
    system.mkdir("corpus")
    yield trouble
    listening.shutdown()
    thread.join()
    listening.server_close()
    fresh()


def fresh():
    """The store's file system of the present environment."""
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    return fsspec.filesystem("s3")


@pytest.fixture
def key(tmp_path) -> Path:
    path = tmp_path / "project.key"
    KEY.save(path)
    return path


@pytest.fixture
def anonymize(command, key):
    def run(*arguments: object, workers: int = 1):
        return command("anonymize", "--key", key, "-s", "mcadams", "--workers", workers, *arguments)

    return run


def upload(folder: Path, url: str) -> None:
    for name, data in tree(folder).items():
        fsspec.filesystem("s3").pipe_file(f"{url}/{name}", data)


def objects(url: str) -> dict[str, bytes]:
    system = fsspec.filesystem("s3")
    system.invalidate_cache()
    root = url.removeprefix("s3://")
    return {p.removeprefix(f"{root}/"): system.cat_file(p) for p in system.find(root)}


def corpus(folder: Path, shards: int = 3) -> Path:
    for number in range(shards):
        web_shard(folder / f"{number}.tar", range(2 * number, 2 * number + 2))
    parquet_shard(folder / "p.parquet", range(3))
    return folder


def outputs(found: dict[str, bytes]) -> dict[str, bytes]:
    return {n: d for n, d in found.items() if "voicenym" not in n}


def test_shards_of_a_store_become_the_bytes_of_local_ones(store, anonymize, tmp_path, temporary):
    corpus(tmp_path / "in")
    upload(tmp_path / "in", "s3://corpus/in")
    assert anonymize("in", "-o", "local").returncode == 0
    local = outputs(tree(tmp_path / "local"))
    done = anonymize("s3://corpus/in", "-o", "s3://corpus/out")
    assert done.returncode == 0, said(done)
    assert outputs(objects("s3://corpus/out")) == local
    assert anonymize("s3://corpus/in/0.tar", "-o", "down").returncode == 0
    assert (tmp_path / "down/0.tar").read_bytes() == local["0.tar"]
    assert anonymize("in", "-o", "s3://corpus/up").returncode == 0
    assert outputs(objects("s3://corpus/up")) == local
    assert list(temporary.glob(".voicenym-*")) == []
    ledger = {n for n in objects("s3://corpus/out") if n.startswith("voicenym-ledger/")}
    assert ledger == {f"voicenym-ledger/{name}.json" for name in local}
    assert all(create for path, create in store.puts if "out/" in path and "ledger" not in path)

    again = anonymize("s3://corpus/in", "-o", "s3://corpus/out")
    assert again.returncode == 0
    assert "0 shards and files written, 4 already done" in said(again)


def test_a_survey_of_a_store_fetches_headers_and_not_the_speech(store, tmp_path):
    from voicenym.corpus.shards.shard_plan import plan_units
    from voicenym.corpus.shards.shard_survey import SpeakerChoice, survey

    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as file:
        for number in range(4):
            add(file, f"utt{number}.wav", sound(number, 30.0))
            add(file, f"utt{number}.json", b'{"speaker": "ann"}')
    fsspec.filesystem("s3").pipe_file("s3://corpus/in/a.tar", path.read_bytes())
    plan = plan_units(["s3://corpus/in"], "s3://corpus/out")
    assert not store.sent["/corpus/in/a.tar"]  # a plan is of names
    found = survey(plan.units[0], SpeakerChoice(), lenient=False)
    assert found.people == dict.fromkeys((f"utt{number}" for number in range(4)), "ann")
    assert 0 < store.sent["/corpus/in/a.tar"] < 0.15 * path.stat().st_size


def test_folders_of_files_keep_their_speakers(store, anonymize, tmp_path):
    for name in ("ann/1.wav", "ann/2.wav", "bob/1.wav"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sound(len(name)))
    (tmp_path / "in/notes.docx").write_text("Anna")
    upload(tmp_path / "in", "s3://corpus/in")
    upload(tmp_path / "in", "s3://corpus/in2")  # a name that begins alike
    fsspec.filesystem("s3").call_s3("put_object", Bucket="corpus", Key="in/ann/", Body=b"")
    assert anonymize("in", "-o", "local").returncode == 0
    done = anonymize("s3://corpus/in", "-o", "s3://corpus/out")
    assert done.returncode == 0, said(done)
    assert "notes.docx: is no shard and no recording" in said(done)
    assert outputs(objects("s3://corpus/out")) == outputs(tree(tmp_path / "local"))


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


def test_measurements_read_stores(store, tmp_path, temporary):
    """Shards, folders of speakers with texts, and a manifest that names a file of this machine."""
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.shards.private_copies import private_copies
    from voicenym.corpus.skipped import LeftOut

    for name in ("ann/1", "ann/2", "bob/1"):
        path = tmp_path / f"in/files/{name}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sound(len(name)))
        path.with_suffix(".txt").write_text("hello")
    web_shard(tmp_path / "in/shards/a.tar", range(3))
    upload(tmp_path / "in", "s3://corpus/in")
    with private_copies():
        found = recordings(Path("s3://corpus/in/files"))
        there = recordings(tmp_path / "in/files")
        assert [(r.name, r.speaker, r.text, r.digest()) for r in found] == [
            (r.name, r.speaker, r.text, r.digest()) for r in there
        ]
        assert found[0].place == "s3://corpus/in/files/ann/1.wav"
        shards = recordings(Path("s3://corpus/in/shards"))
        assert [one.speaker for one in shards] == ["0", "1", "0"]
        rows = ["utterance\tpath\tspeaker", "u1\tann/1.wav\tann", f"u2\t{path}\tbob"]
        upload_text("\n".join(rows), "s3://corpus/in/files/manifest.tsv")
        left_out = LeftOut()
        (one,) = recordings(Path("s3://corpus/in/files"), left_out=left_out)
        assert (one.name, one.speaker) == ("u1", "ann")
        assert "names a file outside of its folder" in left_out.summary()
    assert list(temporary.glob(".voicenym-*")) == []


def upload_text(text: str, url: str) -> None:
    fsspec.filesystem("s3").pipe_file(url, text.encode())


def kaldi_folder(folder: Path, entries: dict[str, str], **tables: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wav.scp").write_text("".join(f"{n} {e}\n" for n, e in entries.items()))
    (folder / "utt2spk").write_text("".join(f"{n} {n.split('-')[0]}\n" for n in entries))
    for name, text in tables.items():
        (folder / name).write_text(text)


def test_kaldi_folders_of_a_store_are_read_and_name_nothing_outside(store, tmp_path, temporary):
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.shards.private_copies import private_copies
    from voicenym.corpus.skipped import LeftOut

    elsewhere = tmp_path / "elsewhere/secret.wav"
    for number, place in enumerate(["in/dev/wav/1.wav", "in/dev/wav/2.wav", "in/sound/3.wav"]):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(sound(number))
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(sound(9))
    kaldi_folder(
        tmp_path / "in/dev",
        {
            "ann-1": "/data/of/others/1.wav",  # the folder was moved
            "ann-2": "wav/2.wav",
            "bob-3": "s3://corpus/in/sound/3.wav",
            "bob-4": str(elsewhere),
            "bob-5": "../../elsewhere/secret.wav",
            "bob-6": "s3://corpus/other/6.wav",
        },
        spk2gender="ann f\nbob m\n",
        text="ann-1 hello\n",
    )
    upload(tmp_path / "in", "s3://corpus/in")
    fsspec.filesystem("s3").pipe_file("s3://corpus/other/6.wav", sound(6))
    left_out = LeftOut()
    with private_copies():
        found = recordings(Path("s3://corpus/in"), left_out=left_out)
        assert [(r.name, r.speaker, r.sex, r.text, r.place) for r in found] == [
            ("ann-1", "ann", "f", "hello", "s3://corpus/in/dev/wav/1.wav"),
            ("ann-2", "ann", "f", "", "s3://corpus/in/dev/wav/2.wav"),
            ("bob-3", "bob", "m", "", "s3://corpus/in/sound/3.wav"),
        ]
        for one, place in zip(found, ("dev/wav/1", "dev/wav/2", "sound/3"), strict=True):
            assert one.path.read_bytes() == (tmp_path / f"in/{place}.wav").read_bytes()
    assert left_out.named() == {"bob-4", "bob-5", "bob-6"}
    assert "s3://corpus/in/dev/wav/6.wav: missing; restore it" in left_out.summary()
    assert str(temporary) not in left_out.summary()
    with private_copies():
        upload_text("ann-1 echo gone > gone.txt |", "s3://corpus/in/dev/wav.scp")
        upload_text("ann-1 ann", "s3://corpus/in/dev/utt2spk")
        with pytest.raises(CorpusError, match=r"s3://corpus/in/dev/wav\.scp: .* is a command"):
            recordings(Path("s3://corpus/in"), allow_pipes=True)
        upload_text("ann-1 /a/b/1.wav", "s3://corpus/only/wav.scp")
        with pytest.raises(CorpusError, match=r"only/wav\.scp: names recordings, and there"):
            recordings(Path("s3://corpus/only"))
    assert list(temporary.glob(".voicenym-*")) == []


def test_segments_of_a_store_are_cut_as_on_this_machine(store, tmp_path, temporary):
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.shards.private_copies import private_copies

    path = tmp_path / "in/wav/day.wav"
    path.parent.mkdir(parents=True)
    path.write_bytes(sound(1, seconds=1.0))
    kaldi_folder(
        tmp_path / "in",
        {"day": str(path)},
        segments="ann-1 day 0.1 0.5\nbob-1 day 0.5 -1\n",
        utt2spk="ann-1 ann\nbob-1 bob\n",
    )
    upload(tmp_path / "in", "s3://corpus/in")
    with private_copies():
        found = recordings(Path("s3://corpus/in"))
        there = recordings(tmp_path / "in")
        assert [(r.name, r.speaker, r.digest()) for r in found] == [
            (r.name, r.speaker, r.digest()) for r in there
        ]


def test_lhotse_manifests_of_a_store_are_read_and_name_nothing_outside(
    store, tmp_path, temporary, monkeypatch
):
    lhotse = pytest.importorskip("lhotse")
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.shards.private_copies import private_copies
    from voicenym.corpus.skipped import LeftOut

    cuts = []
    for number in range(4):
        path = tmp_path / f"in/sound/{number}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sound(number))
        recording = lhotse.Recording.from_file(path, recording_id=f"r{number}")
        recording.sources[0].source = f"sound/{number}.wav"
        cut = recording.to_cut()
        cut.supervisions = [
            lhotse.SupervisionSegment(
                f"u{number}", f"r{number}", 0.0, 0.4, speaker=f"s{number % 2}"
            )
        ]
        cuts.append(cut)
    cuts[1].recording.sources[0].type = "url"
    cuts[1].recording.sources[0].source = "s3://corpus/in/sound/1.wav"
    cuts[2].recording.sources[0].source = str(tmp_path / "in/sound/2.wav")  # of this machine
    cuts[3].recording.sources[0].source = "sound/../../in/sound/3.wav"
    lhotse.CutSet.from_cuts(cuts).to_file(tmp_path / "in/cuts.jsonl.gz")
    upload(tmp_path / "in", "s3://corpus/in")
    left_out = LeftOut()
    with private_copies():
        found = recordings(Path("s3://corpus/in/cuts.jsonl.gz"), left_out=left_out)
        assert [(r.name, r.speaker, r.start, r.end, r.place) for r in found] == [
            ("u0", "s0", 0.0, 0.4, "s3://corpus/in/sound/0.wav"),
            ("u1", "s1", 0.0, 0.4, "s3://corpus/in/sound/1.wav"),
        ]
        assert [r.path.read_bytes() for r in found] == [sound(0), sound(1)]
        assert left_out.named() == {"u2", "u3"}
        assert "put the recording there, or take its cut out" in left_out.summary()
        upload_text("{}", "s3://corpus/in/bad.jsonl")
        with pytest.raises(CorpusError, match=r"s3://corpus/in/bad\.jsonl: not a lhotse manifest"):
            recordings(Path("s3://corpus/in/bad.jsonl"))
    assert list(temporary.glob(".voicenym-*")) == []


def test_a_kaldi_folder_of_a_store_is_not_anonymized_by_its_folders(store, anonymize, tmp_path):
    (tmp_path / "in/wav").mkdir(parents=True)
    (tmp_path / "in/wav/1.wav").write_bytes(sound(1))
    kaldi_folder(tmp_path / "in", {"ann-1": "wav/1.wav"})
    upload(tmp_path / "in", "s3://corpus/in")
    done = anonymize("s3://corpus/in", "-o", "out")
    assert done.returncode == 1
    assert "s3://corpus/in/wav.scp: a Kaldi folder, whose speakers are in its utt2spk" in said(done)
    assert not (tmp_path / "out").exists()
    assert anonymize("s3://corpus/in", "-o", "out", "--speaker", "ann").returncode == 0


def test_an_object_of_another_is_never_replaced(store, anonymize, tmp_path):
    web_shard(tmp_path / "a.tar", range(2))
    fsspec.filesystem("s3").pipe_file("s3://corpus/out/a.tar", b"of another")
    done = anonymize("a.tar", "-o", "s3://corpus/out")
    assert done.returncode == 1
    assert "exists already and is not what this run writes" in said(done)
    assert objects("s3://corpus/out")["a.tar"] == b"of another"
    assert anonymize("a.tar", "-o", "s3://corpus/out", "--overwrite").returncode == 0
    assert objects("s3://corpus/out")["a.tar"] != b"of another"


def test_a_damaged_object_is_named_and_the_rest_goes_on(store, anonymize, tmp_path):
    corpus(tmp_path / "in", 2)
    data = (tmp_path / "in/0.tar").read_bytes()
    (tmp_path / "in/0.tar").write_bytes(data[:3000])
    upload(tmp_path / "in", "s3://corpus/in")
    done = anonymize("s3://corpus/in", "-o", "s3://corpus/out")
    assert done.returncode == 1
    assert "s3://corpus/in/0.tar: ends within" in said(done)
    assert set(outputs(objects("s3://corpus/out"))) == {"1.tar", "p.parquet"}


def test_errors_of_stores_are_one_line_with_their_cure(store, anonymize, tmp_path, monkeypatch):
    web_shard(tmp_path / "a.tar", range(1))
    done = anonymize("s3://nowhere/in", "-o", "out")
    assert done.returncode == 1
    assert "no such bucket or object" in said(done)
    done = anonymize("s3://corpus/nothing", "-o", "out")
    assert "there is nothing below this name" in said(done)
    done = anonymize("a.tar", "-o", "s3://nowhere/out")
    assert done.returncode == 1
    assert "create the bucket first" in said(done)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    fresh()
    done = anonymize("s3://corpus/in", "-o", "out")
    assert "no credentials for this store were found" in said(done)
    assert said(done).count("\n") == 1
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-a-secret")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    fresh()
    done = anonymize("s3://corpus/in", "-o", "out")
    assert "cannot be reached" in said(done)
    assert said(done).count("\n") == 1


def test_a_run_over_a_store_is_seen_while_it_runs_and_after_it(
    store, anonymize, command, tmp_path, monkeypatch
):
    from voicenym.apps.cli import batch_report

    seen = []
    real = batch_report.BatchProgress.advance

    def advance(self, *arguments):
        seen.append(status_of_store("s3://corpus/out"))
        real(self, *arguments)

    monkeypatch.setattr(batch_report.BatchProgress, "advance", advance)
    corpus(tmp_path / "in", 2)
    with tarfile.open(tmp_path / "in/0.tar", "a") as tar:
        add(tar, "bad.wav", b"this is text")
    (tmp_path / "in/1.tar").write_bytes(b"no tar")
    assert anonymize("in", "-o", "s3://corpus/out").returncode == 1
    assert [(one.process, one.items) for one in seen] == [(os.getpid(), 3)] * 3
    assert [one.settled for one in seen] == [1, 2, 3]
    assert (seen[-1].done, seen[-1].left_out, list(seen[-1].failures)) == (2, 1, ["1.tar"])
    text = command("status", "s3://corpus/out").stdout.decode()
    assert text.startswith("no run works in this folder\n2 anonymized")
    assert "1 recordings failed and are not in the new shards" in text
    done = command("status", "s3://corpus/nothing")
    assert "no run has written to it" in said(done)


@pytest.mark.parametrize("url", ["ssh://host/x", "simplecache::s3://b/x", "http://host/a.tar"])
def test_other_schemes_are_refused(anonymize, url):
    done = anonymize(url, "-o", "out")
    assert done.returncode == 1
    assert "is not supported" in said(done)


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
    from voicenym.corpus.batch import Job
    from voicenym.corpus.engines import RayEngine
    from voicenym.corpus.ray_session import RaySession
    from voicenym.corpus.shards.shard_ledger import ledger_of
    from voicenym.corpus.shards.shard_plan import plan_units
    from voicenym.corpus.shards.shard_runner import run_shards
    from voicenym.corpus.shards.shard_survey import SpeakerChoice

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


@pytest.mark.parametrize(("scheme", "package"), [("gs", "gcsfs"), ("hf", "huggingface_hub")])
def test_a_missing_package_of_a_store_is_named(anonymize, monkeypatch, scheme, package):
    real = fsspec.filesystem

    def without(name, *arguments, **options):
        if name == scheme:
            raise ImportError(f"install {package}")
        return real(name, *arguments, **options)

    monkeypatch.setattr(fsspec, "filesystem", without)
    done = anonymize(f"{scheme}://corpus/in", "-o", "out")
    assert done.returncode == 1
    assert f"needs the package {package}: pip install {package}" in said(done)
    assert said(done).count("\n") == 1


def test_a_package_that_would_replace_objects_is_refused(monkeypatch):
    """As fsspec and s3fs before 2024.12, which ignore the wish for a conditional put."""
    from fsspec.implementations.memory import MemoryFileSystem

    def put_file(self, lpath, rpath, callback=None, **options):
        raise AssertionError

    object_store.check_writable("memory://out")
    monkeypatch.setattr(fsspec.AbstractFileSystem, "put_file", put_file)
    monkeypatch.setattr(fsspec, "filesystem", lambda scheme: MemoryFileSystem())
    with pytest.raises(DependencyError, match=r"would replace .*; pip install --upgrade fsspec s3"):
        object_store.check_writable("s3://corpus/out")


def forget(scheme: str) -> None:
    """Removes an implementation that was registered."""
    from fsspec.registry import _registry

    _registry.pop(scheme, None)


@pytest.mark.parametrize("scheme", ["gs", "hf"])
def test_other_stores_are_read_and_written_through_fsspec_alone(anonymize, tmp_path, scheme):
    """A file system in memory takes the place of Google's and of Hugging Face's: paths, conditional
    puts and versions go through the interface that all have.
    """
    from fsspec.implementations.memory import MemoryFileSystem

    class Other(MemoryFileSystem):
        protocol = scheme
        store: ClassVar[dict] = {}
        pseudo_dirs: ClassVar[list] = [""]

        @classmethod
        def _strip_protocol(cls, path):
            return super()._strip_protocol(path.removeprefix(f"{scheme}:/"))

    fsspec.register_implementation(scheme, Other, clobber=True)
    try:
        web_shard(tmp_path / "a.tar", range(2))
        Other().pipe_file("/corpus/in/a.tar", (tmp_path / "a.tar").read_bytes())
        done = anonymize(f"{scheme}://corpus/in", "-o", "down")
        assert done.returncode == 0, said(done)
        if scheme == "hf":
            done = anonymize("a.tar", "-o", "hf://corpus/out")
            assert "can be read and not written" in said(done)
            return
        done = anonymize("gs://corpus/in", "-o", "gs://corpus/out")
        assert done.returncode == 0, said(done)
        made = Other().cat_file("/corpus/out/a.tar")
        assert made == (tmp_path / "down/a.tar").read_bytes()
        again = anonymize("gs://corpus/in", "-o", "gs://corpus/out")
        assert "0 shards and files written, 1 already done" in said(again)
        Other().rm_file("/corpus/out/voicenym-ledger/a.tar.json")
        Other().pipe_file("/corpus/out/a.tar", b"of another")
        done = anonymize("gs://corpus/in", "-o", "gs://corpus/out")
        assert "exists already and is not what this run writes" in said(done)
        assert Other().cat_file("/corpus/out/a.tar") == b"of another"
    finally:
        forget(scheme)


def test_memory_and_file_urls(anonymize, tmp_path):
    web_shard(tmp_path / "a.tar", range(1))
    fsspec.filesystem("memory").store.clear()
    assert anonymize(f"file://{tmp_path}/a.tar", "-o", "memory://box/out").returncode == 0
    assert anonymize("memory://box/out/a.tar", "-o", "twice").returncode == 0
    assert (tmp_path / "twice/a.tar").is_file()
    done = anonymize("a.tar", "-o", "hf://datasets/x/y")
    assert "can be read and not written" in said(done)
