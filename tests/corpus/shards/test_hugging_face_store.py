"""Hugging Face's store by its own client, against a server on loopback with its interface."""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlparse

import pytest
from shard_material import members, said, web_shard

from voicenym.corpus.recordings import recordings
from voicenym.corpus.shards.stores.private_copies import private_copies

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("huggingface_hub")
COMMIT = "0123456789abcdef" * 2 + "01234567"


class Hub(BaseHTTPRequestHandler):
    """One data set, ``anna/speech``: its facts, its tree, facts of paths, and its files."""

    protocol_version = "HTTP/1.1"
    files: dict[str, bytes]

    def do_GET(self) -> None:
        path = unquote(urlparse(self.path).path)
        if path.startswith("/api/datasets/anna/speech/tree/"):
            folder = path.split("/", 7)[7] if path.count("/") > 6 else ""
            inside = [name for name in self.files if name.startswith(folder)]
            self._json([self._facts(name) for name in inside], 200 if inside else 404)
        elif path.startswith("/api/datasets/anna/speech"):
            self._json({"id": "anna/speech", "sha": COMMIT, "siblings": [], "tags": []})
        elif path.startswith("/datasets/anna/speech/resolve/"):
            self._file(path.split("/", 6)[6])
        else:
            self._json({"error": "Repository not found"}, 404)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        wanted = json.loads(body)["paths"] if body.startswith("{") else parse_qs(body)["paths"]
        self._json([self._facts(name) for name in wanted if name in self.files])

    def _facts(self, name: str) -> dict[str, object]:
        data = self.files[name]
        oid = hashlib.sha1(data).hexdigest()
        return {"type": "file", "oid": oid, "size": len(data), "path": name}

    def _file(self, name: str) -> None:
        data = self.files.get(name)
        if data is None:
            self._json({"error": "Entry not found"}, 404)
            return
        start, end = 0, len(data)
        if given := self.headers.get("Range"):
            first, _, last = given.removeprefix("bytes=").partition("-")
            start, end = int(first), min(len(data), int(last) + 1 if last else len(data))
        self._send(data[start:end], 206 if given else 200, len(data), start)

    def _json(self, content: object, status: int = 200) -> None:
        self._send(json.dumps(content).encode(), status)

    def _send(self, body: bytes, status: int, size: int | None = None, start: int = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
        if status == 404:
            known = "/anna/speech" in self.path
            self.send_header("X-Error-Code", "EntryNotFound" if known else "RepoNotFound")
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{start + len(body) - 1}/{size}")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch):
    """Files of the data set by name."""
    handler = type("Handler", (Hub,), {"files": {}})
    listening = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{listening.server_port}"
    monkeypatch.setitem(fsspec.config.conf, "hf", {"endpoint": address, "token": False})
    fsspec.get_filesystem_class("hf").clear_instance_cache()
    yield handler.files
    listening.shutdown()
    thread.join()
    listening.server_close()
    fsspec.get_filesystem_class("hf").clear_instance_cache()


def test_shards_of_the_hub_are_read(hub, anonymize, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for part in range(2):
        web_shard(tmp_path / f"in/{part}.tar", range(2 * part, 2 * part + 2))
        hub[f"train/{part}.tar"] = (tmp_path / f"in/{part}.tar").read_bytes()
    hub["README.md"] = b"a card"
    assert anonymize("in", "-o", "local").returncode == 0
    done = anonymize("hf://datasets/anna/speech/train", "-o", "out")
    assert done.returncode == 0, said(done)
    for part in range(2):
        assert members(tmp_path / f"out/{part}.tar") == members(tmp_path / f"local/{part}.tar")
    again = anonymize("hf://datasets/anna/speech/train", "-o", "out")
    assert "0 shards and files written, 2 already done" in said(again)
    hub["train/2.tar"] = hub["train/1.tar"][:3000]
    done = anonymize("hf://datasets/anna/speech/train", "-o", "out")
    assert done.returncode == 1
    assert "2.tar: ends within" in said(done)
    done = anonymize("hf://datasets/anna/nothing/train", "-o", "other")
    assert done.returncode == 1
    assert said(done).count("\n") == 1
    assert "no such bucket or object; check the name" in said(done)
    with private_copies():
        found = recordings(Path("hf://datasets/anna/speech/train/0.tar"))
        assert [one.speaker for one in found] == ["0", "1"]
