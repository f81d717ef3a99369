from __future__ import annotations

import numpy as np
import pytest
import soundfile


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
