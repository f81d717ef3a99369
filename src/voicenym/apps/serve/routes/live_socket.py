"""The web socket of live sessions: sound of a client in, anonymized sound or silence out."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from voicenym.apps.serve.live_processes.live_frames import (
    WRAP,
    FrameReader,
    SoundFrame,
    read_answer,
)
from voicenym.apps.serve.live_processes.live_runner import LiveWorker
from voicenym.apps.serve.live_processes.live_task import READY, SOUND, STATUS
from voicenym.apps.serve.routes.live_request import LiveRequest, live_request
from voicenym.apps.serve.service import Service
from voicenym.apps.web.asgi_types import Receive, Scope, Send
from voicenym.apps.web.hardening import OWNER, subprotocol
from voicenym.apps.web.problem_details import Problem, busy, defect

PATH = "/v1/live"
START_SECONDS = 10.0
"""From the handshake to the first message."""
READY_SECONDS = 60.0
"""For the worker to load the system and measure its blocks."""
IDLE_SECONDS = 10.0
"""Without a frame."""
SEND_SECONDS = 5.0
"""For one message, until the client counts as one that takes none."""
UNHEARD_SECONDS = 5.0
"""Of answers that the client has not taken; and without an answer of the worker."""
AHEAD_SECONDS = 2.0
"""By which a client's sound may be ahead of the clock, after a pause of the network."""


class LiveSocket:
    """Web sockets at :data:`PATH`.

    Args:
        service: state of the server.
    """

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs one session.

        Raises:
            Problem: why it ended before the client ended it.
        """
        scope["voicenym.route"] = PATH
        await receive()  # websocket.connect
        await send({"type": "websocket.accept", "subprotocol": subprotocol(scope)})
        client = _Client(receive, send)
        first = await client.receive(START_SECONDS)
        if first is None:
            return
        if not isinstance(first, str):
            raise Problem(
                400, "The first message is no text.", "Send a JSON object, then frames of sound."
            )
        service, owner = self._service, scope[OWNER]
        wanted = live_request(service, owner, first)
        with service.live.session(owner, wanted.key_id, wanted.speaker):
            async with service.slots.slot_at_once():
                worker = await service.live_runner.start(wanted.task)
                try:
                    await self._run(client, worker, wanted)
                finally:
                    worker.close()

    async def _run(self, client: _Client, worker: LiveWorker, wanted: LiveRequest) -> None:
        session = _Session(client, worker, wanted.task.rate)
        most = self._service.live.limits.seconds
        tasks = [
            asyncio.ensure_future(one)
            for one in (session.inward(), session.outward(), session.idle(), _end(most))
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                one.result()
        finally:
            for one in tasks:
                one.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class _Session:
    """Both directions of a session."""

    def __init__(self, client: _Client, worker: LiveWorker, rate: int) -> None:
        self._client, self._worker, self._rate = client, worker, rate
        self._frames = FrameReader(rate)
        self._ready = asyncio.Event()
        self._begun = self._last = self._asked = 0.0
        self._sent = self._answered = 0

    async def inward(self) -> None:
        """Frames of the client to the worker, until the client ends the session."""
        loop = asyncio.get_running_loop()
        while True:
            data = await self._client.receive(None)
            if data is None:
                return
            if not isinstance(data, bytes):
                raise Problem(400, "A frame is text.", "Send frames of sound as binary messages.")
            if not self._ready.is_set():
                raise Problem(400, "A frame came too early.", "Send sound after the message ready.")
            self._last = loop.time()
            self._begun = self._begun or self._last
            self.forward(data)

    def forward(self, data: bytes) -> None:
        """Hands a frame of the client to the worker.

        Raises:
            Problem: it is malformed, too early or too late; the worker does not answer.
        """
        frame = self._frames.read(data)
        self._check_pace(frame)
        self._worker.send(data)
        self._sent = frame.at

    def note_answer(self, data: bytes) -> None:
        """Notes an answer of the worker.

        Raises:
            Problem: 500 for what is no answer.
        """
        try:
            self._answered, *_ = read_answer(data)
        except Problem:
            raise defect() from None
        self._asked = asyncio.get_running_loop().time()

    async def idle(self) -> None:
        """Ends the session when no frame comes, from the message ready on."""
        loop = asyncio.get_running_loop()
        await self._ready.wait()
        self._last = loop.time()
        while (left := self._last + IDLE_SECONDS - loop.time()) > 0:
            await asyncio.sleep(left)
        raise _silent(IDLE_SECONDS)

    def _check_pace(self, frame: SoundFrame) -> None:
        now = self._last
        if self._frames.received / self._rate > now - self._begun + AHEAD_SECONDS:
            raise Problem(
                429, "Sound comes faster than it lasts.", "Send each frame when it was recorded."
            )
        if self._answered == self._sent:  # the worker has nothing else to do
            self._asked = now
        elif now - self._asked > UNHEARD_SECONDS:  # not in sound, which may come all at once
            raise busy("The worker process of this session does not answer.", 2.0)
        if (self._answered - frame.heard) % WRAP > UNHEARD_SECONDS * self._rate:
            raise Problem(
                408,
                f"The client is {UNHEARD_SECONDS:g} s behind with what it takes.",
                "Use a faster connection, and name in each frame the last answer that came.",
            )

    async def outward(self) -> None:
        """Messages of the worker to the client."""
        while True:
            waits = None if self._ready.is_set() else READY_SECONDS
            try:
                async with asyncio.timeout(waits):
                    kind, value = await self._worker.receive()
            except TimeoutError:
                raise busy("The system was not ready in time.", 10.0) from None
            if kind == SOUND:
                self.note_answer(value)
                await self._client.send({"bytes": value})
            elif kind in (READY, STATUS):
                event = "ready" if kind == READY else "status"
                await self._client.send({"text": json.dumps({"event": event, **_status(value)})})
                self._ready.set()


def _status(value: bytes) -> dict[str, Any]:
    """Status of a worker; figures and the name of a state."""
    try:
        found = json.loads(value)
        return {str(k): v for k, v in found.items() if isinstance(v, (int, float, str))}
    except (ValueError, AttributeError, RecursionError):
        raise defect() from None


class _Client:
    """Messages of one client, in bounded time.

    ``asyncio.wait_for`` of Python 3.11 loses a cancellation that comes as its message does: a
    session that was to end would go on for as long as the client stays.
    """

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send

    async def receive(self, seconds: float | None) -> str | bytes | None:
        """The next message; None if the client is gone.

        Raises:
            Problem: 408 if none comes in time.
        """
        try:
            async with asyncio.timeout(seconds):
                message = await self._receive()
        except TimeoutError:
            raise _silent(seconds or 0.0) from None
        if message["type"] != "websocket.receive":
            return None
        data = message.get("bytes")
        return message["text"] if data is None else data

    async def send(self, content: dict[str, Any]) -> None:
        """Sends a message.

        Raises:
            Problem: 408 if the client does not take it.
        """
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await self._send({"type": "websocket.send", **content})
        except TimeoutError:
            raise Problem(408, "The client takes no sound.", "Start a new session.") from None


def _silent(seconds: float) -> Problem:
    return Problem(408, f"No sound came for {seconds:g} s.", "Start a new session.")


async def _end(seconds: float) -> None:
    await asyncio.sleep(seconds)
    raise Problem(
        413,
        f"The session has lasted {seconds:g} s, the limit of this server.",
        "Start a new session, or raise the limit of the server.",
    )
