"""A study, its server in a thread, and a browser."""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn
from listening_material import folders

from voicenym.apps.listen.listening_server import application
from voicenym.apps.web.bind_rules import Binding
from voicenym.listening import study as files
from voicenym.listening.answer_store import AnswerStore
from voicenym.listening.design.sessions import Plan
from voicenym.listening.design.study_design import design

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--autoplay-policy=no-user-gesture-required",
)  # fmt: skip


@dataclass
class Running:
    """A study that is served.

    Attributes:
        folder: of the study.
        store: its answers, as the server has them.
        url: of the server.
        tokens: by listener.
    """

    folder: Path
    store: AnswerStore
    url: str
    tokens: dict[str, str]
    study: files.Study

    def link(self, listener: str) -> str:
        return f"{self.url}/#{self.tokens[listener]}"

    def headers(self, listener: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[listener]}"}


@pytest.fixture(scope="session")
def designed(tmp_path_factory):
    """A study of short clips, for 52 listeners."""
    root = tmp_path_factory.mktemp("listening")
    material = folders(root, ("a", "b"), speakers=2, sentences=2, seconds=0.25)
    plan = Plan(("acr", "same"), 52, 3, training=1)
    design(material, plan, title="A test of tests").save(root / "study")
    return root / "study"


@pytest.fixture
def served(designed, tmp_path):
    """The study, served from a copy; the server ends with the test."""
    folder = tmp_path / "study"
    shutil.copytree(designed, folder)
    shutil.rmtree(folder / "secret", ignore_errors=True)  # the server never needs the key
    study, tokens = files.load(folder), files.load_tokens(designed)
    store = AnswerStore(folder / files.ANSWERS)
    binding = Binding(has_tokens=True)
    listening = binding.open_socket()
    app = application(folder, study, tokens, store, binding)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = listening.getsockname()[1]
    yield Running(folder, store, f"http://127.0.0.1:{port}", tokens, study)
    server.should_exit = True
    thread.join(10)
    listening.close()
    store.close()


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium; not for the session: its event loop would be in other tests' way."""
    if not shutil.which(CHROMIUM):
        pytest.skip("chromium is not installed: make system")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield found
        found.close()
