"""A live server, and recordings to send to it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pytest
import soundfile
from awaited import PATIENCE, until


@dataclass(frozen=True)
class Server:
    """A running ``voicenym serve``.

    Attributes:
        url: its address.
        process: of it.
        folder: of its keys, its tokens, and its recordings in work.
        tokens: by name.
        log: file of its standard error.
    """

    url: str
    process: subprocess.Popen
    folder: Path
    tokens: dict[str, str]
    log: Path

    def client(self, name: str = "anna", **options) -> httpx.Client:
        """Client with a token."""
        headers = {"authorization": f"Bearer {self.tokens[name]}"} if self.tokens else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE, **options)

    def left(self) -> list[Path]:
        """Files of recordings that are there now: folders may vanish while they are listed."""
        return [
            Path(folder) / name
            for run in (self.folder / "work").glob("run-*")
            for folder, _, names in os.walk(run)
            for name in names
        ]

    def is_wiped(self) -> bool:
        """Whether nothing is left soon: a client has its answer before the server wipes it."""
        until(lambda: not self.left())
        return True

    def workers(self) -> list[int]:
        """Process ids of the workers: copies of the copied process."""
        parents = {int(pid): parent for pid, parent in _parents()}
        children = [pid for pid, parent in parents.items() if parent == self.process.pid]
        return [pid for pid, parent in parents.items() if parent in children]


def _parents() -> Iterator[tuple[str, int]]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        rest = text.rpartition(")")[2].split()
        if rest[0] not in "ZX":
            yield stat.parent.name, int(rest[1])


@contextmanager
def serving(
    folder: Path, *options: object, names: tuple[str, ...] = (), verify: object = True
) -> Iterator[Server]:
    """A server for a while.

    Args:
        folder: of its files.
        options: of the command.
        names: of tokens.
        verify: TLS context of the client that waits for the server.
    """
    from voicenym.apps.web.bearer_tokens import add_token

    folder.mkdir(exist_ok=True)
    tokens = {name: add_token(folder / "tokens", name) for name in names}
    line = [sys.executable, "-m", "voicenym", "serve", "--port", "0", "--rate", "0"]
    line += ["--keys", folder / "keys", "--folder", folder / "work"]
    line += ["--token-file", folder / "tokens"] if names else []
    log = folder / "log"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with log.open("ab") as errors, subprocess.Popen(
        list(map(str, (*line, *options))), stderr=errors, cwd=folder, env=environment
    ) as process:  # fmt: skip
        try:
            while b"serves at" not in (text := log.read_bytes()):
                assert process.poll() is None, text.decode()
            url = text.decode().split("serves at ")[1].split()[0]
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    httpx.get(f"{url}/health", verify=verify).raise_for_status()
                    break
                except httpx.TransportError:  # a refused certificate, too
                    assert process.poll() is None
                    if time.monotonic() > end:
                        raise
            yield Server(url, process, folder, tokens, log)
        finally:
            process.terminate()
            process.wait(PATIENCE)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with two tokens."""
    folder = tmp_path_factory.mktemp("serve") / "server"
    with serving(folder, "--workers", 2, "--max-megabytes", 20, names=("anna", "bert")) as found:
        yield found


@pytest.fixture(scope="session")
def start() -> Callable:
    """``start(folder, *options, names=())``: context manager of a server of one's own."""
    return serving


@pytest.fixture(scope="session")
def speech(sample: Path) -> bytes:
    """A wav file of a second of synthetic speech."""
    import io

    samples, rate = soundfile.read(sample)
    file = io.BytesIO()
    soundfile.write(file, samples[8_000:32_000], rate, format="WAV")
    return file.getvalue()


@pytest.fixture(scope="session")
def long_speech(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six minutes of synthetic speech, which take seconds to anonymize."""
    samples, rate = soundfile.read(sample)
    place = tmp_path_factory.mktemp("long") / "long.flac"
    soundfile.write(place, np.tile(samples, 65), rate)
    return place
