"""A real S3 server on loopback whose calls fail as asked, and what tests put there and find."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path

import pytest
from shard_material import parquet_shard, tree, web_shard

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("s3fs")
FAILS = "500 Internal Server Error"
AGAIN = b"<Error><Code>InternalError</Code><Message>try again</Message></Error>"
FULL = b"<Error><Code>QuotaExceeded</Code><Message>no room for this</Message></Error>"


class Trouble:
    """Middleware that fails some calls before, and some after they have taken effect."""

    def __init__(self, application) -> None:
        self._application = application
        self.share, self.failed = 0.0, 0
        self._random = random.Random(7)
        self.puts: list[tuple[str, bool]] = []
        self.written: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self.delay = 0.0
        self.before_put = lambda: None
        self.each_call = lambda: None
        self.quota: int | None = None

    def __call__(self, environ, start_response):
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.each_call()
        fails = self._random.random() < self.share
        late = fails and self._random.random() < 0.5
        if fails:
            self.failed += 1
        if fails and not late:
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            return self._error(environ, start_response)
        if method == "PUT" and self.quota is not None:
            size = int(environ.get("CONTENT_LENGTH") or 0)
            self.quota -= size
            if self.quota < 0:
                environ["wsgi.input"].read(size)
                return self._error(environ, start_response, "507 Insufficient Storage", FULL)
        if method == "PUT" and path.count("/") > 1:
            self.puts.append((path, environ.get("HTTP_IF_NONE_MATCH") == "*"))
            self.before_put()
            time.sleep(self.delay)

        def silent(status, *rest):
            self.written[path] += method == "PUT" and status.startswith("200")

        if late:  # done, but nobody hears of it
            b"".join(self._application(environ, silent))
            return self._error(environ, start_response)

        def counted(status, headers, *error):
            silent(status)
            self.sent[path] += int(dict(headers).get("Content-Length", 0)) * (method == "GET")
            return start_response(status, headers, *error)

        return self._application(environ, counted)

    def _error(self, environ, start_response, status=FAILS, text=AGAIN):
        head = [("Content-Type", "application/xml"), ("Content-Length", str(len(text)))]
        start_response(status, head)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [text]


def fresh():
    """The store's file system of the present environment."""
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    return fsspec.filesystem("s3")


def upload(folder: Path, url: str) -> None:
    for name, data in tree(folder).items():
        fsspec.filesystem("s3").pipe_file(f"{url}/{name}", data)


def upload_text(text: str, url: str) -> None:
    fsspec.filesystem("s3").pipe_file(url, text.encode())


def objects(url: str) -> dict[str, bytes]:
    system = fsspec.filesystem("s3")
    system.invalidate_cache()
    root = url.removeprefix("s3://")
    return {p.removeprefix(f"{root}/"): system.cat_file(p) for p in system.find(root)}


def corpus(folder: Path, shards: int = 3) -> Path:
    for number in range(shards):
        web_shard(folder / f"{number}.tar", range(2 * number, 2 * number + 2))
    parquet_shard(folder / "p.parquet", range(3))
    return folder


def outputs(found: dict[str, bytes]) -> dict[str, bytes]:
    return {n: d for n, d in found.items() if "voicenym" not in n}


def kaldi_folder(folder: Path, entries: dict[str, str], **tables: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wav.scp").write_text("".join(f"{n} {e}\n" for n, e in entries.items()))
    (folder / "utt2spk").write_text("".join(f"{n} {n.split('-')[0]}\n" for n in entries))
    for name, text in tables.items():
        (folder / name).write_text(text)
