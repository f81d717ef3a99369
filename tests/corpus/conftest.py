from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import soundfile

from voicenym.corpus.workers import ray_session


@pytest.fixture(scope="session", autouse=True)
def _patient_ray() -> Iterator[None]:
    """Ray is started until it starts: it gives up after 15 seconds, which says how busy the machine
    is, and nothing of the code. That a run gives up after some starts has a test of its own.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray_session, "STARTS", 40)
        yield


@pytest.fixture
def buzz(tmp_path):
    """``buzz("name.wav", seconds)``: a noisy buzz of that length."""

    def make(name: str, seconds: float = 1.0, rate: int = 16000):
        time = np.arange(round(seconds * rate)) / rate
        signal = 0.1 * np.sign(np.sin(2 * np.pi * 120 * time)) * np.sin(2 * np.pi * 2 * time)
        noise = np.random.default_rng(1).standard_normal(len(time))
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, signal + 0.01 * noise, rate)
        return path

    return make
