"""Files of a page from a folder of the package; nothing else is served, and no other host named."""

from __future__ import annotations

import hashlib
from pathlib import Path

from voicenym.apps.web.asgi_types import Receive, Scope, Send, header
from voicenym.apps.web.problem_details import Problem

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".wav": "audio/wav",
}
"""Kinds of files that are served; others in the folder are not."""


class StaticFiles:
    """ASGI application that serves the files of a folder, read once at the start.

    ``/`` is ``index.html``. Paths are looked up in a table, so that none leads out of the folder.

    Args:
        folder: in the package.
        prefix: of the paths, such as ``/page``.
    """

    def __init__(self, folder: Path, prefix: str = "") -> None:
        self.files: dict[str, tuple[str, bytes, str]] = {}
        for path in sorted(folder.rglob("*")):
            kind = TYPES.get(path.suffix)
            if kind is None or not path.is_file():
                continue
            data = path.read_bytes()
            tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
            name = f"{prefix}/{path.relative_to(folder).as_posix()}"
            self.files[name] = (kind, data, tag)
            if name.endswith("/index.html"):
                self.files[name.removesuffix("index.html")] = (kind, data, tag)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers GET and HEAD."""
        found = self.files.get(scope["path"])
        if found is None:
            raise Problem(404, "There is nothing here.", "Look at / for the page.")
        if scope["method"] not in ("GET", "HEAD"):
            raise Problem(405, "This is a file of the page.", "Use GET.", {"Allow": "GET, HEAD"})
        kind, data, tag = found
        is_same = header(scope, b"if-none-match") == tag
        headers = [
            (b"content-type", kind.encode()),
            (b"etag", tag.encode()),
            (b"cache-control", b"no-cache"),
        ]
        if not is_same:
            headers.append((b"content-length", str(len(data)).encode()))
        status = 304 if is_same else 200
        await send({"type": "http.response.start", "status": status, "headers": headers})
        body = b"" if is_same or scope["method"] == "HEAD" else data
        await send({"type": "http.response.body", "body": body})
