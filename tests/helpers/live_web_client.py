"""A client of live sessions, for tests and benchmarks: frames out, answers in, in real time."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from awaited import PATIENCE
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from voicenym.apps.serve.live_processes.live_frames import SoundFrame, read_answer, sound
from voicenym.live.live_state import State


@dataclass
class LiveClient:
    """One session.

    Attributes:
        socket: of it.
        rate: in Hz.
        sent: samples so far.
        heard: position of the last answer.
        sources: of the answers, None for silence.
        states: of the answers.
        parts: samples of the answers.
    """

    socket: ClientConnection
    rate: int
    sent: int = 0
    heard: int = 0
    sources: list[int | None] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    parts: list[np.ndarray] = field(default_factory=list)

    def event(self) -> dict:
        """The next event; answers before it are kept."""
        while True:
            message = self.socket.recv(timeout=PATIENCE)
            if isinstance(message, str):
                return json.loads(message)
            self._keep(message)

    def frame(self, samples: np.ndarray) -> bytes:
        """Bytes of the next frame."""
        pcm = np.rint(32767 * samples).astype("<i2").tobytes()
        return sound(SoundFrame(self.sent, self.rate, self.heard, pcm))

    def send(self, samples: np.ndarray) -> None:
        """Sends the next frame."""
        self.socket.send(self.frame(samples))
        self.sent += len(samples)

    def answer(self) -> bool:
        """Takes messages up to the next answer; False if the session has ended."""
        while True:
            message = self.socket.recv(timeout=PATIENCE)
            if isinstance(message, bytes):
                self._keep(message)
                return True
            if json.loads(message)["event"] == "problem":
                return False

    def speak(self, samples: np.ndarray, block: int) -> bool:
        """Sends samples in blocks, each when it would have been recorded; False if the session has
        ended.
        """
        begun = time.monotonic()
        for start in range(0, len(samples) - block + 1, block):
            wait = begun + (start + block) / self.rate - time.monotonic()
            time.sleep(max(0.0, wait))
            self.send(samples[start : start + block])
            if not self.answer():
                return False
        return True

    def heard_sound(self) -> np.ndarray:
        """All samples of the answers."""
        return np.concatenate(self.parts)

    def delays(self, block: int) -> np.ndarray:
        """Seconds from the last sample of a frame to the one that its answer was made from."""
        found = [
            ((n + 1) * block - self._signed(source)) / self.rate
            for n, source in enumerate(self.sources)
            if source is not None
        ]
        return np.array(found)

    def _signed(self, source: int) -> int:
        return source - (1 << 32) if source > 0xF0000000 else source

    def _keep(self, message: bytes) -> None:
        self.heard, source, state, pcm = read_answer(message)
        self.sources.append(source)
        self.states.append(state)
        self.parts.append(np.frombuffer(pcm, "<i2") / 32768.0)


@contextmanager
def live(url: str, token: str | None = None, **fields) -> Iterator[LiveClient]:
    """A session, of which the first message is sent.

    Args:
        url: of the server.
        token: of the client.
        fields: of the first message; ``rate`` is 16000 unless given.
    """
    protocols = ["voicenym.live", *([f"bearer.{token}"] if token else [])]
    fields = {"rate": 16_000, **fields}
    address = f"{url.replace('http', 'ws', 1)}/v1/live"
    # neither the start nor an answer to a ping is late, however busy the machine is
    with connect(
        address, subprotocols=protocols, open_timeout=PATIENCE, ping_interval=None,
        close_timeout=2, max_queue=None,
    ) as socket:  # fmt: skip
        with contextlib.suppress(ConnectionClosed):  # it may be refused already
            socket.send(json.dumps(fields))
        yield LiveClient(socket, fields["rate"])
