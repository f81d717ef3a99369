"""Recordings through a live server: kept containers, keys of tokens, refusals, nothing left."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import stat
import threading
from pathlib import Path

import av
import httpx
import numpy as np
import pytest
import soundfile
from awaited import until

from voicenym.apps.serve.forms.setting_fields import EXAMPLE
from voicenym.audio import read

NAME = "Anna Kowalska.wav"


def post(client, speech, path="/v1/anonymize", name=NAME, **fields):
    return client.post(path, files={"file": (name, speech)}, data=fields)


def encoded(speech, kind):
    """The recording in another container, with a tag that names somebody."""
    audio = read(io.BytesIO(speech))
    out = io.BytesIO()
    samples = audio.samples.numpy()
    container = av.open(out, "w", format=kind[0])
    container.metadata["artist"] = "Anna Kowalska"
    stream = container.add_stream(kind[1], rate=audio.rate)
    stream.layout = "mono"
    frame = av.AudioFrame.from_ndarray(
        (samples[None] * 32767).astype(np.int16), format="s16", layout="mono"
    )
    frame.rate = audio.rate
    for one in av.AudioResampler(format=stream.format, layout="mono", rate=audio.rate).resample(
        frame
    ):
        for packet in stream.encode(one):
            container.mux(packet)
    for packet in stream.encode(None):
        container.mux(packet)
    container.close()
    return out.getvalue()


@pytest.mark.parametrize(
    ("suffix", "kind", "media"),
    [
        (".flac", ("flac", "flac"), "audio/flac"),
        (".mp3", ("mp3", "libmp3lame"), "audio/mpeg"),
        (".m4a", ("mp4", "aac"), "audio/mp4"),
        (".ogg", ("ogg", "libopus"), "audio/ogg"),
        (".webm", ("webm", "libopus"), "audio/webm"),  # as browsers record it
    ],
)
def test_the_container_is_kept_and_no_name(server, speech, suffix, kind, media):
    given = encoded(speech, kind)
    assert b"Kowalska" in given
    with server.client() as client:
        found = post(client, given, name=f"Kowalska{suffix}", system="mcadams")
    assert found.status_code == 200
    assert found.headers["content-type"] == media
    assert found.headers["content-disposition"] == f'attachment; filename="anonymized{suffix}"'
    assert b"Kowalska" not in found.content
    before, after = read(io.BytesIO(given)), read(io.BytesIO(found.content))
    assert after.samples.shape == before.samples.shape
    assert after.rate == before.rate
    assert abs(float(np.corrcoef(before.samples, after.samples)[0, 1])) < 0.9
    assert server.is_wiped()


def test_a_key_gives_one_voice_to_the_token_that_it_belongs_to(server, speech):
    with server.client("anna") as anna, server.client("bert") as bert:
        assert anna.post("/v1/keys/project").status_code == 201
        assert anna.post("/v1/keys/project").status_code == 409
        found: dict[int, bytes] = {}

        def send(number):
            with server.client("anna") as own:
                found[number] = post(own, speech, key_id="project", speaker="s1").content

        both = [threading.Thread(target=send, args=(number,)) for number in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        assert found[0] == found[1], "two clients with one key"
        other = post(anna, speech, key_id="project", speaker="s2").content
        assert found[0] != other
        assert post(anna, speech).content != post(anna, speech).content, "fresh keys"
        refused = post(bert, speech, key_id="project")
        assert refused.status_code == 404
        assert bert.get("/v1/keys").json() == {"keys": []}
        assert bert.delete("/v1/keys/project").status_code == 404
        bert.post("/v1/keys/project")
        own = post(bert, speech, key_id="project", speaker="s1").content
        assert own != found[0], "another token's key of the same id is another key"
        key = server.folder / "keys" / "of-anna" / "project.key"
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
        assert anna.delete("/v1/keys/project").status_code == 204
        assert not key.exists()


def test_without_a_token_nothing_but_health_and_page_answers(server, speech):
    with httpx.Client(base_url=server.url) as nobody:
        assert nobody.get("/health").json()["status"] == "ok"
        while (found := nobody.get("/ready")).status_code == 503:
            pass  # the copied process imports the systems
        assert found.json()["status"] == "ready"
        assert nobody.get("/").status_code == 200
        for path in ("/v1/systems", "/metrics", "/openapi.json", "/v1/jobs/x"):
            assert nobody.get(path).status_code == 401
        assert post(nobody, speech).status_code == 401


@pytest.mark.parametrize(
    ("content", "fields", "status", "word"),
    [
        (b"", {}, 422, "empty"),
        (b"no recording, but a text", {}, 422, "the recording"),
        (bytes(5000), {}, 422, "the recording"),
        (None, {"system": "nope"}, 422, "no such system"),
        (None, {"fallback": "nope"}, 422, "no such system"),
        (None, {"settings": "[1"}, 422, "JSON object"),
        (None, {"settings": '{"weights": "other"}'}, 422, "setting"),
        (None, {"settings": '{"strength": "/etc/passwd"}'}, 422, "setting"),
        (None, {"settings": '{"nothing": 1}'}, 422, "no parameter nothing"),
        (None, {"system": "mcadams", "settings": '{"low": 9}'}, 422, "alpha"),
        (None, {"key_id": "none"}, 404, "no key"),
        (None, {"key_id": "../anna/project"}, 422, "key_id"),
        (None, {"speaker": "x" * 300}, 422, "too long"),
        (None, {"speaker": "anna"}, 422, "no key_id"),
        (None, {"system": "mcadams", "fallback": "vtln"}, 422, "refuses no recording"),
        (None, {"settings": '{"delay": "short"}'}, 422, "delay=short"),
        (None, {"audit": "perhaps"}, 422, "audit"),
        (None, {"surprise": "1"}, 422, "unknown"),
        (None, {"settings": " " * 70_000}, 413, "too long"),
        (None, {"system": "asr-tts"}, 501, "no synthesiser"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_cure(server, speech, content, fields, status, word):
    with server.client() as client:
        found = post(client, speech if content is None else content, **fields)
    problem = found.json()
    assert found.status_code == problem["status"] == status
    assert found.headers["content-type"] == "application/problem+json"
    assert word in problem["detail"]
    assert problem["cure"]
    assert str(server.folder) not in found.text
    assert "original" not in problem["detail"]
    assert "--" not in problem["detail"] + problem["cure"], "options of the command line"
    assert server.is_wiped()


def test_the_documented_settings_are_those_of_the_default_system(server, speech):
    page = (Path(__file__).parents[3] / "docs" / "serve.md").read_text("utf-8")
    assert f"`{EXAMPLE}`" in page
    with server.client() as client:
        form = client.get("/openapi.json").json()["paths"]["/v1/anonymize"]["post"]["requestBody"]
        fields = form["content"]["multipart/form-data"]["schema"]["properties"]
        found = post(client, speech, settings=fields["settings"]["example"])
    assert found.status_code == 200, found.text
    assert found.headers["voicenym-system"] == "recast"


def test_a_silent_recording_is_refused_without_options_of_the_command_line(server):
    silence = io.BytesIO()
    soundfile.write(silence, np.zeros(16_000), 16_000, format="WAV")
    with server.client() as client:
        problem = post(client, silence.getvalue()).json()
    assert problem["status"] == 422
    assert "silent" in problem["detail"]
    assert problem["cure"] == "check that the right track was recorded."


def test_a_form_is_needed(server):
    with server.client() as client:
        assert client.post("/v1/anonymize", content=b"RIFF").status_code == 415
        assert client.post("/v1/anonymize", data={"system": "recast"}).status_code == 415
        twice = [("file", ("a", b"x")), ("file", ("b", b"y"))]
        assert client.post("/v1/anonymize", files=twice).status_code == 422
        long = {"content-type": f"multipart/form-data; boundary={'x' * 300}"}
        assert client.post("/v1/anonymize", content=b"", headers=long).status_code == 400
        broken = {"content-type": "multipart/form-data; boundary=x"}
        found = client.post("/v1/anonymize", content=b"--y\r\nnothing", headers=broken)
        assert found.status_code == 400


def test_a_truncated_form_is_refused(server, speech):
    body = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
        + speech[:9000]
    )
    headers = {"content-type": "multipart/form-data; boundary=x"}
    with server.client() as client:
        found = client.post("/v1/anonymize", content=body, headers=headers)
    assert found.status_code == 400
    assert "ends before its end" in found.json()["detail"]
    assert server.is_wiped()


def test_a_client_that_leaves_in_mid_upload_leaves_nothing(server, speech):
    host, port = server.url.removeprefix("http://").split(":")
    token = server.tokens["anna"]
    head = (
        f"POST /v1/anonymize HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 99999\r\n\r\n"
        '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n'
    )
    with socket.create_connection((host, int(port))) as client:
        client.sendall(head.encode() + speech[:5000])
        until(lambda: server.left())
    until(lambda: not server.left())


def test_large_uploads_are_refused_stated_and_chunked(server):
    with server.client() as client:
        stated = client.post("/v1/anonymize", files={"file": b"x" * (21 << 20)})
        chunks = (b"x" * (1 << 20) for _ in range(30))
        chunked = client.post(
            "/v1/anonymize",
            content=chunks,
            headers={"content-type": "multipart/form-data; boundary=x"},
        )
    assert stated.status_code == 413
    assert chunked.status_code in (400, 413)  # the form is malformed from its first byte on
    assert server.is_wiped()


def killed_workers(server) -> float:
    """Counter of the server; 0 before the first."""
    with server.client() as client:
        metrics = client.get("/metrics").text
    found = re.search(r"^voicenym_workers_killed\S* ([\d.]+)$", metrics, re.MULTILINE)
    return float(found[1]) if found else 0.0


def test_a_killed_worker_gives_503_and_nothing_of_the_original(server, long_speech):
    found, killed = {}, killed_workers(server)

    def send():
        with server.client() as client:
            found["answer"] = post(client, long_speech.read_bytes(), system="base")

    thread = threading.Thread(target=send)
    thread.start()
    until(server.workers)
    os.kill(server.workers()[0], signal.SIGKILL)
    thread.join()
    answer = found["answer"]
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.json()["cure"]
    assert len(answer.content) < 1000
    assert server.is_wiped()
    assert killed_workers(server) == killed + 1


def test_a_killed_server_leaves_what_the_next_one_wipes(start, tmp_path, long_speech):
    with start(tmp_path / "one") as one:
        with one.client() as client:
            job = post(client, long_speech.read_bytes(), "/v1/jobs").json()
        assert job["status"] in ("queued", "running")
        assert one.left()
        one.process.kill()
        one.process.wait()
        assert one.left()
        one.log.unlink()
        with start(tmp_path / "one") as two:
            assert two.is_wiped()
            assert "wiped what ended servers left (folders: 1)" in two.log.read_text()


def test_more_than_it_may_work_on_is_refused_with_a_time(start, tmp_path, long_speech, speech):
    options = ("--workers", 1, "--waiting", 0, "--max-minutes", 1, "--max-seconds", 60)
    with start(tmp_path / "small", *options) as small, small.client() as client:
        too_long = post(client, long_speech.read_bytes())
        assert too_long.status_code == 413
        assert "longer than 60 s" in too_long.json()["detail"]
        job = post(client, long_speech.read_bytes(), "/v1/jobs").json()
        refused = post(client, speech)
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) >= 1
        assert client.delete(job["links"]["self"]).status_code == 204
        until(lambda: not small.left())
        until(lambda: post(client, speech).status_code == 200)


def test_an_audit_is_shown_to_the_token_that_asked(server, speech):
    pytest.importorskip("scipy")
    with server.client("anna") as anna, server.client("bert") as bert:
        found = post(anna, speech, system="mcadams", audit="true")
        audit = anna.get(f"/v1/audit/{found.headers['voicenym-audit']}").json()
        assert audit["system"] == "mcadams"
        assert audit["attackers"][0]["llr"] >= audit["attackers"][-1]["llr"]
        assert audit["verdict"]
        assert bert.get(f"/v1/audit/{found.headers['voicenym-audit']}").status_code == 404
        assert "voicenym-audit" not in post(anna, speech).headers


def test_cards_name_the_strongest_attacker_first(server):
    with server.client() as client:
        systems = client.get("/v1/systems").json()["systems"]
    top = [card["attackers"][0]["eer_percent"] for card in systems if card["attackers"]]
    assert top == sorted(top, reverse=True)
    for card in systems:
        rates = [one["eer_percent"] for one in card["attackers"]]
        assert rates == sorted(rates)
        assert card["fails"]
    assert {"recast", "word-codes"} <= {card["name"] for card in systems}


def test_the_log_names_nobody(server, speech):
    with server.client() as client:
        post(client, speech, speaker="Anna Kowalska", key_id="secretkey")
    log = server.log.read_text()
    assert "POST /v1/anonymize 404" in log
    for word in ("Kowalska", "secretkey", *server.tokens.values(), str(server.folder)):
        assert word not in log
    assert "127.0.0.1" not in log.replace(server.url, "")


def test_a_stereo_recording_keeps_its_channels(server, speech):
    samples, rate = soundfile.read(io.BytesIO(speech))
    file = io.BytesIO()
    soundfile.write(file, np.stack([samples, samples[::-1]], axis=1), rate, format="FLAC")
    with server.client() as client:
        found = post(client, file.getvalue())
    assert read(io.BytesIO(found.content)).samples.shape == (2, len(samples))


def test_warnings_and_refusals_are_headers(server, speech):
    with server.client() as client:
        found = post(client, speech, system="word-codes")
    assert found.status_code == 200
    if found.headers["voicenym-system"] != "word-codes":
        assert json.loads(found.headers["voicenym-refusal"])


def test_a_server_that_is_asked_to_end_does_not_wait_for_the_imports(start, tmp_path, speech):
    """Docker kills it after ten seconds; threads that start workers wait for the copied process."""
    with start(tmp_path / "server", "--workers", 2) as own, own.client() as client:
        while not (copied := copied_process(own.process.pid)):
            pass
        os.kill(copied, signal.SIGSTOP)
        jobs = [client.post("/v1/jobs", files={"file": ("a.wav", speech)}) for _ in range(4)]
        assert {job.status_code for job in jobs} == {202}
        own.process.terminate()
        assert own.process.wait(60) == 0
        assert own.is_wiped()
        assert "defect" not in own.log.read_text()


def copied_process(server):
    """Process id of the process of a server that workers are copies of; 0 if there is none."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            line = (place / "cmdline").read_text()
            parent = (place / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if int(parent) == server and "forkserver" in line:
            return int(place.name)
    return 0
