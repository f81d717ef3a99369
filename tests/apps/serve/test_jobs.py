"""Jobs: progress, results that are sent or lost, cancelled, forgotten."""

from __future__ import annotations

import contextlib
import json
import socket
import struct

import pytest

from voicenym.apps.serve.job_store import DONE, FAILED, AuditStore, Job, JobStore
from voicenym.apps.web.problem_details import Problem


def send(client, data, **fields):
    return client.post("/v1/jobs", files={"file": ("a.flac", data)}, data=fields)


def events(client, job):
    found = []
    with client.stream("GET", job["links"]["events"]) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in stream.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def test_a_job_refuses_a_speaker_without_a_key_and_a_fallback_without_use(server, speech):
    with server.client() as client:
        nobody = send(client, speech, speaker="anna")
        assert nobody.status_code == 422
        assert "no key_id" in nobody.json()["detail"]
        job = send(client, speech, system="mcadams", fallback="vtln").json()
        ((name, data),) = [event for event in events(client, job) if event[0] != "progress"]
        assert name == "failed"
        assert data["problem"]["status"] == 422
        assert "refuses no recording" in data["problem"]["detail"]
        assert data["problem"]["cure"]
    assert server.is_wiped()


def test_a_job_reports_its_progress_and_gives_its_result(server, long_speech):
    with server.client("anna") as anna, server.client("bert") as bert:
        sent = send(anna, long_speech.read_bytes())
        assert sent.status_code == 202
        job = sent.json()
        assert sent.headers["location"] == job["links"]["self"]
        assert bert.get(job["links"]["self"]).status_code == 404
        assert bert.get(job["links"]["events"]).status_code == 404
        assert anna.get(job["links"]["result"]).status_code == 409
        assert anna.delete(job["links"]["result"]).status_code == 409
        assert anna.get(job["links"]["self"]).status_code == 200, "it goes on"
        told = events(anna, job)
        assert {name for name, _ in told[:-1]} == {"progress"}
        assert told[-1][0] == "done"
        seconds = [data["progress"]["seconds"] for _, data in told]
        assert seconds == sorted(seconds)
        assert seconds[-1] == pytest.approx(363, abs=1)
        assert not [path for path in server.left() if path.name == "original"]
        assert bert.get(job["links"]["result"]).status_code == 404
        result = anna.get(job["links"]["result"])
        assert result.status_code == 200
        assert result.headers["content-type"] == "audio/flac"
        assert result.headers["accept-ranges"] == "none"
        part = anna.get(job["links"]["result"], headers={"range": "bytes=0-9"})
        assert (part.status_code, part.content) == (200, result.content), "until it has arrived"
        assert bert.delete(job["links"]["result"]).status_code == 404
        assert anna.delete(job["links"]["result"]).status_code == 204
        assert server.is_wiped()
        for path in job["links"].values():
            assert anna.get(path).status_code == 404


def broken_off(server, path):
    """Begins a transfer and resets the connection."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 60) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        token = server.tokens["anna"]
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode()
        )
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")


def test_a_result_whose_transfer_broke_is_sent_again(server, speech):
    with server.client("anna") as anna:
        sent = anna.post("/v1/jobs", files={"file": ("a.wav", speech)}, data={"system": "mcadams"})
        job = sent.json()
        path = job["links"]["result"]
        assert events(anna, job)[-1][0] == "done"
        for _ in range(3):
            broken_off(server, path)
        result = anna.get(path)
        assert len(result.content) == int(result.headers["content-length"]) > 44
        assert anna.delete(path).status_code == 204
        assert server.is_wiped()


def test_what_was_sent_is_kept_for_a_while_and_counts_no_more(tmp_path):
    now, wiped = [0.0], []
    store = JobStore(
        wiped.append, each=1, most=1, kept_seconds=100, sent_seconds=10, clock=lambda: now[0]
    )
    first, second = Job("anna", tmp_path / "1"), Job("anna", tmp_path / "2")
    store.add(first)
    store.end(first, DONE)
    with pytest.raises(OSError), store.sending(first):
        raise OSError("the connection broke")
    assert waits(store) == 100
    with store.sending(first) as note_sent:
        note_sent()
    store.check("anna")
    store.add(second)
    store.end(second, DONE)
    now[0] = 9.0
    assert store.get("anna", first.id) is first
    with store.sending(first) as note_sent:
        note_sent()  # another transfer gives no further time
        now[0] = 11.0
        store.expire()
        assert wiped == [], "what is being sent stays"
    store.expire()
    assert wiped == [first.folder]
    with store.sending(second) as note_sent:
        note_sent()
        store.remove(second)
    assert wiped[1:] == [second.folder] * 2, "also what could not be wiped while it was open"


def test_results_that_were_sent_are_not_kept_without_bound(tmp_path):
    wiped = []
    store = JobStore(wiped.append, each=2, most=2)
    jobs = [Job("anna", tmp_path / str(number)) for number in range(4)]
    for job in jobs:
        store.check("anna")
        store.add(job)
        store.end(job, DONE)
        with contextlib.ExitStack() as stack:
            stack.enter_context(store.sending(job))()
    assert wiped == [job.folder for job in jobs[:2]]
    assert len(store) == 2


def test_a_cancelled_job_ends_its_worker_and_leaves_nothing(server, long_speech):
    with server.client() as client:
        job = send(client, long_speech.read_bytes(), system="base").json()
        with client.stream("GET", job["links"]["events"]) as stream:
            lines = stream.iter_lines()
            while '"running"' not in next(lines):
                pass
            assert client.delete(job["links"]["self"]).status_code == 204
            assert any("forgotten" in line for line in lines)
        assert client.get(job["links"]["self"]).status_code == 404
        for _ in range(200):
            if not server.left() and not server.workers():
                break
            client.get("/health")
        assert server.is_wiped()
        assert server.workers() == []


def test_a_job_that_fails_says_why(server):
    with server.client() as client:
        job = send(client, b"no recording").json()
        assert events(client, job)[-1][0] == "failed"
        found = client.get(job["links"]["result"])
        assert found.status_code == 422
        assert found.json()["cure"]
        assert server.is_wiped()
        client.delete(job["links"]["self"])


def test_eight_unreadable_uploads_do_not_lock_a_token_out(server):
    with server.client("bert") as client:
        jobs = []
        for _ in range(9):
            sent = send(client, b"no recording")
            assert sent.status_code == 202, sent.text
            jobs.append(sent.json())
            assert events(client, jobs[-1])[-1][0] == "failed"
        for _ in range(2):
            assert client.get(jobs[-1]["links"]["result"]).status_code == 422
        for job in jobs:
            client.delete(job["links"]["self"])


def test_results_that_nobody_fetches_are_wiped(tmp_path):
    now, wiped = [0.0], []
    store = JobStore(wiped.append, each=1, most=2, kept_seconds=10, clock=lambda: now[0])
    job = Job("anna", tmp_path)
    store.check("anna")
    store.add(job)
    with pytest.raises(Problem) as caught:
        store.check("anna")
    assert caught.value.status == 429
    store.check("bert")
    store.add(Job("bert", tmp_path))
    with pytest.raises(Problem) as caught:
        store.check("carl")
    assert caught.value.status == 503
    now[0] = 1_000.0
    store.expire()
    assert len(store) == 2, "jobs that have not ended stay"
    store.end(job, DONE)
    now[0] = 1_011.0
    with pytest.raises(Problem):
        store.get("anna", job.id)
    assert wiped == [tmp_path]


def test_failed_jobs_keep_nobody_from_sending_more(tmp_path):
    now, wiped = [0.0], []
    store = JobStore(wiped.append, each=2, most=2, kept_seconds=100, clock=lambda: now[0])
    failed = [Job("anna", tmp_path / str(number)) for number in range(4)]
    for job in failed:
        store.check("anna")
        store.add(job)
        store.end(job, FAILED)
    assert len(store) == 2, "and they are not kept without bound"
    assert wiped == [job.folder for job in failed[:2]]
    assert store.get("anna", failed[-1].id) is failed[-1]
    store.check("bert")


def test_the_time_until_a_job_may_be_sent_is_true(tmp_path):
    now = [0.0]
    store = JobStore(lambda folder: None, each=2, kept_seconds=100, clock=lambda: now[0])
    jobs = [Job("anna", tmp_path) for _ in range(2)]
    for job in jobs:
        store.add(job)
    assert waits(store) == 100, "what runs ends now at best, and is kept"
    now[0] = 10.0
    store.end(jobs[1], DONE)
    now[0] = 30.0
    store.end(jobs[0], DONE)
    assert waits(store) == 80
    now[0] += 80.5
    store.check("anna")
    store.add(Job("anna", tmp_path))
    store.remove(jobs[0])
    store.check("anna")


def waits(store):
    with pytest.raises(Problem) as caught:
        store.check("anna")
    assert caught.value.status == 429
    assert "delete" in caught.value.cure
    return int(caught.value.headers["Retry-After"])


def test_audits_are_bounded_and_of_their_owner():
    store = AuditStore(most=2)
    ids = [store.add("anna", {"number": number}) for number in range(3)]
    with pytest.raises(Problem):
        store.get("anna", ids[0])
    assert store.get("anna", ids[2]) == {"number": 2}
    with pytest.raises(Problem):
        store.get("bert", ids[2])
    store.forget("bert", ids[2])
    assert store.get("anna", ids[2])
    store.forget("anna", ids[2])
    with pytest.raises(Problem):
        store.get("anna", ids[2])
