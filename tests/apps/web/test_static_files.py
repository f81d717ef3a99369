"""Files of a page."""

from __future__ import annotations

import pytest
from asgi_calls import call

from voicenym.apps.web.hardening import Protection, hardened
from voicenym.apps.web.static_files import StaticFiles


@pytest.fixture
def app(tmp_path):
    (tmp_path / "page" / "sub").mkdir(parents=True)
    (tmp_path / "secret.html").write_text("secret")
    (tmp_path / "page" / "index.html").write_text("<!doctype html>")
    (tmp_path / "page" / "sub" / "a.js").write_text("export {}")
    (tmp_path / "page" / "notes.py").write_text("x = 1")
    return hardened(StaticFiles(tmp_path / "page"), Protection())


def test_files_of_the_folder_are_served(app):
    found = call(app)
    assert (found.status, found.body) == (200, b"<!doctype html>")
    assert found.headers["content-type"] == "text/html; charset=utf-8"
    assert found.headers["cache-control"] == "no-cache"
    again = call(app, headers=[("if-none-match", found.headers["etag"])])
    assert (again.status, again.body) == (304, b"")
    assert call(app, path="/sub/a.js").headers["content-type"].startswith("text/javascript")
    assert call(app, "HEAD").body == b""


@pytest.mark.parametrize(
    "path", ["/../secret.html", "/sub/../../secret.html", "/notes.py", "//secret.html", "/sub"]
)
def test_nothing_else_is(app, path):
    assert call(app, path=path).status == 404


def test_files_are_not_written(app):
    assert call(app, "POST").status == 405
