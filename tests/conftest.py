"""What tests share: speech from a synthesiser and the repository's folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

# Two test workers on two cores: more threads than that only get in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A key or speech of the person who runs the tests must not leak into them.
os.environ.pop("VOICENYM_KEY_FILE", None)

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def sample() -> Path:
    """A few seconds of synthetic speech, 16 kHz mono wav; never to be written to."""
    return ROOT / "samples" / "sample.wav"


@pytest.fixture(scope="session")
def speech_folder() -> Path:
    """Real speech, where the environment variable VOICENYM_SPEECH says that there is some."""
    folder = os.environ.get("VOICENYM_SPEECH")
    if not folder or not Path(folder).is_dir():
        pytest.skip("VOICENYM_SPEECH names no folder of real speech")
    return Path(folder)


@pytest.fixture(scope="session")
def say(tmp_path_factory: pytest.TempPathFactory):
    """``say(text, voice)``: the path of a wav file in which flite says the text."""
    if not shutil.which("flite"):
        pytest.skip("flite is not installed: make system")
    folder = tmp_path_factory.mktemp("speech")

    def speak(text: str, voice: str = "slt") -> Path:
        path = folder / f"{len(list(folder.iterdir()))}-{voice}.wav"
        subprocess.run(["flite", "-voice", voice, "-t", text, "-o", path], check=True)
        return path

    return speak
