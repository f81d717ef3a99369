"""Object stores by a real S3 server on loopback: the bytes of local runs, and named errors."""

from __future__ import annotations

import os
import tarfile

from s3_server import corpus, fresh, fsspec, objects, outputs, upload
from shard_material import add, said, sound, tree, web_shard

from voicenym.corpus.shards.shard_ledger import status_of_store


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
    each = ("--per", "utterance")
    assert anonymize("in", "-o", "each", *each).returncode == 0
    assert anonymize("s3://corpus/in", "-o", "s3://corpus/each", *each).returncode == 0
    made = outputs(objects("s3://corpus/each"))
    assert made == outputs(tree(tmp_path / "each"))
    assert made["ann/1.wav"] != outputs(tree(tmp_path / "local"))["ann/1.wav"]


def test_outputs_beside_originals_are_not_anonymized_again(store, tmp_path):
    from voicenym.corpus.shards.shard_plan import plan_units

    for name in ("in/a.tar", "in/anon/a.tar", "in/anon/voicenym-ledger/a.tar.json"):
        fsspec.filesystem("s3").pipe_file(f"s3://corpus/{name}", b"{}")
        path = tmp_path / name.replace("voicenym-ledger/a.tar.json", "voicenym.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    for root in ("s3://corpus/in", str(tmp_path / "in")):
        plan = plan_units([root], f"{root}/other")
        assert [unit.name for unit in plan.units] == ["a.tar"]
        [why] = plan.skipped
        assert why.startswith(f"{root}/anon")
        assert "earlier run" in why
        assert [unit.name for unit in plan_units([f"{root}/anon"], "out").units] == ["a.tar"]


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
    from voicenym.apps.cli.anonymizing import batch_report

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
    assert "1 recording failed and is not in the new shards" in text
    done = command("status", "s3://corpus/nothing")
    assert "no run has written to it" in said(done)
