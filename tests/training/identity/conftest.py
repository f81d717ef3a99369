"""Speakers who differ in F0, for what is fitted to speakers."""

import pytest
import torch

from voicenym.corpus.recording import Recording


@pytest.fixture
def buzzes(tmp_path):
    """Sixteen speakers of two seconds, from 90 to 230 Hz."""
    import soundfile

    found = []
    for speaker in range(16):
        f0 = 90.0 * 1.065**speaker
        time = torch.arange(32_000) / 16_000
        phase = 2 * torch.pi * f0 * time + 0.8 * torch.sin(9 * time)
        signal = sum(torch.cos(k * phase) / k for k in range(1, int(4000 / f0)))
        path = tmp_path / f"s{speaker}.wav"
        soundfile.write(path, (0.1 * signal).numpy(), 16_000)
        found.append(Recording(f"u{speaker}", f"s{speaker}", path))
    return found
