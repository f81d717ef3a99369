"""Live sessions of a server: another voice comes back; faults give silence, a reason, and nothing
is left.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import signal
import socket
import struct
import threading

import httpx
import numpy as np
import pytest
import soundfile
from awaited import PATIENCE, until

pytest.importorskip("websockets")

from live_web_client import live
from websockets.exceptions import ConnectionClosed

from voicenym.apps.serve.live_processes.live_frames import FrameReader
from voicenym.apps.serve.live_processes.live_runner import LiveWorker
from voicenym.apps.serve.routes import live_socket
from voicenym.apps.web.problem_details import Problem
from voicenym.live.live_state import State

BLOCK = 320


@pytest.fixture(scope="module")
def own(start, tmp_path_factory):
    """A server with three workers, two of which live sessions may take."""
    with start(
        tmp_path_factory.mktemp("live") / "server", "--workers", 3, names=("anna", "bert")
    ) as found:
        yield found


@pytest.fixture(scope="session")
def voice(speech):
    samples, rate = soundfile.read(io.BytesIO(speech), dtype="float32")
    assert rate == 16_000
    return samples


def is_over(server):
    """Whether the server has ended all sessions and their workers."""
    with server.client() as client:
        lines = client.get("/metrics").text.splitlines()
    return "voicenym_live_sessions 0.0" in lines and not server.workers()


@pytest.fixture(autouse=True)
def no_former_session(own):
    """A session of the test before may end late on a busy machine, and its place is taken."""
    until(lambda: is_over(own))


def refused(server, token="anna", **fields):
    """Problem and code with which a session is closed."""
    with live(server.url, server.tokens[token], **fields) as client:
        return closed(client, begun=False)


def closed(client, begun=True):
    while (event := client.event())["event"] != "problem":
        assert begun or event["event"] != "ready", "the session begins"
    with pytest.raises(ConnectionClosed) as caught:
        client.socket.recv(timeout=PATIENCE)
    assert caught.value.rcvd.code == 4000 + event["status"]
    assert caught.value.rcvd.reason.startswith(event["detail"][:60])
    assert event["cure"]
    return event


def test_a_client_that_never_sends_sound_does_not_keep_its_worker(monkeypatch):
    monkeypatch.setattr(live_socket, "IDLE_SECONDS", 0.01)

    class Client:
        async def send(self, content):
            assert json.loads(content["text"])["event"] == "ready"

        async def receive(self, seconds):
            await asyncio.Event().wait()

    said = [(live_socket.READY, b"{}")]

    class Worker:
        async def receive(self):
            return said.pop() if said else await asyncio.Event().wait()

    async def run():
        session = live_socket._Session(Client(), Worker(), 16_000)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(session.inward(), session.outward(), session.idle())

    with pytest.raises(Problem, match="No sound came") as caught:
        asyncio.run(run())
    assert caught.value.status == 408


def test_the_end_of_a_worker_keeps_nobody_from_the_next_session():
    """It takes a while, in which the place of the session counted as taken."""
    done, may_end = [], threading.Event()

    class Process:
        pid = 1

        def kill(self):
            done.append("killed")

        def join(self):
            assert may_end.wait(PATIENCE)
            done.append("joined")

        def close(self):
            done.append("closed")

    class Writer:
        def close(self):
            done.append("told")

    LiveWorker(Process(), None, Writer()).close()
    assert done == ["told", "killed"]
    may_end.set()
    until(lambda: done == ["told", "killed", "joined", "closed"])


def test_a_client_may_begin_its_next_session_at_once(start, tmp_path):
    with start(tmp_path / "server", "--workers", 2, names=("anna",)) as only:
        for _ in range(3):
            with live(only.url, only.tokens["anna"], rate=16_000, system="mcadams") as client:
                assert client.event()["event"] == "ready"


def test_another_voice_comes_back_sample_by_sample(own, voice):
    """The answers are the system's stream of the same pseudonym, and say what they were made of."""
    import torch

    import voicenym
    from voicenym.pseudonym import Key

    with own.client() as client:
        client.post("/v1/keys/live")
    key = Key.load(next((own.folder / "keys").glob("of-anna/live.key")))
    stream = voicenym.load("mcadams").stream(key.pseudonym("s1"), 16_000)
    given = (np.rint(32767 * voice).astype("<i2") / 32768.0).astype(np.float32)
    expected = torch.cat([stream.push(torch.from_numpy(given)), stream.flush()]).numpy()
    fields = {"system": "mcadams", "key_id": "live", "speaker": "s1"}
    compared = 0
    for _ in range(5):  # a machine under load drops sound; what it plays is right all the same
        with live(own.url, own.tokens["anna"], **fields) as client:
            assert client.socket.subprotocol == "voicenym.live"
            assert client.event()["event"] == "ready"
            assert client.speak(voice, BLOCK)
        until(lambda: is_over(own))
        assert len(client.heard_sound()) == len(voice) // BLOCK * BLOCK
        assert np.ptp(client.delays(BLOCK)) < 1.0
        compared = compared_blocks(client, expected)
        if compared > 10:
            break
    assert compared > 10


def compared_blocks(client, expected):
    """Number of answers that were compared with the whole stream, up to the first dropout.

    After one the stream may be a new one; that silence has no sample is compared everywhere.
    """
    compared, whole = 0, True
    for source, part in zip(client.sources, client.parts, strict=True):
        if source is None:
            assert not part.any()
            whole = whole and not compared
        elif whole and 0 <= source <= len(expected) - BLOCK:
            made = expected[source : source + BLOCK]
            played = BLOCK - int((part[::-1] != 0).argmax()) if part.any() else 0
            assert part[:played] == pytest.approx(made[:played], abs=2e-4)
            whole = not (np.abs(made[played:]) > 2e-4).any()
            compared += whole
    return compared


def test_silence_comes_back_until_the_system_is_ready_and_each_frame_has_an_answer(own, voice):
    with live(own.url, own.tokens["anna"], system="recast") as client:
        assert client.event()["state"] == "running"
        client.speak(voice[: 10 * BLOCK], BLOCK)
        assert client.sources[0] is None
        assert not client.parts[0].any()
        assert [len(part) for part in client.parts] == [BLOCK] * 10


@pytest.mark.parametrize(
    ("fields", "status", "word"),
    [
        ({"system": "nobody"}, 422, "no such system"),
        ({"system": "ssl-select"}, 422, "not work live"),
        ({"rate": 123}, 422, "rate"),
        ({"rate": "16000"}, 422, "rate"),
        ({"rate": True}, 422, "rate"),
        ({"settings": {"weights": "x"}}, 422, "setting"),
        ({"settings": [1]}, 422, "object"),
        ({"settings": {"nothing": 1}}, 422, "nothing"),
        ({"key_id": "none"}, 404, "no key"),
        ({"key_id": "../x"}, 422, "key_id"),
        ({"speaker": "x" * 300}, 422, "too long"),
        ({"speaker": 7}, 422, "speaker"),
        ({"speaker": "anna"}, 422, "no key_id"),
        ({"surprise": 1}, 422, "unknown"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_cure(own, fields, status, word):
    problem = refused(own, **fields)
    assert problem["status"] == status
    assert word in problem["detail"]
    until(lambda: is_over(own))


@pytest.mark.parametrize("first", [b"\x00\x01", "no object", "[]", "null", "{" * 10_000])
def test_a_first_message_that_is_no_request_is_refused(own, first):
    with live(own.url, own.tokens["anna"]):
        pass  # a session that ends before it begins
    from websockets.sync.client import connect

    protocols = ["voicenym.live", f"bearer.{own.tokens['anna']}"]
    with connect(
        f"{own.url.replace('http', 'ws')}/v1/live", subprotocols=protocols, open_timeout=PATIENCE
    ) as found:
        found.send(first)
        assert json.loads(found.recv(timeout=PATIENCE))["status"] == 400
        with pytest.raises(ConnectionClosed) as caught:
            found.recv(timeout=PATIENCE)
        assert caught.value.rcvd.code == 4400


SOUND = np.zeros(BLOCK, "<i2").tobytes()
FRAMES = {
    "short": (b"\x00" * 5, 400),
    "no sound": (struct.pack("<III", 0, 16_000, 0), 400),
    "half a sample": (struct.pack("<III", 0, 16_000, 0) + SOUND[:-1], 400),
    "too long": (struct.pack("<III", 0, 16_000, 0) + 6 * SOUND, 400),
    "a gap": (struct.pack("<III", 99, 16_000, 0) + SOUND, 400),
    "answers to the future": (struct.pack("<III", 0, 16_000, 77) + SOUND, 400),
    "another rate": (struct.pack("<III", 0, 44_100, 0) + SOUND, 422),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_that_do_not_follow_are_refused(name):
    data, status = FRAMES[name]
    with pytest.raises(Problem) as caught:
        FrameReader(16_000).read(data)
    assert caught.value.status == status


@pytest.mark.parametrize(
    ("data", "status", "word"),
    [("sound", 400, "text"), (FRAMES["a gap"][0], 400, "follow"),
     (FRAMES["another rate"][0], 422, "16000 to 44100")],
)  # fmt: skip
def test_a_malformed_frame_ends_the_session_with_a_reason(own, data, status, word):
    with live(own.url, own.tokens["anna"], system="mcadams") as client:
        assert client.event()["event"] == "ready"
        client.socket.send(data)
        problem = closed(client)
    assert problem["status"] == status
    assert word in problem["detail"]
    until(lambda: is_over(own))


@pytest.mark.parametrize(
    "data",
    [
        b"\x82\x05hello",  # not masked
        b"\x81\x82\x00\x00\x00\x00\xff\xfe",  # text that is no UTF-8
        b"\x82\xff" + struct.pack(">Q", 1 << 40) + bytes(4),  # a terabyte
    ],
)
def test_bytes_that_are_no_frames_of_web_sockets_end_the_session(own, data):
    host, port = own.url.removeprefix("http://").split(":")
    token = own.tokens["anna"]
    head = (
        f"GET /v1/live HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: {'A' * 22}==\r\nAuthorization: Bearer {token}\r\n\r\n"
    )
    first = json.dumps({"system": "mcadams", "rate": 16_000}).encode()
    masked = b"\x81" + bytes([0x80 | len(first)]) + bytes(4) + first
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as client:
        client.sendall(head.encode())
        assert b" 101 " in client.recv(4096)
        client.sendall(masked)
        assert b'"ready"' in client.recv(4096)
        client.sendall(data)
        while client.recv(4096):  # up to the end of the connection
            pass
    until(lambda: is_over(own))
    assert "defect" not in own.log.read_text()


def test_a_killed_worker_gives_a_reason_and_nothing_more(own, voice):
    with live(own.url, own.tokens["anna"], system="mcadams") as client:
        assert client.event()["event"] == "ready"
        client.speak(voice[: 10 * BLOCK], BLOCK)
        (worker,) = own.workers()
        os.kill(worker, signal.SIGKILL)
        problem = closed(client)
        parts = len(client.parts)
    assert problem["status"] == 503
    assert "killed" in problem["detail"]
    assert parts == 10, "no sound after the end"
    until(lambda: is_over(own))


def test_two_clients_with_one_voice_are_told_so(own):
    with own.client() as client:
        client.post("/v1/keys/shared")
    fields = {"system": "mcadams", "key_id": "shared", "speaker": "s1"}
    with live(own.url, own.tokens["anna"], **fields) as one:
        assert one.event()["event"] == "ready"
        assert refused(own, **fields)["status"] == 409
        assert refused(own, "bert", **fields)["status"] == 404, "a key of another token"
        with live(own.url, own.tokens["anna"], **{**fields, "speaker": "s2"}) as two:
            assert two.event()["event"] == "ready"
            problem = refused(own, system="mcadams")
            assert problem["status"] == 503, "two of three workers are taken"
    until(lambda: is_over(own))
    with live(own.url, own.tokens["anna"], **fields) as one:
        assert one.event()["event"] == "ready"


def test_a_token_is_needed_and_pages_of_others_are_refused(own):
    with live(own.url) as stranger:
        assert closed(stranger)["status"] == 401
    with live(own.url, "x" * 43) as stranger:
        assert closed(stranger)["status"] == 401
    headers = {
        "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "A" * 22 + "==", "Origin": "http://elsewhere.example",
        "Authorization": f"Bearer {own.tokens['anna']}",
    }  # fmt: skip
    assert httpx.get(f"{own.url}/v1/live", headers=headers).status_code == 403
    assert own.tokens["anna"] not in own.log.read_text()


def test_sound_faster_than_time_is_refused(own, voice):
    with live(own.url, own.tokens["anna"], system="mcadams") as client:
        assert client.event()["event"] == "ready"
        with contextlib.suppress(ConnectionClosed):
            for _ in range(100):
                client.send(voice[:1_600])
        assert closed(client)["status"] in (408, 429)
    until(lambda: is_over(own))


def test_a_client_that_takes_no_answers_is_refused(own, voice):
    """It says in its frames which answers it has; these say none."""
    with live(own.url, own.tokens["anna"], system="mcadams") as client:
        assert client.event()["event"] == "ready"
        ended = False
        while not ended and client.sent < 8 * 16_000:
            ended = not client.speak(voice[:8_000], 1_600)
            client.heard = 0
        assert ended
        with pytest.raises(ConnectionClosed) as caught:
            client.socket.recv(timeout=PATIENCE)
        assert caught.value.rcvd.code == 4408
        assert 5 * 16_000 <= client.sent < 7 * 16_000


def test_a_pause_of_the_client_is_silence_and_then_a_new_start(own, voice):
    """Sound from before the pause does not come out after it."""
    with live(own.url, own.tokens["anna"], system="mcadams") as client:
        assert client.event()["event"] == "ready"
        client.speak(voice[: 20 * BLOCK], BLOCK)
        while client.event()["state"] != State.LOST.value:
            pass
        before = client.sent
        client.speak(np.tile(voice, 2)[: 100 * BLOCK], BLOCK)
        after = list(zip(client.sources, client.parts, strict=True))[20:]
        assert after[0][0] is None
        # a source is that of an answer's first sample, which may be a zero ahead of the sound
        sounds = [
            one + int((part != 0.0).argmax())
            for one, part in after
            if one is not None and one <= 0xF0000000 and part.any()
        ]
        assert sounds
        assert min(sounds) >= before


def test_a_session_has_a_longest_time(start, tmp_path):
    options = ("--workers", 1, "--max-live-minutes", 0.02)
    with start(tmp_path / "short", *options) as short, live(short.url, system="mcadams") as client:
        problem = closed(client)
        assert problem["status"] == 413
        assert "lasted 1.2 s" in problem["detail"]


def test_a_server_may_take_none(start, tmp_path):
    with start(tmp_path / "none", "--live-sessions", 0) as none, live(none.url) as client:
        problem = closed(client)
        assert problem["status"] == 403


def test_recordings_still_get_a_worker_beside_a_session(own, speech):
    with live(own.url, own.tokens["anna"], system="mcadams") as client:
        assert client.event()["event"] == "ready"
        with own.client() as other:
            found = other.post("/v1/anonymize", files={"file": ("a.wav", speech)})
        assert found.status_code == 200


def test_a_worker_of_a_session_is_confined(own):
    with live(own.url, own.tokens["anna"], system="mcadams") as client:
        assert client.event()["event"] == "ready"
        (worker,) = own.workers()
        with open(f"/proc/{worker}/status") as file:
            lines = file.read().splitlines()
    status = dict(line.split(":\t") for line in lines if ":\t" in line)
    assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")


def test_the_lag_behind_the_chosen_blocks_counts(monkeypatch):
    """And not the latency for blocks of any length, which is longer."""
    from voicenym.apps.serve.live_processes.live_task import LiveTask, _Session
    from voicenym.live import block_choice
    from voicenym.pseudonym import Key

    choice = block_choice.BlockChoice(160, 0.1, 160, {})
    monkeypatch.setattr(block_choice, "choose_block", lambda make, rate: choice)
    task = LiveTask("mcadams", {}, Key(bytes(32)).pseudonym("ann"), 16_000)
    engine = _Session(None, task)._engine()
    engine.work()
    assert (engine.block, engine.lag) == (160, 160)
    assert engine.stream_latency > engine.lag
