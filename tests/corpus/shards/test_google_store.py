"""Google's store by its own client, against an emulator on loopback.

The emulator knows no conditions, so that the test's server checks the one that counts: an object is
written only if its name is free (``ifGenerationMatch=0``). Both packages are optional.
"""

from __future__ import annotations

import os
import threading
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from shard_material import said, tree, web_shard

from voicenym.corpus.shards.stores import object_writes

os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")  # asks by gRPC else
fsspec = pytest.importorskip("fsspec")
pytest.importorskip("gcsfs")
emulator = pytest.importorskip("gcp_storage_emulator.server")
REFUSED = b'{"error": {"code": 412, "message": "conditionNotMet: the object exists"}}'


class Handler(emulator.RequestHandler):
    """The emulator's, with the condition that a name is free."""

    conditions = 0

    def do_POST(self) -> None:
        query = parse_qs(urlparse(self.path).query)
        if query.get("ifGenerationMatch") != ["0"]:
            super().do_POST()
            return
        Handler.conditions += 1
        bucket = self.path.split("/b/")[1].split("/")[0]
        body = self.rfile.peek() if "name" not in query else b""
        name = query["name"][0] if "name" in query else named_in(body)
        try:
            self.storage.get_file_obj(bucket, name)
        except Exception:
            super().do_POST()
            return
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(412)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(REFUSED)))
        self.end_headers()
        self.wfile.write(REFUSED)


def named_in(body: bytes) -> str:
    """Name of the object in the first part of an upload."""
    import json

    start = body.index(b"{")
    return str(json.JSONDecoder().raw_decode(body[start:].decode("latin-1"))[0]["name"])


@pytest.fixture
def google(monkeypatch):
    """An emulator with an empty bucket ``corpus``; its file system."""
    from gcp_storage_emulator.handlers import buckets
    from gcp_storage_emulator.storage import Storage

    storage = Storage(use_memory_fs=True)
    buckets.create_bucket("corpus", storage)
    listening = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, storage))
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{listening.server_port}")
    monkeypatch.setitem(fsspec.config.conf, "gcs", {"token": "anon", "project": "voicenym"})
    monkeypatch.setitem(fsspec.config.conf, "gs", {"token": "anon", "project": "voicenym"})
    fsspec.get_filesystem_class("gs").clear_instance_cache()
    yield fsspec.filesystem("gs")
    listening.shutdown()
    thread.join()
    listening.server_close()
    fsspec.get_filesystem_class("gs").clear_instance_cache()


def test_shards_of_googles_store_are_read_written_once_and_never_replaced(
    google, anonymize, tmp_path
):
    for part in range(2):
        web_shard(tmp_path / f"in/{part}.tar", range(2 * part, 2 * part + 2))
        google.pipe_file(f"corpus/in/{part}.tar", (tmp_path / f"in/{part}.tar").read_bytes())
    assert anonymize("in", "-o", "local").returncode == 0
    local = {n: d for n, d in tree(tmp_path / "local").items() if "voicenym" not in n}
    done = anonymize("gs://corpus/in", "-o", "gs://corpus/out")
    assert done.returncode == 0, said(done)
    assert Handler.conditions >= 2
    assert {name: google.cat_file(f"corpus/out/{name}") for name in local} == local
    again = anonymize("gs://corpus/in", "-o", "gs://corpus/out")
    assert "0 shards and files written, 2 already done" in said(again)
    google.rm_file("corpus/out/voicenym-ledger/0.tar.json")
    google.pipe_file("corpus/out/0.tar", b"of another")
    done = anonymize("gs://corpus/in", "-o", "gs://corpus/out")
    assert done.returncode == 1
    assert "exists already and is not what this run writes" in said(done)
    assert google.cat_file("corpus/out/0.tar") == b"of another"
    done = anonymize("gs://corpus/nothing", "-o", "out")
    assert "there is nothing below this name" in said(done)
    done = anonymize("gs://nowhere/in", "-o", "out")
    assert "no such bucket or object" in said(done)


def test_a_name_is_taken_once(google, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"first")
    assert object_writes.upload(path, "gs://corpus/a", overwrite=False)
    Path(path).write_bytes(b"second")
    assert not object_writes.upload(path, "gs://corpus/a", overwrite=False)
    assert google.cat_file("corpus/a") == b"first"
