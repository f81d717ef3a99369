"""The server of a study: every answer once, whatever clients do; and nothing that is not theirs."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import numpy as np
import pytest

from voicenym.apps.listen import listening_server
from voicenym.apps.web.problem_details import Problem
from voicenym.errors import VoicenymError
from voicenym.listening import session_progress
from voicenym.listening.answer_store import AnswerStore, NotStoredError
from voicenym.listening.study import Page


def answers(page, rng):
    """Answers to a page as the browser got it."""
    found = {}
    for question in page["questions"]:
        if question["kind"] == "scale":
            low, high = question["low"], question["high"]
            found[question["name"]] = int(rng.integers(low, high + 1))
        else:
            found[question["name"]] = str(rng.choice(question["labels"]))
    return found


def take(served, listener, rng, pages=1000):
    """A client that answers pages, double clicks, breaks off and starts anew; what it sent."""
    sent = {}
    client = httpx.Client(base_url=served.url, headers=served.headers(listener), timeout=60)
    for _ in range(pages):
        state = client.get("/api/next").json()
        if state["finished"]:
            break
        page = state["page"]
        body = {"page": page["name"], "answers": answers(page, rng), "seconds": 1.5, "plays": 1}
        if rng.random() < 0.2:  # a connection that breaks before the answer to the answer
            broken = {"headers": served.headers(listener), "timeout": 0.0005}
            with contextlib.suppress(httpx.HTTPError):
                httpx.post(f"{served.url}/api/answers", json=body, **broken)
        for _ in range(2 if rng.random() < 0.3 else 1):  # a double click
            reply = client.post("/api/answers", json=body)
            assert reply.status_code == 200, reply.text
        other = {**body, "answers": answers(page, rng)}  # a second tab that answers otherwise
        if rng.random() < 0.2:
            assert client.post("/api/answers", json=other).json()["stored"] is False
        sent[page["name"]] = body["answers"]
        if rng.random() < 0.1:  # a closed tab
            client.close()
            client = httpx.Client(base_url=served.url, headers=client.headers, timeout=60)
    client.close()
    return sent


def test_fifty_listeners_at_once_lose_nothing_and_repeat_nothing(served, monkeypatch):
    """Clients double click, break off and answer in two tabs; the server's clock jumps."""
    jumps = iter(lambda: float(np.random.default_rng().integers(1, 2**31)), None)
    monkeypatch.setattr("voicenym.listening.answer_store.time.time", lambda: next(jumps))
    names = list(served.study.sessions)[:50]
    with ThreadPoolExecutor(50) as pool:
        rngs = [np.random.default_rng(i) for i in range(50)]
        sent = dict(zip(names, pool.map(take, [served] * 50, names, rngs, [8] * 50), strict=True))
    stored = served.store.everything()
    assert len(stored) == len({(one.listener, one.page) for one in stored}) == 50 * 8
    for name in names:
        assert served.store.answered(name) == sent[name]
    order = {name: [one.page for one in stored if one.listener == name] for name in names}
    for name, pages in order.items():
        asked = [page.name for page in served.study.sessions[name]]
        assert pages == [page for page in asked if page in pages], "in order, whatever the clock"


def test_answers_survive_a_kill(designed, tmp_path):
    """Of a process that is killed right after an answer was acknowledged."""
    base = tmp_path / "answers.sqlite"
    script = (
        "import sys, os, signal\n"
        "from pathlib import Path\n"
        "from voicenym.listening.answer_store import AnswerStore, NotStoredError\n"
        "store = AnswerStore(Path(sys.argv[1]))\n"
        "for i in range(20): assert store.add('L001', f'p{i}', {'quality': i % 5 + 1})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, base], check=False)
    store = AnswerStore(base)
    assert list(store.answered("L001")) == [f"p{i}" for i in range(20)]
    assert store.add("L001", "p3", {"quality": 1}) is False
    assert store.answered("L001")["p3"] == {"quality": 4}
    mode = store._base.execute("PRAGMA journal_mode").fetchone()[0]
    assert (mode, store._base.execute("PRAGMA synchronous").fetchone()[0]) == ("wal", 2)
    store.close()


def fill(store):
    """Leaves no room in the database."""
    size = store._base.execute("PRAGMA page_count").fetchone()[0]
    store._base.execute(f"PRAGMA max_page_count={size}")
    count = 0
    with contextlib.suppress(NotStoredError):
        while store.add("nobody", f"p{count}", {"words": "x" * 20}):
            count += 1
    return count


def test_a_full_disk_is_said_and_the_answer_is_stored_later(served):
    count = fill(served.store)
    client = httpx.Client(base_url=served.url, headers=served.headers("L001"))
    body = {"page": "consent", "answers": {"consent": "yes"}}
    reply = client.post("/api/answers", json=body)
    assert reply.status_code == 507
    assert "disk is full" in reply.json()["detail"]
    assert str(served.folder) not in reply.text
    assert client.get("/api/next").json()["page"]["name"] == "consent"
    served.store._base.execute("PRAGMA max_page_count=1000000")
    assert client.post("/api/answers", json=body).json()["stored"] is True
    assert len(served.store.everything()) == count + 1


def test_the_store_says_when_it_cannot_write(tmp_path):
    store = AnswerStore(tmp_path / "answers.sqlite")
    count = fill(store)
    with pytest.raises(NotStoredError, match="free some space"):
        store.add("L001", "p", {"words": "x" * 200})
    assert len(store.answered("nobody")) == count > 0
    store._base.execute("PRAGMA max_page_count=1000000")
    assert store.add("L001", "p", {"words": "x" * 200})
    store.close()
    (tmp_path / "text").write_text("no database, and long enough to be one" * 50)
    with pytest.raises(VoicenymError, match="check the disk and the file"):
        AnswerStore(tmp_path / "text")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"[" * 50_000, 400),
        (b"x" * 70_000, 413),
        (b'{"page": "nonsense", "answers": {}}', 422),
        (b'{"page": "consent", "answers": {"consent": "no"}}', 422),
        (b'{"page": "consent", "answers": "yes"}', 422),
        (b'{"page": "consent", "answers": {"consent": "yes", "more": 1}}', 422),
        (b'{"page": "intro-acr", "answers": {"intro": "yes"}}', 409),
    ],
)
def test_malformed_answers_are_refused(served, body, status):
    reply = httpx.post(f"{served.url}/api/answers", content=body, headers=served.headers("L001"))
    assert reply.status_code == status
    assert reply.json()["cure"]
    assert served.store.everything() == []


def test_a_rating_outside_the_scale_is_refused():
    page = Page("p", "item", "acr", ("c",))
    for value in (0, 6, 3.5, "5", True, None, float("nan")):
        assert session_progress.wrong(page, {"quality": value}), value
    assert session_progress.wrong(page, {"quality": 5}) == ""
    line_up = Page("p", "item", "linkage", ("x", "a", "b"))
    assert session_progress.wrong(line_up, {"person": "x"})
    assert session_progress.wrong(line_up, {"person": "a"}) == ""
    sliders = Page("p", "item", "mushra", ("r", "a", "b"))
    assert session_progress.wrong(sliders, {"quality:a": 3})
    assert session_progress.wrong(sliders, {"quality:a": 3, "quality:b": 101})
    assert session_progress.wrong(sliders, {"quality:a": 3, "quality:b": 100}) == ""


def test_a_listener_gets_what_is_theirs_alone(served):
    pages = served.study.sessions
    own = {clip for page in pages["L001"] for clip in page.clips}
    foreign = next(c for page in pages["L002"] for c in page.clips if c not in own)
    get = lambda path, **kw: httpx.get(served.url + path, **kw)  # noqa: E731
    headers = served.headers("L001")
    clip = get(f"/api/clip/{next(iter(own))}", headers=headers)
    assert clip.content[:4] == b"RIFF"
    assert "last-modified" not in clip.headers
    assert get(f"/api/clip/{foreign}", headers=headers).status_code == 404
    for path in ("/api/clip/../study.json", "/api/clip/..%2Fsecret%2Fkey.json", "/api/key",
                 "/study.json", "/secret/key.json", "/answers.sqlite"):  # fmt: skip
        assert get(path, headers=headers).status_code == 404, path
    assert get("/api/next").status_code == 401
    assert get("/api/next", headers={"Authorization": "Bearer " + "x" * 32}).status_code == 401
    page = get("/")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert get("/api/next", headers={**headers, "Host": "evil.example"}).status_code == 421
    foreign_page = {**headers, "Origin": "http://evil.example"}
    posted = httpx.post(f"{served.url}/api/answers", json={}, headers=foreign_page)
    assert posted.status_code == 403


def test_the_page_names_no_other_host():
    for path in listening_server.PAGE.iterdir():
        text = path.read_text("utf-8")
        for address in ("http://", "https://", "//cdn", "@import"):
            assert address not in text.replace('xmlns="http://www.w3.org/2000/svg"', ""), path


def headphone_answers(served, listener, right, attempt):
    for page in served.study.sessions[listener]:
        if page.name.startswith(f"headphones-{attempt}-"):
            answer = page.expected if right else str(int(page.expected) % 3 + 1)
            served.store.add(listener, page.name, {"headphones": answer})


def test_headphones_are_asked_for_twice_at_most(served):
    for name in ("L001", "L002", "L003"):
        served.store.add(name, "consent", {"consent": "yes"})
    state = lambda name: session_progress.state(  # noqa: E731
        served.study, name, served.store.answered(name)
    )
    before = state("L001")["total"]
    headphone_answers(served, "L001", True, 1)
    assert state("L001")["page"]["kind"] == "compare"
    assert state("L001")["total"] == before
    headphone_answers(served, "L002", False, 1)
    assert state("L002")["page"]["name"] == "headphones-2-1"
    assert state("L002")["total"] == before + 6
    headphone_answers(served, "L002", False, 2)
    assert state("L002")["page"]["kind"] == "compare"
    strict = replace(served.study, need_headphones=True)
    found = session_progress.state(strict, "L002", served.store.answered("L002"))
    assert (found["finished"], found["refused"]) == (True, True)
    app = listening_server.ListeningApp(served.folder, strict, served.store)
    with pytest.raises(Problem) as caught:
        app.answer("L002", b'{"page": "compare-1", "answers": {"compare": "A"}}')
    assert caught.value.status == 409


def test_two_tabs_answer_a_page_at_the_same_moment(served):
    barrier, kept = threading.Barrier(8), []
    page = "consent"
    body = {"page": page, "answers": {"consent": "yes"}}

    def send():
        barrier.wait()
        reply = httpx.post(f"{served.url}/api/answers", json=body, headers=served.headers("L005"))
        kept.append(reply.json()["stored"])

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(kept) == [False] * 7 + [True]
    assert len(served.store.everything()) == 1


def test_the_end_is_told_once(served):
    found = []
    app = listening_server.ListeningApp(
        served.folder,
        replace(served.study, sessions={"L001": served.study.sessions["L001"][:1]}),
        served.store,
        found.append,
    )
    sent = b'{"page": "consent", "answers": {"consent": "yes"}, "seconds": 1e99, "plays": -1}'
    assert app.answer("L001", sent)["finished"]
    assert not app.answer("L001", sent)["stored"]
    assert found == ["L001"]
    assert served.store.everything()[0].seconds is None
    assert abs(served.store.everything()[0].at - time.time()) < 60


def test_a_reader_beside_the_server_sees_all_answers(served):
    served.store.add("L001", "consent", {"consent": "yes"})
    with sqlite3.connect(served.store.path) as beside:
        assert beside.execute("SELECT count(*) FROM answers").fetchone() == (1,)
