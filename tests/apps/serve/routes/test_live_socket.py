"""The two directions of a live session, without a server: its end, and clients that pause."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from awaited import PATIENCE

pytest.importorskip("fastapi")

from voicenym.apps.serve.live_processes.live_frames import SoundFrame, answer, sound
from voicenym.apps.serve.routes import live_socket
from voicenym.apps.web.problem_details import Problem
from voicenym.live.live_state import State

RATE, BLOCK = 16_000, 320


class Clock:
    """Time of the event loop that a test moves."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        loop = SimpleNamespace(time=lambda: self.now)
        monkeypatch.setattr(live_socket.asyncio, "get_running_loop", lambda: loop)


def frame(number, heard):
    return sound(SoundFrame(number * BLOCK, RATE, heard * BLOCK, bytes(2 * BLOCK)))


@pytest.mark.parametrize("ticks", range(8))
def test_a_session_ends_while_an_answer_is_being_sent(ticks):
    """Whatever the moment: a session that goes on keeps its worker."""

    async def run():
        began, gate = asyncio.Event(), asyncio.Event()

        async def receive():
            await began.wait()
            gate.set()
            for _ in range(ticks):
                await asyncio.sleep(0)
            return {"type": "websocket.receive", "text": "no frame"}

        async def send(message):
            if "bytes" in message:
                began.set()
                await gate.wait()

        said = [
            (live_socket.SOUND, answer(0, None, State.RUNNING, b"")),
            (live_socket.READY, b"{}"),
        ]

        class Worker:
            async def receive(self):
                return said.pop() if said else await asyncio.Event().wait()

        limits = SimpleNamespace(seconds=3600.0)
        service = SimpleNamespace(live=SimpleNamespace(limits=limits))
        socket = live_socket.LiveSocket(service)
        wanted = SimpleNamespace(task=SimpleNamespace(rate=RATE))
        async with asyncio.timeout(PATIENCE):
            await socket._run(live_socket._Client(receive, send), Worker(), wanted)

    with pytest.raises(Problem, match="A frame is text"):
        asyncio.run(run())


class Session:
    """A session of a client whose frames come when a test says so.

    Attributes:
        frames: number of frames that the worker got.
    """

    def __init__(self):
        self.frames = 0
        self.inner = live_socket._Session(None, self, RATE)

    def send(self, data):
        self.frames += 1

    def take(self, heard):
        """The next frame; ``heard``, the number of the last answer that came."""
        session = self.inner
        session._last = live_socket.asyncio.get_running_loop().time()
        session._begun = session._begun or session._last
        session.forward(frame(self.frames, heard))

    def speak(self, clock, count):
        for _ in range(count):
            self.take(0)
            clock.now += BLOCK / RATE

    def answered(self, number):
        self.inner.note_answer(answer(number * BLOCK, None, State.RUNNING, b""))


def test_sound_that_comes_at_once_after_a_pause_of_the_network_is_no_worker_that_hangs(monkeypatch):
    clock, session = Clock(monkeypatch), Session()
    session.take(0)
    session.answered(0)
    clock.now += 8.0
    for _ in range(400):
        session.take(0)
    assert session.frames == 401


def test_a_worker_that_gives_no_answer_ends_the_session(monkeypatch):
    clock, session = Clock(monkeypatch), Session()
    session.speak(clock, 50)
    session.answered(49)
    with pytest.raises(Problem, match="does not answer"):
        session.speak(clock, 300)
    assert 290 < session.frames <= 302
