"""Server of a study: pages of a listener in turn, clips, and answers that are stored at once.

A listener's token is in the fragment of the link (``/#TOKEN``), which browsers do not send; the
page sends it as a bearer token. The key of the study is never opened here.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from voicenym.apps.web.asgi_types import Receive, Scope, Send
from voicenym.apps.web.bearer_tokens import BearerTokens
from voicenym.apps.web.bind_rules import Binding
from voicenym.apps.web.hardening import OWNER, Hardened, Protection, hardened
from voicenym.apps.web.problem_details import Problem
from voicenym.apps.web.request_body import Limits
from voicenym.apps.web.static_files import StaticFiles
from voicenym.listening import session_progress
from voicenym.listening.answer_store import AnswerStore, NotStoredError
from voicenym.listening.study import STIMULI, Study

PAGE = Path(__file__).parent / "page"
LIMITS = Limits(body_bytes=64 << 10, per_second=200.0, burst=4000, parallel=512)
"""A room of listeners may share one address."""
LONGEST = 24 * 3600.0
"""Seconds of an answer that are believed."""


class ListeningApp:
    """ASGI application of a study.

    Args:
        folder: of the study.
        study: its public part.
        store: of its answers.
        finished: called with a listener's name when all pages are answered.
    """

    def __init__(self, folder: Path, study: Study, store: AnswerStore, finished: Any = None):
        self.folder, self.study, self.store, self.finished = folder, study, store, finished
        self.files = StaticFiles(PAGE)
        self.clips = {
            name: {clip for page in pages for clip in page.clips}
            for name, pages in study.sessions.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request; see the module."""
        if scope["type"] == "lifespan":
            return await _lifespan(receive, send)
        path, method = scope["path"], scope["method"]
        if not path.startswith("/api/"):
            scope["voicenym.route"] = "/"
            return await self.files(scope, receive, send)
        listener = scope[OWNER]
        if listener not in self.study.sessions:
            raise Problem(403, "This token is of no listener.", "Use the link that you were given.")
        kind, _, name = path.removeprefix("/api/").partition("/")
        scope["voicenym.route"] = f"/api/{kind}" if kind in ("next", "answers", "clip") else "-"
        if (method, kind, name) == ("GET", "next", ""):
            return await _send_json(send, await asyncio.to_thread(self.next, listener))
        if (method, kind, name) == ("POST", "answers", ""):
            return await _send_json(
                send, await asyncio.to_thread(self.answer, listener, await _body(receive))
            )
        if method in ("GET", "HEAD") and kind == "clip":
            data = await asyncio.to_thread(self.clip, listener, name)
            return await _send(send, 200, b"audio/wav", data)
        raise Problem(404, "There is nothing here.", "Look at / for the page.")

    def next(self, listener: str) -> dict[str, Any]:
        """State of a listener."""
        return session_progress.state(self.study, listener, self.store.answered(listener))

    def answer(self, listener: str, body: bytes) -> dict[str, Any]:
        """Stores answers of a page, if it was not answered yet, and returns the next state.

        Raises:
            Problem: 400 or 422 of malformed answers, 409 of a page that is not to be answered yet,
                507 if the answers cannot be stored.
        """
        sent = _parsed(body)
        answered = self.store.answered(listener)
        pages = {page.name: page for page in self.study.sessions[listener]}
        page = pages.get(str(sent.get("page")))
        if page is None:
            raise Problem(422, "The session has no such page.", "Load the page again.")
        stored = False
        if page.name not in answered:
            due = session_progress.current(self.study, listener, answered)
            if due is None or due.name != page.name:
                raise Problem(409, "Another page is to be answered first.", "Load the page again.")
            wrong = session_progress.wrong(page, sent.get("answers"))
            if wrong:
                raise Problem(422, f"The answer cannot be taken: {wrong}.", "Answer the question.")
            try:
                stored = self.store.add(
                    listener, page.name, sent["answers"],
                    _number(sent.get("seconds"), LONGEST), _count(sent.get("plays")),
                )  # fmt: skip
            except NotStoredError:
                raise Problem(
                    507,
                    "The server cannot store answers now: its disk is full or fails.",
                    "Keep this page open: it sends the answer again until it is stored.",
                    {"Retry-After": "5"},
                ) from None
        state = self.next(listener)
        if stored and state["finished"] and self.finished is not None:
            self.finished(listener)
        return {**state, "stored": stored}

    def clip(self, listener: str, name: str) -> bytes:
        """WAV file of a clip of the listener's session.

        Raises:
            Problem: 404 of any other name.
        """
        if name not in self.clips[listener]:
            raise Problem(404, "The session has no such recording.", "Load the page again.")
        try:
            return (self.folder / STIMULI / f"{name}.wav").read_bytes()
        except OSError:
            raise Problem(
                503, "The recording cannot be read.", "Tell the people who run the test."
            ) from None


def application(
    folder: Path,
    study: Study,
    tokens: Mapping[str, str],
    store: AnswerStore,
    binding: Binding,
    finished: Any = None,
    behind_proxy: bool = False,
) -> Hardened:
    """Hardened application of a study.

    Args:
        tokens: by listener.
        binding: where it will listen.
        finished: as of :class:`ListeningApp`.
        behind_proxy: whether a proxy with TLS and a name of its own passes requests on.
    """
    protection = Protection(
        LIMITS,
        BearerTokens(dict(tokens)),
        is_open=lambda path: not path.startswith("/api/"),
        is_metered=lambda path: path.startswith("/api/"),
        allowed_hosts=None if behind_proxy else binding.allowed_hosts(),
        has_tls=binding.has_tls or behind_proxy,
    )
    return hardened(ListeningApp(folder, study, store, finished), protection)


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        sent = None
    if not isinstance(sent, dict):
        raise Problem(400, "The answer is no JSON object.", "Load the page again.")
    return sent


def _number(value: object, most: float) -> float | None:
    """A duration in seconds, if it is one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) and 0.0 <= value <= most else None


def _count(value: object) -> int | None:
    found = _number(value, session_progress.MOST_PLAYS)
    return None if found is None else int(found)


async def _body(receive: Receive) -> bytes:
    parts, more = [], True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "The connection broke off.", "Send the answer again.")
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


async def _send_json(send: Send, value: object) -> None:
    await _send(send, 200, b"application/json", json.dumps(value, ensure_ascii=False).encode())


async def _send(send: Send, status: int, kind: bytes, data: bytes) -> None:
    headers = [(b"content-type", kind), (b"content-length", str(len(data)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
