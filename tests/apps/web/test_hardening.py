"""Hardening of servers: refusals, headers, errors without an inside, a log without names."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest
from asgi_calls import answer, call

from voicenym.apps.web import request_body
from voicenym.apps.web.bearer_tokens import BearerTokens
from voicenym.apps.web.hardening import OWNER, Protection, _BrokenOff, hardened
from voicenym.apps.web.problem_details import Problem, problem_of
from voicenym.apps.web.request_body import BoundedBody, Limits
from voicenym.errors import AudioError

TOKEN = "t" * 43
LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})


async def echo(scope, receive, send):
    """Answers with the owner and the length of the body."""
    length, more = 0, True
    while more:
        message = await receive()
        length += len(message.get("body", b""))
        more = message.get("more_body", False)
    headers = [(b"access-control-allow-origin", b"*"), (b"x-frame-options", b"ALLOWALL")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": f"{scope[OWNER]} {length}".encode()})


def raising(error):
    async def app(scope, receive, send):
        raise error

    return app


def test_a_response_has_the_headers_and_no_cors():
    found = call(hardened(echo, Protection()), "POST", body=(b"abc", b"de"))
    assert (found.status, found.body) == (200, b"local 5")
    assert "default-src 'none'" in found.headers["content-security-policy"]
    assert "'unsafe-inline'" not in found.headers["content-security-policy"]
    assert found.headers["x-frame-options"] == "DENY"
    assert found.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in found.headers
    assert "strict-transport-security" not in found.headers


def test_tls_is_kept():
    found = call(hardened(echo, Protection(has_tls=True)))
    assert "max-age" in found.headers["strict-transport-security"]


@pytest.mark.parametrize(
    ("headers", "parts"), [({"content-length": "5000000000"}, (b"",)), ({}, (b"x" * 600,) * 9)]
)
def test_a_large_body_is_refused_stated_or_chunked(headers, parts):
    app = hardened(echo, Protection(limits=Limits(body_bytes=4_000)))
    found = call(app, "POST", headers=headers.items(), body=parts)
    problem = json.loads(found.body)
    assert found.status == problem["status"] == 413
    assert found.headers["content-type"] == "application/problem+json"
    assert problem["limit_bytes"] == 4_000
    assert problem["cure"]


def test_a_large_body_is_refused_before_more_of_it_is_read():
    """Else the connection may be reset in the middle of the answer, as browsers found it: they look
    for an answer when they can send no more. And a client that waits for one waits in vain.
    """
    done = []

    async def receive():
        done.append("read")
        more = done.count("read") < 3
        return {"type": "http.request", "body": b"x", "more_body": more}

    async def send(message):
        body = message.get("body", b"")
        done.append("answered" if body else message["type"])

    app = hardened(echo, Protection(limits=Limits(body_bytes=4_000)))
    headers = [(b"host", b"localhost"), (b"content-length", b"5000000000")]
    scope = {"type": "http", "method": "POST", "path": "/", "client": None, "headers": headers}
    asyncio.run(app(scope, receive, send))
    begin, end = "http.response.start", "http.response.body"
    assert done == [begin, "answered", "read", "read", "read", end]


@pytest.mark.parametrize("length", ["5000000000", "2000"])
def test_who_asks_before_it_sends_a_body_is_refused_without_it(length):
    """As curl with long recordings: to read the body is to tell it to send it."""
    read = []

    async def receive():
        read.append(True)
        return {"type": "http.request", "body": b"x", "more_body": False}

    async def refused():
        sent = []
        limits = Limits(body_bytes=4_000)
        tokens = BearerTokens({"anna": TOKEN})
        app = hardened(echo, Protection(limits=limits, tokens=tokens))
        headers = {"host": "localhost", "expect": "100-continue", "content-length": length}
        if length != "2000":
            headers["authorization"] = f"Bearer {TOKEN}"
        scope = {
            "type": "http", "method": "POST", "path": "/", "client": ("::1", 1),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }  # fmt: skip

        async def send(message):
            sent.append(message)

        await app(scope, receive, send)
        return sent[0]

    start = asyncio.run(refused())
    assert start["status"] == (401 if length == "2000" else 413)
    assert read == []
    assert (b"connection", b"close") in start["headers"]


def test_a_framework_cannot_turn_a_large_body_into_another_error():
    async def careless(scope, receive, send):
        try:
            await echo(scope, receive, send)
        except Problem:
            await send({"type": "http.response.start", "status": 400, "headers": []})

    app = hardened(careless, Protection(limits=Limits(body_bytes=10)))
    assert call(app, "POST", body=(b"x" * 11,)).status == 413


def test_what_a_framework_makes_of_a_large_body_is_no_defect(caplog, monkeypatch):
    """As Starlette, whose error handler cannot send its own answer after the refusal."""

    async def careless(scope, receive, send):
        try:
            await echo(scope, receive, send)
        except Problem as refused:
            try:
                await send({"type": "http.response.start", "status": 400, "headers": []})
            except Problem:
                raise RuntimeError("response already started") from refused

    app = hardened(careless, Protection(limits=Limits(body_bytes=10)))
    monkeypatch.setattr(app._log, "propagate", True)
    assert call(app, "POST", body=(b"x" * 11,)).status == 413
    assert "413" in caplog.text
    assert "defect" not in caplog.text


def test_a_slow_client_is_given_up():
    app = hardened(echo, Protection(limits=Limits(idle_seconds=0.02)))
    found = call(app, "POST", body=(b"a",), stall=True)
    assert found.status == 408
    slow = Limits(idle_seconds=0.0, least_bytes_per_second=1 << 60)
    assert call(hardened(echo, Protection(limits=slow)), "POST", body=(b"a", b"b")).status == 408


def test_a_client_that_was_fast_and_then_sends_a_byte_now_and_then_is_given_up(monkeypatch):
    monkeypatch.setattr(request_body, "MOST_RESERVE", 0.1)
    parts = [bytes(1 << 20), *[b"x"] * 500]

    async def receive():
        await asyncio.sleep(0.01)
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def read():
        body = BoundedBody({"headers": []}, receive, Limits(idle_seconds=0.1))
        while not body.complete:
            await body.receive()

    with pytest.raises(Problem) as caught:
        asyncio.run(read())
    assert caught.value.status == 408


def test_too_many_requests_of_a_client_are_refused_with_a_time():
    app = hardened(echo, Protection(limits=Limits(per_second=0.5, burst=2)))
    statuses = [call(app, client="10.0.0.1").status for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert call(app, client="10.0.0.2").status == 200
    assert call(app, client="10.0.0.1").headers["Retry-After".lower()] == "2"


def test_guesses_of_tokens_are_counted_and_tokens_have_a_rate_each():
    tokens = BearerTokens({"desk": TOKEN, "phone": "p" * 43})
    app = hardened(echo, Protection(limits=Limits(per_second=0.1, burst=2), tokens=tokens))
    guess = [("authorization", "Bearer " + "u" * 43)]
    assert [call(app, headers=guess).status for _ in range(3)] == [401, 401, 429]
    own = [("authorization", f"Bearer {TOKEN}")]
    assert [call(app, headers=own).status for _ in range(3)] == [200, 200, 429]
    assert call(app, headers=[("authorization", f"Bearer {'p' * 43}")]).status == 200


def test_too_many_open_requests_are_refused_with_a_time():
    async def both():
        inside, leave = asyncio.Event(), asyncio.Event()

        async def waiting(scope, receive, send):
            inside.set()
            await leave.wait()
            await echo(scope, receive, send)

        app = hardened(waiting, Protection(limits=Limits(parallel=1)))
        first = asyncio.create_task(answer(app))
        await inside.wait()
        second = await answer(app)
        leave.set()
        return (await first).status, second.status, second.headers

    first, second, headers = asyncio.run(both())
    assert (first, second) == (200, 503)
    assert int(headers["retry-after"]) >= 1


def test_one_of_several_tokens_holds_at_most_half_of_the_requests():
    """Slow uploads of one client leave room to the others; a single client has all of it."""

    async def statuses(tokens):
        leave, inside = asyncio.Event(), []

        async def waiting(scope, receive, send):
            inside.append(scope[OWNER])
            await leave.wait()
            await echo(scope, receive, send)

        app = hardened(waiting, Protection(limits=Limits(parallel=4), tokens=BearerTokens(tokens)))

        def ask(owner):
            headers = [("authorization", f"Bearer {tokens[owner]}")]
            return asyncio.create_task(answer(app, headers=headers))

        asked = [ask("desk") for _ in range(3)]
        while len(inside) < 2 + (len(tokens) == 1):
            await asyncio.sleep(0)
        if "phone" in tokens:
            asked.append(ask("phone"))
            while "phone" not in inside:
                await asyncio.sleep(0)
        leave.set()
        found = [(await one).status for one in asked]
        again = await ask("desk")
        return found, again.status

    both = {"desk": TOKEN, "phone": "p" * 43}
    assert asyncio.run(statuses(both)) == ([200, 200, 429, 200], 200)
    assert asyncio.run(statuses({"desk": TOKEN})) == ([200, 200, 200], 200)


def test_a_token_is_needed_except_where_a_path_is_open():
    tokens = BearerTokens({"desk": TOKEN})
    app = hardened(echo, Protection(tokens=tokens, is_open=lambda path: path == "/health"))
    for header in (
        {},
        {"authorization": "Bearer " + "u" * 43},
        {"authorization": f"Basic {TOKEN}"},
    ):
        found = call(app, headers=header.items())
        assert found.status == 401
        assert found.headers["www-authenticate"] == "Bearer"
    assert call(app, headers=[("authorization", f"Bearer {TOKEN}")]).body == b"desk 0"
    assert call(app, headers=[("xi-api-key", TOKEN)]).body == b"desk 0"
    assert call(app, path="/health").body == b"local 0"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""]
)
def test_a_name_that_another_site_directs_here_is_refused(host):
    app = hardened(echo, Protection(allowed_hosts=LOCAL))
    assert call(app, headers=[("host", host)]).status == 421


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:1"])
def test_names_of_this_machine_are_served(host):
    assert (
        call(hardened(echo, Protection(allowed_hosts=LOCAL)), headers=[("host", host)]).status
        == 200
    )


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:8001"])
def test_pages_of_other_sites_send_nothing(origin):
    assert call(hardened(echo, Protection()), "POST", headers=[("origin", origin)]).status == 403


def test_the_page_of_this_server_sends():
    own = [("origin", "http://127.0.0.1:8000")]
    assert call(hardened(echo, Protection()), "POST", headers=own).status == 200


def test_errors_have_a_cure_and_neither_paths_nor_a_traceback(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("voicenym.web"), "propagate", True)
    error = AudioError("/srv/uploads/anna.wav: is no recording; send one of /srv/kinds/list.txt")
    found = call(hardened(raising(error), Protection()))
    problem = json.loads(found.body)
    assert found.status == 422
    assert "is no recording" in problem["detail"]
    assert b"/srv" not in found.body
    secret = RuntimeError("/srv/uploads/anna.wav holds the secret 4711")
    app = hardened(raising(secret), Protection())
    monkeypatch.setattr(app._log, "propagate", True)
    found = call(app, path="/v1/anna", client="192.0.2.7")
    assert found.status == 500
    assert b"4711" not in found.body
    assert b"Traceback" not in found.body
    assert "RuntimeError" in caplog.text
    for word in ("4711", "anna", "192.0.2.7", "/srv"):
        assert word not in caplog.text


def test_a_response_that_has_begun_is_broken_off():
    async def half(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"part", "more_body": True})
        raise AudioError("the recording: ends early")

    with pytest.raises(_BrokenOff) as caught:
        call(hardened(half, Protection()))
    assert caught.value.__suppress_context__


def test_a_request_that_the_end_of_the_server_cuts_off_gets_503():
    async def cut():
        inside = asyncio.Event()
        sent = []

        async def waiting(scope, receive, send):
            inside.set()
            await asyncio.Event().wait()

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "client": None}
        task = asyncio.create_task(hardened(waiting, Protection())(scope, None, send))
        await inside.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return sent, task.cancelled()

    sent, cancelled = asyncio.run(cut())
    assert cancelled
    assert sent[0]["status"] == 503
    assert b"ending" in sent[1]["body"]


@pytest.mark.parametrize(
    ("text", "what", "cure"),
    [
        ("it fails; change it, or --x; or leave it", "it fails", "change it, or x; or leave it"),
        ("it is alike (1; 2 (3; 4)); change it", "it is alike (1; 2 (3; 4))", "change it"),
        ("it holds '(; or more; change it", "it holds '(", "or more; change it"),
    ],
)
def test_a_message_is_halved_where_its_cure_begins(text, what, cure):
    problem = problem_of(AudioError(text))
    assert (str(problem), problem.cure) == (what, cure)


def test_what_is_wrong_and_its_cure_are_sentences():
    """Pages show the one after the other; messages of errors have no full stop."""
    for error, cure in (
        (AudioError("it is short; add some"), "add some."),
        (Problem(422, "No.", "Go!"), "Go!"),
    ):
        body = problem_of(error).body()
        assert body["cure"] == cure
        assert body["detail"].endswith(".")
        assert not body["detail"].endswith("..")


def closed_by(app, protection, **scope):
    return closed(hardened(app, protection), **scope)


def closed(app, **scope):
    """What a web socket sends until it is closed."""
    sent = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    given = {
        "type": "websocket", "path": "/", "headers": [(b"host", b"127.0.0.1:8000")],
        "client": ("127.0.0.1", 1), "subprotocols": ["live"], **scope,
    }  # fmt: skip
    asyncio.run(app(given, receive, send))
    return sent


def test_why_a_web_socket_ended_is_counted_and_in_the_log(monkeypatch):
    lines = []
    app = hardened(raising(Problem(409, "It is in use.", "Wait.")), Protection())
    monkeypatch.setattr(app._log, "info", lines.append)
    closed(app)
    assert app.statuses == {409: 1}
    assert lines[0].startswith("WS - 409 ")


def test_a_web_socket_is_told_a_problem_with_a_code_and_a_reason():
    tokens = BearerTokens({"anna": TOKEN})
    accept, told, close = closed_by(echo, Protection(tokens=tokens))
    assert accept == {"type": "websocket.accept", "subprotocol": "live"}
    problem = json.loads(told["text"])
    assert (problem["status"], problem["event"]) == (401, "problem")
    assert close["code"] == 4401
    assert close["reason"].startswith(problem["detail"])
    assert len(close["reason"].encode()) <= 123


def test_the_token_of_a_web_socket_is_not_repeated():
    tokens = BearerTokens({"anna": TOKEN})
    app = raising(Problem(422, "No." + "ä" * 100, "Cure."))
    accept, _, close = closed_by(
        app, Protection(tokens=tokens), subprotocols=[f"bearer.{TOKEN}", "live"]
    )
    assert accept["subprotocol"] == "live"
    assert close["code"] == 4422
    assert len(close["reason"].encode()) <= 123


def test_a_web_socket_of_a_page_of_another_site_is_not_opened():
    headers = [(b"host", b"127.0.0.1:8000"), (b"origin", b"http://elsewhere.example")]
    (close,) = closed_by(echo, Protection(allowed_hosts=LOCAL), headers=headers)
    assert close["type"] == "websocket.close"


def test_a_defect_of_a_web_socket_says_nothing(caplog):
    _, told, close = closed_by(raising(RuntimeError("Anna")), Protection())
    assert close["code"] == 4500
    assert "Anna" not in told["text"] + caplog.text
