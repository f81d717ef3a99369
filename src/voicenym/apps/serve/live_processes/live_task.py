"""What the worker process of a live session does: sound in, anonymized sound or silence out.

The engine is that of ``voicenym live``, with its rules of faults. A second channel of it, which
passes, holds the position of each sample, so that each sample that goes out says from which one it
was made: the client measures the delay by it, and a sample without a position is silence.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from voicenym.apps.serve.worker_isolation.confinement import confine
from voicenym.apps.web.problem_details import Problem, problem_of
from voicenym.errors import VoicenymError
from voicenym.pseudonym import Pseudonym

if TYPE_CHECKING:
    import numpy

    from voicenym.live.live_engine import LiveEngine

READY, SOUND, STATUS, REFUSED, DEFECT = b"r", b"s", b"t", b"f", b"d"
"""Kinds of messages to the server: their first byte."""
MARKS = 1 << 22
"""Positions are marked modulo this number, which float32 holds exactly."""
MARGIN_SECONDS = 0.01
"""Sound that waits for late blocks."""
IDLE_SECONDS = 0.05
"""Longest wait for a frame before the engine is looked at."""
STATUS_SECONDS = 1.0
"""Between two statuses."""
FILE_BYTES = 1 << 20
"""Largest file that the worker writes; it needs to write none."""


@dataclass(frozen=True)
class LiveTask:
    """A live session.

    Args:
        system: name.
        settings: texts by parameter.
        pseudonym: of the speaker; the key itself does not reach the worker.
        rate: sample rate of the client in Hz.
        memory: bytes of the worker beyond its start.
        cpu_seconds: processor time of the worker.
    """

    system: str
    settings: Mapping[str, str]
    pseudonym: Pseudonym
    rate: int
    memory: int = 3 << 30
    cpu_seconds: int = 3600


def live_work(connection: Connection, task: LiveTask) -> None:
    """Main function of a worker process; it ends with the session.

    Args:
        connection: to the server: frames in, messages out.
        task: what to do.
    """
    import torch

    torch.set_num_threads(1)
    try:
        confine(task.memory, task.cpu_seconds, FILE_BYTES)
        _Session(connection, task).run()
    except (EOFError, OSError):
        pass  # the server has ended the session
    except VoicenymError as error:
        _tell(connection, REFUSED, problem_of(error).body())
    except BaseException as error:  # a defect; its message may quote what was heard
        from voicenym.apps.web.quiet_log import defect_lines

        _tell(connection, DEFECT, defect_lines(error))
    os._exit(0)


class _Session:
    """One engine between the frames of one client."""

    def __init__(self, connection: Connection, task: LiveTask) -> None:
        self._connection, self._task = connection, task
        self._ended, self._given = threading.Event(), threading.Event()
        self._holds = False

    def run(self) -> None:
        """Runs until the connection ends, or the engine.

        Raises:
            VoicenymError: the system does not work live, or the engine ended the session.
        """
        from voicenym.live.steady_threads import steady

        engine = self._engine()
        engine.work()  # makes the stream
        with steady():
            self._answer(engine)

    def _answer(self, engine: LiveEngine) -> None:
        """Answers frames until the connection ends, or the engine."""
        import time

        worker = threading.Thread(target=self._work, args=(engine,), daemon=True)
        worker.start()
        seconds = engine.block / self._task.rate
        ready = {"block_seconds": seconds, "holds": self._holds, **self._status(engine)}
        _tell(self._connection, READY, ready)
        told = time.monotonic()
        while True:
            if self._connection.poll(IDLE_SECONDS):
                self._through(engine)
            engine.check()
            if time.monotonic() - told > STATUS_SECONDS:
                told = time.monotonic()
                _tell(self._connection, STATUS, self._status(engine))
            self._check(engine)

    def _engine(self) -> LiveEngine:
        from voicenym.anonymizer import SYSTEMS, load
        from voicenym.live.block_choice import LENGTHS, choose_block
        from voicenym.live.echo_check import refuse_echo
        from voicenym.live.live_engine import LiveEngine

        task = self._task
        given: dict[str, Any] = SYSTEMS.values(task.system, dict(task.settings))
        anonymizer = load(task.system, **{**given, "live": True})
        anonymizer.check()

        def make() -> Any:
            return anonymizer.stream(task.pseudonym, task.rate, low_delay=True)

        refuse_echo(make, task.rate, task.system)
        lag, wait = None, 0
        try:
            choice = choose_block(make, task.rate)
            block, lag, self._holds = choice.block, choice.lag, True
            wait = choice.wait
        except VoicenymError:  # other work may be in the way: the engine's rules of overload hold
            block, self._holds = round(LENGTHS[-1] * task.rate), False
        margin = round(MARGIN_SECONDS * task.rate) + wait
        return LiveEngine(make, task.rate, block, margin, channels=2, lag=lag)

    def _work(self, engine: LiveEngine) -> None:
        while not self._ended.is_set():
            if not engine.work():
                self._given.wait(IDLE_SECONDS / 10)
                self._given.clear()

    def _through(self, engine: LiveEngine) -> None:
        """Takes one frame, and gives its answer."""
        import numpy

        from voicenym.apps.serve.live_processes import live_frames
        from voicenym.live.live_state import State

        frame = live_frames.read_sound(self._connection.recv_bytes())
        if engine.state is State.LOST:  # the client is back
            engine.find()
        voice = numpy.frombuffer(frame.pcm, "<i2").astype(numpy.float32) / numpy.float32(32768.0)
        engine.give(marked(voice, frame.at))
        self._given.set()
        out = engine.take(len(voice))
        source, sound = unmarked(out, frame.at)
        pcm = numpy.round(sound * 32767.0).astype("<i2").tobytes()
        back = live_frames.answer(frame.at, source, engine.state, pcm)
        self._connection.send_bytes(SOUND + back)

    def _status(self, engine: LiveEngine) -> dict[str, Any]:
        found = engine.status()
        return {
            "state": found.state.value,
            "load": round(found.load, 3),
            "blocks": found.blocks,
            "dropouts": found.dropouts,
            "overloads": found.overloads,
            "failures": found.failures,
        }

    def _check(self, engine: LiveEngine) -> None:
        """Raises a problem if the engine has ended; its other messages are states to a client."""
        from voicenym.live.live_state import State

        last = ""
        while engine.messages:
            last = engine.messages.popleft()
        if engine.state is State.ENDED:
            self._ended.set()
            why = last.partition(";")[0]
            raise Problem(503, f"The session ended: {why}.", "Choose a faster system, or retry.")


def marked(voice: numpy.ndarray, at: int) -> numpy.ndarray:
    """``[time, 2]``: a voice, and the positions of its samples as numbers in (0, 1]."""
    import numpy

    places = (at + numpy.arange(len(voice), dtype=numpy.int64)) % MARKS + 1
    return numpy.stack([voice, (places / MARKS).astype(numpy.float32)], axis=1)


def unmarked(out: numpy.ndarray, at: int) -> tuple[int | None, numpy.ndarray]:
    """Position of the sound from which the first sample was made, and the samples.

    Samples without a position become zeros: they are of nobody's voice.

    Args:
        out: ``[time, 2]``, as of :func:`marked`.
        at: a position after it, by less than :data:`MARKS`.

    Returns:
        The position, None if no sample has one; and ``[time]``.
    """
    import numpy

    places = numpy.rint(out[:, 1].astype(numpy.float64) * MARKS).astype(numpy.int64)
    has_source = places > 0
    sound = numpy.where(has_source, numpy.clip(out[:, 0], -1.0, 1.0), 0.0)
    if not has_source.any():
        return None, sound
    first = int(has_source.argmax())
    before = (at - (int(places[first]) - 1 - first)) % MARKS
    return at - before, sound


def _tell(connection: Connection, kind: bytes, value: Any) -> None:
    """Sends a message; JSON, since the server must not unpickle what a worker says."""
    import contextlib

    with contextlib.suppress(OSError):
        connection.send_bytes(kind + json.dumps(value).encode())
